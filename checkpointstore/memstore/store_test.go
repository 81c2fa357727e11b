package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cs "github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	s := memstore.New()
	require.NoError(t, s.Put(t.Context(), cs.Checkpoint{RunID: "r", Owner: "a", Epoch: 1, Seq: 3}))
	require.NoError(t, s.Put(t.Context(), cs.Checkpoint{RunID: "r", Owner: "b", Epoch: 2}))
	require.ErrorIs(t, s.Put(t.Context(), cs.Checkpoint{RunID: "r", Owner: "c", Epoch: 2}), cs.ErrStale)
	require.ErrorIs(t, s.DeleteIf(t.Context(), cs.Checkpoint{RunID: "r", Owner: "a", Epoch: 1, Seq: 3}), cs.ErrStale)
	c, err := s.Get(t.Context(), "r")
	require.NoError(t, err)
	assert.Equal(t, "b", c.Owner)
}
