package encrypted_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/encrypted"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

func key(b byte) []byte { return bytes.Repeat([]byte{b}, encrypted.KeyBytes) }

func seal(tb testing.TB, inner checkpointstore.Store, keys ...[]byte) checkpointstore.Store {
	tb.Helper()
	s, err := encrypted.New(inner, keys...)
	require.NoError(tb, err)

	return s
}

func TestContract(t *testing.T) {
	t.Parallel()
	var dirs sync.Map
	storetest.Run(t, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()
		dir := tb.TempDir()
		inner, err := filestore.New(dir)
		require.NoError(tb, err)
		s := seal(tb, inner, key(1))
		dirs.Store(s, dir)

		return s
	}, storetest.WithPlant(func(tb testing.TB, s checkpointstore.Store, _ string, data []byte) {
		tb.Helper()
		v, _ := dirs.Load(s)
		dir, ok := v.(string)
		require.True(tb, ok)
		names, err := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
		require.NoError(tb, err)
		require.Len(tb, names, 1)
		require.NoError(tb, os.WriteFile(names[0], data, 0o600))
	}))
}

// TestContractOverMemory: each verb as its store below has it, adding among them.
func TestContractOverMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()

		return seal(tb, memstore.New(), key(1))
	})
}

func secret() checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{
		RunID: "run", Owner: "a", Epoch: 2, Seq: 3, Done: true, UpdatedAt: time.Unix(1, 2).UTC(),
		Fingerprint: "SECRET", Provider: "SECRET", Model: "SECRET", Text: "SECRET", Reasoning: "SECRET", FinishReason: "SECRET",
		ToolCalls: []checkpointstore.ToolCall{{ID: "SECRET"}}, OpenToolCall: &checkpointstore.ToolCall{Name: "SECRET"},
		Dropped: []string{"SECRET"}, Extra: map[string]any{"SECRET": "SECRET"}, Interruptions: 5, Takeovers: 6, Usage: checkpointstore.Usage{Known: true, Total: 7},
	}
}

func TestTheStoreBelowSeesTheFenceAlone(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	require.NoError(t, seal(t, inner, key(1)).Put(t.Context(), secret()))
	c, err := inner.Get(t.Context(), "run")
	require.NoError(t, err)
	data, err := checkpointstore.Encode(c)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "SECRET")
	sealed, ok := c.Extra["sealed"].([]byte)
	require.True(t, ok)
	assert.NotContains(t, string(sealed), "SECRET")
	c.Extra = nil
	assert.Equal(t, checkpointstore.Checkpoint{
		Version: checkpointstore.Version, RunID: "run", Owner: "a", Epoch: 2, Seq: 3, Done: true, UpdatedAt: time.Unix(1, 2).UTC(),
	}, c)
}

func TestEachSealIsAnother(t *testing.T) {
	t.Parallel()
	a, b := memstore.New(), memstore.New()
	require.NoError(t, seal(t, a, key(1)).Put(t.Context(), secret()))
	require.NoError(t, seal(t, b, key(1)).Put(t.Context(), secret()))
	first, err := a.Get(t.Context(), "run")
	require.NoError(t, err)
	second, err := b.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.NotEqual(t, first.Extra, second.Extra)
}

func TestKeyRotation(t *testing.T) {
	t.Parallel()
	inner := memstore.New()
	c := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Text: "text"}
	require.NoError(t, seal(t, inner, key(1)).Put(t.Context(), c))
	rotated := seal(t, inner, key(2), key(1))
	got, err := rotated.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, "text", got.Text)

	got, err = seal(t, inner, key(2)).Get(t.Context(), "run")
	require.ErrorIs(t, err, encrypted.ErrUnknownKey)
	require.NotErrorIs(t, err, checkpointstore.ErrCorrupt)
	assert.Equal(t, checkpointstore.Checkpoint{Version: checkpointstore.Version, RunID: "run", Owner: "a", Epoch: 1}, got, "what a claim needs")

	c.Seq++
	require.NoError(t, rotated.Put(t.Context(), c))
	_, err = seal(t, inner, key(2)).Get(t.Context(), "run")
	require.NoError(t, err, "the first key writes")
	_, err = seal(t, inner, key(1)).Get(t.Context(), "run")
	require.ErrorIs(t, err, encrypted.ErrUnknownKey)
}

// change puts a checkpoint, changes what is stored of it, and returns what Get then says.
func change(t *testing.T, how func(*checkpointstore.Checkpoint)) error {
	t.Helper()
	inner := memstore.New()
	s := seal(t, inner, key(1))
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Text: "text"}))
	c, err := inner.Get(t.Context(), "run")
	require.NoError(t, err)
	require.NoError(t, inner.Delete(t.Context(), "run"))
	how(&c)
	require.NoError(t, inner.Put(t.Context(), c))
	_, err = s.Get(t.Context(), c.RunID)

	return err
}

func TestWhatWasChangedIsNoticed(t *testing.T) {
	t.Parallel()
	require.NoError(t, change(t, func(*checkpointstore.Checkpoint) {}))
	for name, how := range map[string]func(*checkpointstore.Checkpoint){
		"moved to another run": func(c *checkpointstore.Checkpoint) { c.RunID = "other" },
		"epoch":                func(c *checkpointstore.Checkpoint) { c.Epoch++ },
		"sequence":             func(c *checkpointstore.Checkpoint) { c.Seq++ },
		"owner":                func(c *checkpointstore.Checkpoint) { c.Owner = "b" },
		"done":                 func(c *checkpointstore.Checkpoint) { c.Done = true },
		"time":                 func(c *checkpointstore.Checkpoint) { c.UpdatedAt = time.Unix(1, 0) },
		"not sealed":           func(c *checkpointstore.Checkpoint) { c.Extra = nil; c.Text = "planted" },
		"sealed as a text":     func(c *checkpointstore.Checkpoint) { c.Extra["sealed"] = "text" },
		"empty":                func(c *checkpointstore.Checkpoint) { c.Extra["sealed"] = []byte{} },
		"only a head":          func(c *checkpointstore.Checkpoint) { c.Extra["sealed"] = sealedOf(c)[:9] },
	} {
		require.ErrorIs(t, change(t, how), checkpointstore.ErrCorrupt, name)
	}
	length := 0
	require.NoError(t, change(t, func(c *checkpointstore.Checkpoint) { length = len(sealedOf(c)) }))
	for i := range length {
		flipped := change(t, func(c *checkpointstore.Checkpoint) { sealedOf(c)[i] ^= 1 })
		cut := change(t, func(c *checkpointstore.Checkpoint) { c.Extra["sealed"] = sealedOf(c)[:i] })
		require.ErrorIs(t, cut, checkpointstore.ErrCorrupt, "cut at %d", i)
		if i >= 1 && i < 9 { // the number of the key
			require.ErrorIs(t, flipped, encrypted.ErrUnknownKey, "byte %d", i)
		} else {
			require.ErrorIs(t, flipped, checkpointstore.ErrCorrupt, "byte %d", i)
		}
	}
}

func sealedOf(c *checkpointstore.Checkpoint) []byte {
	sealed, _ := c.Extra["sealed"].([]byte)

	return sealed
}

type threeVerbs struct{ checkpointstore.Store }

// spy keeps what DeleteIf was given.
type spy struct{ given checkpointstore.Checkpoint }

func (s *spy) DeleteIf(_ context.Context, c checkpointstore.Checkpoint) error {
	s.given = c

	return nil
}

func TestItCanWhatTheStoreBelowCan(t *testing.T) {
	t.Parallel()
	m := memstore.New()
	for _, inner := range []checkpointstore.Store{
		threeVerbs{m},
		struct {
			checkpointstore.Store
			checkpointstore.ConditionalDeleter
		}{m, m},
		struct {
			checkpointstore.Store
			checkpointstore.Appender
		}{m, m},
		struct {
			checkpointstore.Store
			checkpointstore.Cleaner
		}{m, m},
		struct {
			checkpointstore.Store
			checkpointstore.ConditionalDeleter
			checkpointstore.Appender
		}{m, m, m},
		struct {
			checkpointstore.Store
			checkpointstore.ConditionalDeleter
			checkpointstore.Cleaner
		}{m, m, m},
		struct {
			checkpointstore.Store
			checkpointstore.Appender
			checkpointstore.Cleaner
		}{m, m, m},
		m,
	} {
		assert.Equal(t, abilities(inner), abilities(seal(t, inner, key(1))), "%T", inner)
	}
	below := &spy{}
	d, ok := seal(t, struct {
		checkpointstore.Store
		checkpointstore.ConditionalDeleter
	}{m, below}, key(1)).(checkpointstore.ConditionalDeleter)
	require.True(t, ok)
	require.NoError(t, d.DeleteIf(t.Context(), secret()))
	assert.Equal(t, checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 2, Seq: 3, Done: true, UpdatedAt: secret().UpdatedAt}, below.given, "nothing secret goes down with a delete")
}

func abilities(s checkpointstore.Store) [3]bool {
	_, deletes := s.(checkpointstore.ConditionalDeleter)
	_, appends := s.(checkpointstore.Appender)
	_, cleans := s.(checkpointstore.Cleaner)

	return [3]bool{deletes, appends, cleans}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][][]byte{"none": nil, "short": {make([]byte, 31)}, "long": {make([]byte, 33)}, "second": {key(1), nil}} {
		_, err := encrypted.New(memstore.New(), keys...)
		require.Error(t, err, name)
	}
	_, err := encrypted.New(nil, key(1))
	require.Error(t, err)
}

func BenchmarkStore(b *testing.B) {
	storetest.Benchmark(b, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()

		return seal(tb, memstore.New(), key(1))
	})
}
