package natsstore_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/natsstore"
)

// What was put over, or deleted, leaves nothing behind, also if the program stopped in between.
func TestDeltasAreClearedAway(t *testing.T) {
	t.Parallel()
	js, kv := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	s := appendStore(t, js, "b")
	grow := func() {
		t.Helper()
		require.NoError(t, s.Put(t.Context(), at(0, 10)))
		for i := range uint64(5) {
			require.NoError(t, s.Append(t.Context(), more(i, 100<<10)))
		}
	}
	small := func(why string) {
		t.Helper()
		n, bytes := messages(t, kv)
		assert.Equal(t, uint64(1), n, why)
		assert.Less(t, bytes, uint64(1000), why)
	}
	grow()
	require.NoError(t, s.Put(t.Context(), at(5, 10)))
	small("Put")
	for _, remove := range []func(*natsstore.AppendStore) error{
		func(s *natsstore.AppendStore) error { return s.Delete(t.Context(), "run") },
		func(s *natsstore.AppendStore) error { return s.DeleteIf(t.Context(), at(5, 0)) },
	} {
		for _, by := range []*natsstore.AppendStore{s, appendStore(t, js, "b")} {
			require.NoError(t, s.Delete(t.Context(), "run"))
			grow()
			require.NoError(t, remove(by))
			small("delete")
		}
	}

	// A delete that got no further than its marker, and a claim that got no further than its Put.
	grow()
	require.NoError(t, kv.Purge(t.Context(), key("run")+".whole"))
	_, err := s.Get(t.Context(), "run")
	require.ErrorIs(t, err, checkpointstore.ErrNotFound)
	require.NoError(t, s.Delete(t.Context(), "run"))
	small("a delete after one that broke off")
	grow()
	claim := at(0, 10)
	claim.Epoch = 2
	data, err := checkpointstore.Encode(claim)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), key("run")+".whole", data)
	require.NoError(t, err)
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, claim.Text, got.Text, "what was added to the one before is not read")
	require.ErrorIs(t, s.Append(t.Context(), more(5, 1)), checkpointstore.ErrStale)
	require.NoError(t, appendStore(t, js, "b").Put(t.Context(), claim))
	small("a Put after one that broke off")
}

// In a cluster what a zombie adds may come between a claim and its place in the stream.
func TestDeltaBehindAClaim(t *testing.T) {
	t.Parallel()
	js, kv := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	s := appendStore(t, js, "b")
	claim := at(0, 10)
	claim.Epoch, claim.Owner = 2, "b"
	require.NoError(t, s.Put(t.Context(), claim))
	late, err := checkpointstore.EncodeDelta(more(0, 10))
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), key("run")+".add.0.1", late)
	require.NoError(t, err)
	holds := func(text string) {
		t.Helper()
		got, err := s.Get(t.Context(), "run")
		require.NoError(t, err)
		assert.Equal(t, text, got.Text)
	}
	holds(claim.Text)
	d := more(0, 3)
	d.Epoch, d.Owner = 2, "b"
	require.NoError(t, s.Append(t.Context(), d), "it goes on behind it")
	holds(claim.Text + "yyy")

	// And so may what its own writer had added before it put the whole.
	stray := d
	stray.After, stray.Seq = 0, 9
	late, err = checkpointstore.EncodeDelta(stray)
	require.NoError(t, err)
	_, err = kv.Put(t.Context(), key("run")+".add.0.9", late)
	require.NoError(t, err)
	holds(claim.Text + "yyy")
	d.After, d.Seq = 1, 2
	require.NoError(t, s.Append(t.Context(), d))
	holds(claim.Text + "yyyyyy")
}
