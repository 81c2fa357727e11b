package encrypted

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// The run id inside would give away a seal that was moved; the seal itself must not open for another run either.
func TestTheSealIsBoundToTheRun(t *testing.T) {
	t.Parallel()
	ring, err := newKeyRing([][]byte{bytes.Repeat([]byte{1}, KeyBytes)})
	require.NoError(t, err)
	sealed := ring.seal([]byte("text"), "run")
	plain, err := ring.open(sealed, "run")
	require.NoError(t, err)
	require.Equal(t, "text", string(plain))
	_, err = ring.open(sealed, "other")
	require.ErrorIs(t, err, checkpointstore.ErrCorrupt)
}
