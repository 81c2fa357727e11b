package encrypted_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/encrypted"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
)

// grow keeps an answer in four pieces, and returns what each step has come to.
func grow(t *testing.T, s checkpointstore.Store, runID string) []checkpointstore.Checkpoint {
	t.Helper()
	c := secret()
	c.RunID, c.Done = runID, false
	require.NoError(t, s.Put(t.Context(), c))
	all := []checkpointstore.Checkpoint{c}
	a, ok := s.(checkpointstore.Appender)
	require.True(t, ok)
	for i := range 3 {
		next := c
		next.Seq, next.UpdatedAt, next.Text = c.Seq+1, c.UpdatedAt.Add(time.Second), fmt.Sprint(c.Text, " SECRET ", i)
		next.Extra, next.Done = map[string]any{"SECRET": fmt.Sprint("SECRET", i)}, i == 2
		d, ok := checkpointstore.Diff(c, next)
		require.True(t, ok)
		require.NoError(t, a.Append(t.Context(), d))
		all, c = append(all, next), next
	}

	return all
}

func TestWhatIsAddedIsSealedToo(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	s := seal(t, inner, key(1))
	all := grow(t, s, "run")
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	want, _ := checkpointstore.Normalize(all[3])
	assert.Equal(t, want, got)
	below, err := inner.Get(t.Context(), "run")
	require.NoError(t, err)
	data, err := checkpointstore.Encode(below)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "SECRET")
	for name, v := range below.Extra {
		sealed, ok := v.([]byte)
		require.True(t, ok)
		assert.NotContains(t, string(sealed), "SECRET", name)
	}
	assert.Len(t, below.Extra, 4)
	assert.True(t, below.Done)
	assert.Equal(t, want.Fence(), below.Fence())

	_, err = seal(t, inner, key(2), key(1)).Get(t.Context(), "run")
	require.NoError(t, err)
	_, err = seal(t, inner, key(2)).Get(t.Context(), "run")
	require.ErrorIs(t, err, encrypted.ErrUnknownKey)
}

// TestPiecesThatWereChanged: what was added is bound to what is before it, and to its run.
func TestPiecesThatWereChanged(t *testing.T) {
	t.Parallel()
	piece := func(c *checkpointstore.Checkpoint, i int) (string, []byte) {
		name := slices.Sorted(maps.Keys(c.Extra))[i]
		data, _ := c.Extra[name].([]byte)

		return name, data
	}
	for name, how := range map[string]func(c *checkpointstore.Checkpoint, other checkpointstore.Checkpoint){
		"the last is missing": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) {
			last, _ := piece(c, 3)
			delete(c.Extra, last)
		},
		"one is missing": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) {
			second, _ := piece(c, 2)
			delete(c.Extra, second)
		},
		"the checkpoint is missing": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) { delete(c.Extra, "sealed") },
		"two are exchanged": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) {
			a, first := piece(c, 1)
			b, second := piece(c, 2)
			c.Extra[a], c.Extra[b] = second, first
		},
		"one is there twice": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) {
			_, last := piece(c, 3)
			c.Extra["sealed/99999999999999999999"] = last
		},
		"one of another run": func(c *checkpointstore.Checkpoint, other checkpointstore.Checkpoint) {
			name, _ := piece(c, 2)
			c.Extra[name] = other.Extra[name]
		},
		"one was changed": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) {
			name, data := piece(c, 2)
			data = bytes.Clone(data)
			data[len(data)-1] ^= 1
			c.Extra[name] = data
		},
		"one is a text": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) { c.Extra["sealed/1"] = "planted" },
		"something beside it": func(c *checkpointstore.Checkpoint, _ checkpointstore.Checkpoint) {
			c.Extra["sealedx"] = []byte("planted")
		},
	} {
		inner := memstore.New()
		s := seal(t, inner, key(1))
		grow(t, s, "other")
		grow(t, s, "run")
		c, err := inner.Get(t.Context(), "run")
		require.NoError(t, err)
		other, err := inner.Get(t.Context(), "other")
		require.NoError(t, err)
		how(&c, other)
		require.NoError(t, inner.Delete(t.Context(), "run"))
		require.NoError(t, inner.Put(t.Context(), c))
		got, err := s.Get(t.Context(), "run")
		require.ErrorIs(t, err, checkpointstore.ErrCorrupt, name)
		assert.Empty(t, got.Text, name)
		assert.Equal(t, c.Fence(), got.Fence(), "what a claim needs")
	}
}
