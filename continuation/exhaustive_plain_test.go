package continuation_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// Nothing breaks, nothing changes.
func TestExhaustiveUnbroken(t *testing.T) {
	t.Parallel()
	exEachSetting(t, func(t *testing.T, c exCell) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			bare := c.bare(t)
			run := exStream(t, c.model(), exInput())

			require.Equal(t, exIndexed(faultmodel.Concat(t, bare)), run.message(t))
			require.Len(t, run.requests, 1)
			require.Equal(t, exInput(), run.requests[0].Messages)
			require.Zero(t, run.took)
			for _, e := range run.log.events() {
				require.IsType(t, callbacks.ToolCallProgress{}, e)
			}
			require.Equal(t, exPieceList(bare, exThoughtOf), exPieceList(run.chunks, exThoughtOf))
			if c.script.name == "runes cut in pieces" {
				return // there a chunk waits for the rest of its last rune, since a break must not leave half of it
			}
			require.Equal(t, exPieceList(bare, exTextOf), exPieceList(run.chunks, exTextOf))
			if !slices.ContainsFunc(bare, func(m *schema.Message) bool { return len(m.ToolCalls) > 0 }) {
				require.Equal(t, bare, run.chunks)
			}
		})
	})
}

func exTextOf(m *schema.Message) string    { return m.Content }
func exThoughtOf(m *schema.Message) string { return m.ReasoningContent }

// exPieceList returns the pieces in which a text came.
func exPieceList(chunks []*schema.Message, of func(*schema.Message) string) []string {
	var pieces []string
	for _, m := range chunks {
		if s := of(m); s != "" {
			pieces = append(pieces, s)
		}
	}

	return pieces
}
