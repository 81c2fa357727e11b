//go:build unix

package crash

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds what a test waits for. No test takes that long unless it fails.
const patience = time.Minute

// process is a running child.
type process struct {
	cmd   *exec.Cmd
	lines chan line // closed when it has said all
	said  []line
	err   bytes.Buffer
}

// start runs a child.
func (c *child) start(t *testing.T) *process {
	t.Helper()
	described, err := json.Marshal(c)
	require.NoError(t, err)
	p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0]), lines: make(chan line, 1<<16)}
	p.cmd.Env = append(os.Environ(), childVar+"="+string(described))
	p.cmd.Stderr = &p.err
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go p.listen(out)

	return p
}

// listen ends when the child does.
func (p *process) listen(out io.Reader) {
	defer close(p.lines)
	for d := json.NewDecoder(out); ; {
		var l line
		if d.Decode(&l) != nil { // its last line may be half a line
			return
		}
		p.lines <- l
	}
}

// next returns what the child says next; false if it has said all.
func (p *process) next(t *testing.T) (line, bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case l, ok := <-p.lines:
		if ok {
			p.said = append(p.said, l)
		}

		return l, ok
	case <-limit.C:
		_ = p.cmd.Process.Kill()
		require.FailNow(t, "the child is silent", "%s", &p.err)

		return line{}, false
	}
}

// until reads on to the first line that is wanted, and reports whether there is one.
func (p *process) until(t *testing.T, want func(line) bool) bool {
	t.Helper()
	for {
		l, ok := p.next(t)
		if !ok {
			return false
		}
		if want(l) {
			return true
		}
	}
}

func is(kind string) func(line) bool { return func(l line) bool { return l.Kind == kind } }

// kill kills the child and reads what it had said.
func (p *process) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
	p.wait(t)
}

// wait waits for the child's end.
func (p *process) wait(t *testing.T) {
	t.Helper()
	for p.until(t, func(line) bool { return false }) {
	}
	_ = p.cmd.Wait() // killed, mostly
}

// linger gives the child a little more time, without waiting for it to say something.
func (p *process) linger(d time.Duration) {
	limit := time.NewTimer(d)
	defer limit.Stop()
	<-limit.C
}
