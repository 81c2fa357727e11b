package continuation_test

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/encrypted"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestForgedCheckpoint: a checkpoint that somebody changed and stored again, with every sum right, is believed by a plain
// store: whoever may write there speaks for the model. Sealed, it is none, and the answer starts over.
func TestForgedCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plain, _ := ckDie(t, ckAnswers()["text"], 2)
		c, err := plain.Get(t.Context(), "run-7")
		require.NoError(t, err)
		require.Equal(t, "Water boils at ", c.Text)
		below := memstore.New()
		sealed, err := encrypted.New(below, bytes.Repeat([]byte{7}, encrypted.KeyBytes))
		require.NoError(t, err)
		require.NoError(t, sealed.Put(t.Context(), c))
		forged := c
		forged.Text = "Water freezes at "

		require.NoError(t, plain.Put(t.Context(), forged))
		r := ctStream(ckContext(t), continuation.Wrap(fm.New(fm.Script{fm.Text("0 degrees."), fm.Finish("stop")}), ctNow(), continuation.WithCheckpoints(plain)))
		require.NoError(t, r.err)
		assert.Equal(t, "Water freezes at 0 degrees.", r.text())

		half, err := below.Get(t.Context(), "run-7")
		require.NoError(t, err)
		half.Text = "Water freezes at "
		for name, put := range map[string]checkpointstore.Checkpoint{"not sealed": forged, "of another seal": resealed(t, forged), "beside the seal": half} {
			require.NoError(t, below.Delete(t.Context(), "run-7"))
			require.NoError(t, below.Put(t.Context(), put))
			events := &ctEvents{}
			m := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), ctNow(), continuation.WithCheckpoints(sealed), continuation.WithHandler(events))
			r := ctStream(ckContext(t), m)
			require.NoError(t, r.err, name)
			assert.Equal(t, "Water boils at 100 degrees Celsius.", r.text(), name)
			if name != "beside the seal" { // what stands there is not looked at
				assert.Len(t, ctOf[callbacks.CheckpointFailed](events), 1, name)
			}
		}
	})
}

// resealed is what a forger with a key of his own makes of c.
func resealed(t *testing.T, c checkpointstore.Checkpoint) checkpointstore.Checkpoint {
	t.Helper()
	below := memstore.New()
	s, err := encrypted.New(below, bytes.Repeat([]byte{8}, encrypted.KeyBytes))
	require.NoError(t, err)
	require.NoError(t, s.Put(t.Context(), c))
	got, err := below.Get(t.Context(), c.RunID)
	require.NoError(t, err)

	return got
}
