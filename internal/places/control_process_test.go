package places_test

import (
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// halfOf says, in a process started by [TestControlInAnotherProcess], which half it is to play, then the folder.
const halfOf = "CARRYON_PLACES_HALF"

// crossing are the cells that are played in two processes: those that are resumed, and differ in what the checkpoint holds.
func crossing() map[string]func(*testing.T, desk) half {
	signals := []string{
		"immediate", "immediate, recursive", "after the model, but not for long, recursive", "after the tools, recursive",
		"interrupt", "interrupt at once",
	}
	all := map[string]func(*testing.T, desk) half{}
	both := cells()
	maps.Copy(both, graphCells())
	for name, cell := range both {
		part := strings.Split(name, "/") // type of messages, place, nest or way, signal, moment
		if slices.Contains(signals, part[3]) && part[1] != "both" && part[2] != "a step of a workflow" {
			all[name] = func(t *testing.T, d desk) half {
				t.Helper()

				return cell(t, d)
			}
		}
	}

	return all
}

// TestControlInAnotherProcess: what is interrupted in one process is resumed in another one.
func TestControlInAnotherProcess(t *testing.T) {
	t.Parallel()
	which, folder, child := strings.Cut(os.Getenv(halfOf), "|")
	if child {
		for name, cell := range crossing() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := desk(filepath.Join(folder, url.PathEscape(name)))
				if which == "first" {
					require.NoError(t, os.Mkdir(string(d), 0o700))
					for _, run := range interrupt(t, func(t *testing.T) half { t.Helper(); return cell(t, d) }) {
						d.note(t, "runs", run)
					}

					return
				}
				var before []string
				if _, err := os.Stat(d.file("runs")); err == nil {
					before = d.lines(t, "runs")
				}
				cell(t, d).resume(t, before...)
				d.note(t, "resumed", "yes")
			})
		}

		return
	}
	folder = t.TempDir()
	for _, which := range []string{"first", "second"} {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestControlInAnotherProcess$", "-test.count=1")
		c.Env = append(os.Environ(), halfOf+"="+which+"|"+folder)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for name := range crossing() {
		assert.FileExists(t, filepath.Join(folder, url.PathEscape(name), "resumed"))
	}
}
