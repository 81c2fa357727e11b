package continuation_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestJoinOfABlockThatComesAgain: a long stretch that stood before and then goes another way may be a replay, and is left once.
// A model that begins with it again is believed, and told of with doubt: else a faithful one would never get on.
func TestJoinOfABlockThatComesAgain(t *testing.T) {
	t.Parallel()
	var steps strings.Builder
	for i := range 12 {
		fmt.Fprintf(&steps, "%d. Carry the boxes of room %d down and look whether all of them are closed.\n", i+1, i+1)
	}
	text := "# Moving\n\nTwo flats.\n\n## The old one\n\n" + steps.String() + "\nLock the door.\n\n## The new one\n\n" + steps.String() + "\nPaint the door.\n"
	second := strings.LastIndex(text, "1. Carry the boxes of room 1 ")
	for behind, requests := range map[int]int{-1: 2, 0: 2, 4: 3, 6: 3, 12: 2} {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := faultmodel.Script{faultmodel.Text(text[:second+behind])}
				for rest := text[second+behind:]; rest != ""; {
					n := min(len(rest), 20)
					script = append(script, faultmodel.Text(rest[:n]))
					rest = rest[n:]
				}
				script = append(script, faultmodel.Finish("stop"))
				run := exStream(t, faultmodel.Continuer(script, faultmodel.BreakAt(1, faultmodel.Reset())), exInput())
				require.Equal(t, text, run.message(t).Content)
				require.Len(t, run.requests, requests)
				if requests > 2 {
					require.Equal(t, callbacks.CauseRestarted, exEvents[callbacks.Failed](run.log)[0].Cause)
					require.Equal(t, callbacks.ConfidenceLow, exJoin(t, run).Confidence)
				}
			})
		})
	}
}
