// Package testserver starts real servers for the tests of the stores: on 127.0.0.1, at a free port, in a temporary
// directory, and stops them again, also when the test dies.
package testserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// ErrMissing means that the server's program is not installed.
var ErrMissing = errors.New("testserver: the program is not installed")

// startTime bounds the start of a server, on a machine that is busy with other tests.
const startTime = time.Minute

// attempts at a port: another process may take it between our looking and the server's opening.
const attempts = 3

// Server is a running server. It is safe for concurrent use.
type Server struct {
	Addr string // host:port
	Dir  string // its data; removed by Stop

	stdin  io.Closer
	exited chan struct{}
	output *output
	stop   sync.Once
}

// guard is the shell that runs a server: it ends it, by the signal and the number of its process, when its own input
// closes. So a server outlives neither Stop nor a test that is killed.
const guard = `exec 3<&0; signal=$1; shift
"$@" </dev/null 3<&- & server=$!
{ while read -r _; do :; done; kill -s "$signal" "$server"; } <&3 3<&- >/dev/null 2>&1 &
exec 3<&- </dev/null
wait "$server"`

// launch starts a server; args makes its command line for a port, ready says whether it answers.
func launch(dir string, signal string, prepare func(*exec.Cmd), args func(port string) []string, ready func(ctx context.Context, addr string) error) (*Server, error) {
	var failures error
	for range attempts {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), Dir: dir, exited: make(chan struct{}), output: &output{}}
		err = s.start(signal, prepare, args(port), ready)
		if err == nil {
			return s, nil
		}
		failures = errors.Join(failures, err)
	}

	return nil, errors.Join(failures, os.RemoveAll(dir))
}

func (s *Server) start(signal string, prepare func(*exec.Cmd), args []string, ready func(context.Context, string) error) error {
	cmd := exec.Command("sh", append([]string{"-c", guard, "sh", signal}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, s.output, s.output
	if prepare != nil {
		prepare(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	s.stdin = stdin
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { // ends with the process, which Stop ends
		_ = cmd.Wait() // its end is what counts; what it had to say is in output
		close(s.exited)
	}()

	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ready(ctx, s.Addr)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
			continue
		case <-s.exited:
			err = fmt.Errorf("%s ended: %s", args[0], s.output)
		case <-ctx.Done():
			err = fmt.Errorf("%s does not answer: %w: %s", args[0], err, s.output)
		}
		s.end()

		return err
	}
}

func (s *Server) end() {
	s.stdin.Close() //nolint:errcheck // the guard may be gone already
	<-s.exited
}

// Stop ends the server, waits for its end and removes its data. Only the first call does something.
func (s *Server) Stop() error {
	var err error
	s.stop.Do(func() {
		s.end()
		err = os.RemoveAll(s.Dir)
	})

	return err
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())

	return port, errors.Join(err, l.Close())
}

// output keeps the last of what a server says.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.buf.Len() > 1<<20 {
		o.buf.Reset()
	}

	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()

	return strings.TrimSpace(o.buf.String())
}
