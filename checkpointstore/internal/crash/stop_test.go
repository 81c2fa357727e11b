//go:build unix

package crash

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// TestStopped: a process that is stopped, whose run another one takes over, and that goes on then, changes nothing any more:
// its writes are refused, its consumer is told so, and the successor's answer stands.
func TestStopped(t *testing.T) {
	t.Parallel()
	moments := []struct {
		name string
		kind string
		skip int
	}{
		{"at its first chunk", saidChunk, 0},
		{"behind its first write", saidPutEnd, 0},
		{"behind a later write", saidPutEnd, 1},
		{"before a tool", saidTool, 0},
		{"behind a tool", saidToolEnd, 0},
		{"in its second answer", saidChunk, 35},
	}
	each(t, func(t *testing.T, at place, s checkpointstore.Store) {
		t.Helper()
		for i, m := range moments {
			w := newWorld(t, at, s, fmt.Sprint("stopped-", i))
			stops := w.child
			stops.StopAt, stops.Skip = m.kind, m.skip
			zombie := stops.start(t)
			zombie.awaitStop(t)

			heir := w.child // with a journal as it was at the beginning
			heir.Journal = filepath.Join(t.TempDir(), "journal")
			heir.StopAt, heir.Since = saidPutEnd, 2 // in its answer: once it is through, nothing would tell the zombie of it
			successor := heir.start(t)
			successor.awaitStop(t)
			require.NoError(t, zombie.cmd.Process.Signal(syscall.SIGCONT))
			zombie.wait(t)
			require.NoError(t, successor.cmd.Process.Signal(syscall.SIGCONT))
			successor.wait(t)

			failed := ""
			for _, l := range zombie.said {
				if l.Kind == saidFailed {
					failed = l.Err
				}
			}
			assert.Contains(t, failed, fmt.Sprintf(`continuation: run "%s/`, w.RunID), m.name)
			assert.Contains(t, failed, "was taken over by another call", m.name)
			for n, text := range zombie.shown() {
				assert.True(t, strings.HasPrefix(answers()[n], text), m.name)
			}
			for _, l := range successor.said {
				assert.NotEqual(t, saidFailed, l.Kind, "%s: %s", m.name, l.Err)
			}
			require.NotEmpty(t, successor.said)
			assert.Equal(t, longAnswer(), successor.said[len(successor.said)-1].Text, m.name)
			w.key = keyOf(successor)
			assert.Empty(t, w.left(t).RunID, "%s: nothing stays in the store", m.name)
		}
	})
}

// awaitStop waits until the child has stopped.
func (p *process) awaitStop(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped(), "it ended before it stopped: %s", &p.err)
}

// keyOf returns the key of a process's checkpoint.
func keyOf(p *process) string {
	for _, l := range p.said {
		if l.Kind == saidGot {
			return l.Key
		}
	}

	return ""
}
