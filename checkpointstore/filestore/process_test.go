package filestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
)

// A test binary that finds this in its environment is a child: it does what the variable says and prints a line each.
const childVar = "CARRYON_FILESTORE_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVar); job != "" {
		if err := child(context.Background(), job, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(ctx context.Context, job, dir, owner string) error {
	s, err := filestore.New(dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		switch job {
		case "claim":
			err := s.Put(ctx, checkpointstore.Checkpoint{RunID: in.Text(), Epoch: 2, Owner: owner})
			fmt.Fprintln(os.Stdout, outcome(err))
		default: // until killed
			for seq := uint64(1); ; seq++ {
				if err := write(ctx, s, job, owner, seq); err != nil {
					fmt.Fprintln(os.Stdout, outcome(err))

					return nil
				}
				fmt.Fprintln(os.Stdout, seq)
			}
		}
	}

	return in.Err()
}

// write puts a checkpoint or, if the job is to append, what it adds to the one before, seven times out of eight.
func write(ctx context.Context, s *filestore.Store, job, owner string, seq uint64) error {
	if job == "append" && seq%8 != 1 {
		return s.Append(ctx, checkpointstore.Delta{RunID: "run", Epoch: 1, After: seq - 1, Seq: seq, Owner: owner, Text: piece(seq)})
	}

	return s.Put(ctx, checkpointstore.Checkpoint{RunID: "run", Epoch: 1, Seq: seq, Owner: owner, Text: written(job, seq)})
}

func piece(seq uint64) string { return strings.Repeat(strconv.FormatUint(seq, 10)+" ", 20_000) }

// written is the text that a child has written at a sequence.
func written(job string, seq uint64) string {
	if job != "append" {
		return piece(seq)
	}
	var text strings.Builder
	for i := range seq {
		text.WriteString(piece(i + 1))
	}

	return text.String()
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "won"
	case errors.Is(err, checkpointstore.ErrStale):
		return "stale"
	default:
		return err.Error()
	}
}

type process struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t *testing.T, job, dir, owner string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], dir, owner)
	cmd.Env = append(os.Environ(), childVar+"="+job)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // killed, mostly
	})
	require.Equal(t, "ready", p.line())

	return p
}

func (p *process) say(line string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, line+"\n")
	require.NoError(p.t, err)
}

func (p *process) line() string {
	p.t.Helper()
	require.True(p.t, p.out.Scan(), "the process ended: %v", p.out.Err())

	return p.out.Text()
}

func TestOfManyProcessesOneClaims(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	var children []*process
	for i := range 6 {
		children = append(children, start(t, "claim", dir, fmt.Sprint(i)))
	}
	for round := range 20 {
		runID := fmt.Sprint("run-", round)
		require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: runID, Epoch: 1, Owner: "dead"}))
		for _, p := range children {
			p.say(runID)
		}
		var winners []string
		for i, p := range children {
			if line := p.line(); line == "won" {
				winners = append(winners, fmt.Sprint(i))
			} else {
				require.Equal(t, "stale", line)
			}
		}
		require.Len(t, winners, 1)
		c, err := s.Get(t.Context(), runID)
		require.NoError(t, err)
		require.Equal(t, winners[0], c.Owner)
	}
}

// A writer that is killed at any moment leaves the last checkpoint that it was told was stored, or a later one, whole;
// and no lock.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	for round := range 24 {
		job := []string{"write", "append"}[round%2]
		dir := t.TempDir()
		s := open(t, dir)
		p := start(t, job, dir, "a")
		p.say("go")
		acknowledged := ""
		for range round/2 + 1 {
			acknowledged = p.line()
		}
		require.NoError(t, p.cmd.Process.Kill())
		for p.out.Scan() { // what it had said before it died
			acknowledged = p.out.Text()
		}
		stored, err := strconv.ParseUint(acknowledged, 10, 64)
		require.NoError(t, err)

		c, err := s.Get(t.Context(), "run")
		require.NoError(t, err)
		assert.GreaterOrEqual(t, c.Seq, stored)
		assert.True(t, written(job, c.Seq) == c.Text, job)
		open(t, dir)
		assert.Len(t, files(t, dir), 1)
		require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Epoch: 2, Owner: "b"}))
	}
}

// A writer that lives but was taken over is told so at its next Put, in whichever process.
func TestTakenOverFromAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, job := range []string{"write", "append"} {
		dir := t.TempDir()
		s := open(t, dir)
		p := start(t, job, dir, "a")
		p.say("go")
		p.line()
		p.line()
		require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Epoch: 2, Owner: "b"}))
		last := ""
		for p.out.Scan() {
			last = p.out.Text()
		}
		assert.Equal(t, "stale", last, job)
		c, err := s.Get(t.Context(), "run")
		require.NoError(t, err)
		assert.Equal(t, "b", c.Owner, job)
	}
}
