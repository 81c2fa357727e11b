//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

const (
	question = "How large is the flat?"

	first = "Before anything is packed it should be known how much there is room for, so the kitchen is measured first: it " +
		"decides which of the cupboards can come along, and it is the room in which most of the boxes will stand. "
	second = "The kitchen is known. The hall comes next, because everything that goes into the other rooms passes through it, " +
		"and what does not fit through it stays where it is. "
	third = "The kitchen has twelve square metres and the hall as many, which makes twenty-four in all. That is enough for the " +
		"cupboards of the old flat, but not for the long table, which can neither be turned in the hall nor lifted over the " +
		"banister. It should be sold, or taken apart; its legs are screwed on. Everything else fits: the shelves along the " +
		"left wall of the hall, the boxes in the kitchen until they are unpacked, and the bicycle behind the door."
)

// script is one run of the agent: two tools, three answers. The second answer is one that a client sees as whole
// only by its tool call, the third only by its finish reason.
func script() faultllm.Script {
	return faultllm.Script{
		{Says: "How large", Answer: faultllm.Answer{Name: "first", Parts: []faultllm.Part{
			faultllm.Say(first), faultllm.Call("call_1", "measure", `{"room": "kitchen"}`),
		}}},
		{Says: "kitchen:", Answer: faultllm.Answer{Name: "second", Parts: []faultllm.Part{
			faultllm.Say(second), faultllm.Call("call_2", "measure", `{"room": "hall"}`),
		}}},
		{Says: "hall:", Answer: faultllm.Answer{Name: "third", Parts: []faultllm.Part{faultllm.Say(longAnswer())}}},
	}
}

// answers are the texts of the script, in order.
func answers() []string { return []string{first, second, longAnswer()} }

// longAnswer is the third answer. It is long enough for a store to be given only what is new of it.
func longAnswer() string {
	var b strings.Builder
	b.WriteString(third + "\n")
	for i := range 60 {
		fmt.Fprintf(&b, "\n%d. Box %d goes to wall %c of the kitchen, %d cm from the door.", i+1, 7*i+3, 'A'+i%4, 37*i%211)
	}

	return b.String()
}

// world is a run of the agent through all its lives: the provider and the store outlive them.
type world struct {
	child
	provider *faultllm.Server
	store    checkpointstore.Store
	key      string // of the checkpoint, once a life has told it
}

func newWorld(t *testing.T, at place, s checkpointstore.Store, runID string) *world {
	t.Helper()
	provider, err := faultllm.Start(faultllm.Config{Script: script(), PieceSize: 24, Pace: time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, provider.Close()) })

	return &world{
		child: child{
			Place: at, Provider: provider.URL(), RunID: runID, Journal: filepath.Join(t.TempDir(), "journal"),
			Every: 15 * time.Millisecond, Bytes: 256,
		},
		provider: provider, store: s,
	}
}

// turn returns which answer the next life begins with: the journal holds a question, or two more messages for each turn
// that is over. It is 3 if the last one is written down.
func (w *world) turn(t *testing.T) int {
	t.Helper()
	messages, err := w.journalled()
	require.NoError(t, err)

	return len(messages) / 2
}

// left returns the checkpoint; the zero one if there is none.
func (w *world) left(t *testing.T) checkpointstore.Checkpoint {
	t.Helper()
	if w.key == "" {
		return checkpointstore.Checkpoint{}
	}
	c, err := w.store.Get(t.Context(), w.key)
	if !errors.Is(err, checkpointstore.ErrNotFound) {
		require.NoError(t, err)
	}

	return c
}

// requests returns what the provider was asked, when it has noticed that its client is dead.
func (w *world) requests(t *testing.T) []faultllm.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, w.provider.WaitIdle(ctx))

	return w.provider.Ledger().Records
}

// effects returns the ids under which the tool has had its effect.
func (w *world) effects(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(w.Journal + ".call*")
	require.NoError(t, err)
	for i, p := range paths {
		paths[i] = strings.TrimPrefix(filepath.Ext(p), ".")
	}

	return paths
}

// needed returns the tokens of a run in which nothing is written twice.
func needed() int {
	n := 0
	for _, turn := range script() {
		n += faultllm.Needed(turn.Answer)
	}

	return n
}
