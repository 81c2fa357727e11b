package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestJoinOfARefrain: what begins with the words that the answer begins with, and then goes another way, is left as a restart:
// the two cannot be told apart. But the next prompt says how a refrain can show that it is one, and then it is joined to the
// byte. A model that shows nothing is never believed.
func TestJoinOfARefrain(t *testing.T) {
	t.Parallel()
	const (
		verse   = "The tide comes in, the tide goes out,\nand nobody knows why.\n\nThe fisher sings, the children shout,\nthe gulls are in the sky.\n\n"
		refrain = "The tide comes in, the boats go out,\nand nobody asks why.\n"
		words   = "the gulls are in the sky."
	)
	before := faultmodel.Script{faultmodel.Text(verse), faultmodel.Reset()}
	bare := faultmodel.Script{faultmodel.Text(refrain), faultmodel.Finish("stop")}
	for name, shown := range map[string]faultmodel.Script{
		"behind the words":                  {faultmodel.Text(words + "\n\n" + refrain), faultmodel.Finish("stop")},
		"behind the words and a line break": {faultmodel.Text(words), faultmodel.Text("\n" + refrain), faultmodel.Finish("stop")},
		"behind white space":                {faultmodel.Text("\n\n"), faultmodel.Text(refrain), faultmodel.Finish("stop")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				run := exStream(t, faultmodel.New(before, bare, shown), exInput())
				require.Equal(t, verse+refrain, run.message(t).Content)
				prompts := make([]string, 0, 3)
				for _, r := range run.requests {
					prompts = append(prompts, r.Messages[len(r.Messages)-1].Content)
				}
				require.NotContains(t, prompts[1], words)
				require.Contains(t, prompts[2], "so that the place is known: "+words)
				require.Equal(t, callbacks.CauseRestarted, exEvents[callbacks.Failed](run.log)[0].Cause)
				require.Equal(t, name == "behind white space", exJoin(t, run).Confidence == callbacks.ConfidenceLow)
			})
		})
	}
	t.Run("never shown", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			run := exStream(t, faultmodel.New(before, bare, bare, bare, bare, bare), exInput())
			require.ErrorContains(t, run.err, "max_continuations")
			text := ""
			for _, m := range run.chunks {
				text += m.Content
			}
			require.Equal(t, verse, text)
		})
	})
}
