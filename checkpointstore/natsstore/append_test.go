package natsstore_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/natsstore"
)

// at is a checkpoint whose text has n bytes.
func at(seq uint64, n int) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Seq: seq, Text: strings.Repeat("x", n)}
}

// more is a delta of n bytes of text behind a sequence.
func more(after uint64, n int) checkpointstore.Delta {
	return checkpointstore.Delta{RunID: "run", Owner: "a", Epoch: 1, After: after, Seq: after + 1, Text: strings.Repeat("y", n)}
}

// meddled is a client whose publishing a test watches or breaks.
type meddled struct {
	jetstream.JetStream

	published atomic.Int64
	meddle    func(m *nats.Msg) error
}

func (m *meddled) PublishMsg(ctx context.Context, msg *nats.Msg, opts ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	m.published.Add(1)
	if m.meddle != nil {
		if err := m.meddle(msg); err != nil {
			return nil, err
		}
	}

	return m.JetStream.PublishMsg(ctx, msg, opts...)
}

func messages(tb testing.TB, kv jetstream.KeyValue) (n, bytes uint64) {
	tb.Helper()
	status, err := kv.Status(tb.Context())
	require.NoError(tb, err)

	return status.Values(), status.Bytes()
}

// What is added to a long answer is one message, and nothing of the answer goes there or back.
func TestAppendCostsTheDelta(t *testing.T) {
	t.Parallel()
	js, kv := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b", TTL: time.Hour})
	s := appendStore(t, js, "b")
	const size, delta, deltas = 900 << 10, 4 << 10, 32
	require.NoError(t, s.Put(t.Context(), at(0, size)))
	conn := js.Conn()
	before, _ := messages(t, kv)
	_, kept := messages(t, kv)
	stats := conn.Stats()
	for i := range uint64(deltas) {
		require.NoError(t, s.Append(t.Context(), more(i, delta)))
	}
	after := conn.Stats()
	assert.Equal(t, uint64(deltas), after.OutMsgs-stats.OutMsgs, "one round trip")
	assert.Equal(t, uint64(deltas), after.InMsgs-stats.InMsgs)
	assert.Less(t, after.OutBytes-stats.OutBytes, uint64(deltas*(delta+1<<10)))
	assert.Less(t, after.InBytes-stats.InBytes, uint64(deltas<<10))
	n, bytes := messages(t, kv)
	assert.Equal(t, before+deltas, n)
	assert.Less(t, bytes-kept, uint64(deltas*(delta+1<<10)))
	t.Logf("an Append of %d bytes to %d: 1 message out and 1 in, %d bytes out, %d in, %d stored", delta, size,
		(after.OutBytes-stats.OutBytes)/deltas, (after.InBytes-stats.InBytes)/deltas, (bytes-kept)/deltas)

	got, err := appendStore(t, js, "b").Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("x", size)+strings.Repeat("y", deltas*delta), got.Text)
}

// All that a chain holds together may be more than a message.
func TestChainLargerThanTheServerTakes(t *testing.T) {
	t.Parallel()
	js, _ := connect(t, startServer(t, 64<<10), jetstream.KeyValueConfig{Bucket: "b", TTL: time.Hour})
	s := appendStore(t, js, "b")
	require.NoError(t, s.Put(t.Context(), at(0, 48<<10)))
	for i := range uint64(200) { // more than one fetch holds
		require.NoError(t, s.Append(t.Context(), more(i, 1<<10)))
	}
	require.ErrorIs(t, s.Append(t.Context(), more(200, 64<<10)), checkpointstore.ErrTooLarge)
	require.ErrorIs(t, s.Put(t.Context(), at(201, 64<<10)), checkpointstore.ErrTooLarge)
	require.NoError(t, s.Append(t.Context(), more(200, 1)), "a refusal before the wire leaves nothing under way")
	got, err := appendStore(t, js, "b").Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Len(t, got.Text, 248<<10+1)
}

// A server before 2.11 does not know what to compare with.
func TestServerThatDoesNotKnowTheComparison(t *testing.T) {
	t.Parallel()
	js, kv := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	old := &meddled{JetStream: js, meddle: func(m *nats.Msg) error {
		m.Header.Del(jetstream.ExpectedLastSubjSeqSubjHeader)

		return nil
	}}
	s := appendStore(t, old, "b")
	require.NoError(t, s.Put(t.Context(), at(0, 10)))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for range 2 {
		require.ErrorIs(t, s.Append(ctx, more(0, 10)), checkpointstore.ErrNoBase)
	}
	n, _ := messages(t, kv)
	assert.Equal(t, uint64(1), n, "nothing was added")
	require.NoError(t, s.Put(t.Context(), at(1, 20)))
	require.NoError(t, s.Delete(t.Context(), "run"))
}

// A write that failed may come later. Only a whole that is written after it makes sure that it does not.
func TestAppendAfterAFailedWrite(t *testing.T) {
	t.Parallel()
	js, _ := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	var held *nats.Msg
	c := &meddled{JetStream: js}
	s := appendStore(t, c, "b")
	require.NoError(t, s.Put(t.Context(), at(0, 10)))
	c.meddle = func(m *nats.Msg) error {
		held = m

		return nats.ErrTimeout
	}
	require.ErrorIs(t, s.Put(t.Context(), at(1, 10)), nats.ErrTimeout)
	c.meddle = nil
	require.ErrorIs(t, s.Append(t.Context(), more(0, 10)), checkpointstore.ErrNoBase)
	require.ErrorIs(t, s.Append(t.Context(), more(0, 10)), checkpointstore.ErrNoBase)
	require.NoError(t, s.Put(t.Context(), at(2, 20)))
	require.NoError(t, s.Append(t.Context(), more(2, 10)))
	_, err := js.PublishMsg(t.Context(), held, jetstream.WithExpectLastSequencePerSubject(1))
	require.Error(t, err, "it comes too late")
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Len(t, got.Text, 30)
}

// The server does not compare what one writer adds with what else it adds.
func TestAppendsOfAWriterWaitForEachOther(t *testing.T) {
	t.Parallel()
	js, _ := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	c := &meddled{JetStream: js}
	s := appendStore(t, c, "b")
	require.NoError(t, s.Put(t.Context(), at(0, 10)))
	entered, release, done := make(chan struct{}), make(chan struct{}), make(chan error)
	c.meddle = func(*nats.Msg) error {
		close(entered)
		<-release

		return nil
	}
	go func() { done <- s.Append(t.Context(), more(0, 10)) }()
	<-entered
	other := more(0, 20)
	other.Seq = 2
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Append(ctx, other), context.DeadlineExceeded)
	claim := at(0, 0)
	claim.RunID = "another run"
	c.meddle = nil
	require.NoError(t, s.Put(t.Context(), claim), "it does not wait")
	close(release)
	require.NoError(t, <-done)
	require.ErrorIs(t, s.Append(t.Context(), other), checkpointstore.ErrNoBase)
	require.NoError(t, s.Append(t.Context(), more(1, 5)))
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Len(t, got.Text, 25)
}

// The bucket forgets the whole before what was added to it, so the whole is put again in time.
func TestAppendPutsTheWholeAgain(t *testing.T) {
	t.Parallel()
	js, kv := connect(t, startServer(t, 64<<10), jetstream.KeyValueConfig{Bucket: "b", TTL: 2 * time.Second})
	s := appendStore(t, js, "b")
	require.NoError(t, s.Put(t.Context(), at(0, 10)))
	whole := func() uint64 {
		t.Helper()
		e, err := kv.Get(t.Context(), key("run")+".whole")
		require.NoError(t, err)

		return e.Revision()
	}
	first := whole()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	seq := uint64(0)
	for ; whole() == first; seq++ {
		require.Less(t, seq, uint64(100))
		require.NoError(t, s.Append(t.Context(), more(seq, 1)))
		<-tick.C
	}
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, at(0, 10).Text+strings.Repeat("y", int(seq)), got.Text)

	// What has grown beyond a message cannot be put again. It goes on as it is, and is gone when the whole is.
	for ; err == nil; seq++ {
		require.Less(t, seq, uint64(1000))
		err = s.Append(t.Context(), more(seq, 40<<10))
		<-tick.C
	}
	require.ErrorIs(t, err, checkpointstore.ErrNoBase)
	_, err = s.Get(t.Context(), "run")
	require.ErrorIs(t, err, checkpointstore.ErrNotFound)
	require.NoError(t, s.Put(t.Context(), at(seq, 10)))
}

// A takeover is one read and one write, also of a chain.
func TestClaimAfterGet(t *testing.T) {
	t.Parallel()
	js, _ := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	first := appendStore(t, js, "b")
	require.NoError(t, first.Put(t.Context(), at(0, 10)))
	require.NoError(t, first.Append(t.Context(), more(0, 10)))
	c := &meddled{JetStream: js}
	s := appendStore(t, c, "b")
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	got.Epoch, got.Owner = 2, "b"
	out := js.Conn().Stats().OutMsgs
	require.NoError(t, s.Put(t.Context(), got))
	assert.Equal(t, out+2, js.Conn().Stats().OutMsgs, "the write, and the clearing")
	assert.Equal(t, int64(1), c.published.Load())
	require.ErrorIs(t, first.Append(t.Context(), more(1, 1)), checkpointstore.ErrStale)
}

// A bucket is made for reads from any replica, and may be one of another domain.
func TestBucketAsItIsMade(t *testing.T) {
	t.Parallel()
	srv := start(t, &server.Options{JetStreamDomain: "hub"})
	require.True(t, srv.ReadyForConnections(time.Minute))
	conn, err := nats.Connect(srv.ClientURL())
	require.NoError(t, err)
	defer conn.Close()
	plain, err := jetstream.New(conn)
	require.NoError(t, err)
	inDomain, err := jetstream.NewWithDomain(conn, "hub")
	require.NoError(t, err)
	prefixed, err := jetstream.NewWithAPIPrefix(conn, "$JS.hub.API")
	require.NoError(t, err)
	kv, err := plain.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b", History: 5})
	require.NoError(t, err)
	for _, js := range []jetstream.JetStream{plain, inDomain, prefixed} {
		s := appendStore(t, js, "b")
		for round := range uint64(3) {
			base := at(round*10, 10)
			require.NoError(t, s.Put(t.Context(), base))
			require.NoError(t, s.Append(t.Context(), more(base.Seq, 10)))
			require.NoError(t, s.Append(t.Context(), more(base.Seq+1, 10)))
			got, err := appendStore(t, js, "b").Get(t.Context(), "run")
			require.NoError(t, err)
			assert.Equal(t, base.Text+strings.Repeat("y", 20), got.Text)
		}
		require.NoError(t, s.DeleteIf(t.Context(), at(22, 0)))
		_, err := appendStore(t, js, "b").Get(t.Context(), "run")
		require.ErrorIs(t, err, checkpointstore.ErrNotFound)
	}
	n, _ := messages(t, kv)
	assert.Equal(t, uint64(1), n, "one marker")
}

func TestNoSuchBucket(t *testing.T) {
	t.Parallel()
	js, _ := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	_, err := natsstore.NewAppendStore(t.Context(), js, "other")
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
	_, err = js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "mirror", Mirror: &jetstream.StreamSource{Name: "b"}})
	require.NoError(t, err)
	_, err = natsstore.NewAppendStore(t.Context(), js, "mirror")
	require.ErrorContains(t, err, fmt.Sprintf("%q mirrors another one", "mirror"))
}

// slow is a client whose streams are overtaken.
type slow struct {
	jetstream.JetStream

	by func()
}

func (c slow) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	s, err := c.JetStream.Stream(ctx, name)

	return overtaken{s, c.by}, err
}

// overtaken is a stream in which something happens between the making of a reader and its first message.
type overtaken struct {
	jetstream.Stream

	by func()
}

func (s overtaken) CreateConsumer(ctx context.Context, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	c, err := s.Stream.CreateConsumer(ctx, cfg)
	s.by()

	return c, err
}

// A Get that a claim overtakes returns with what the claim left, and does not wait for the deltas that went with it.
func TestGetDoesNotWaitForWhatIsGone(t *testing.T) {
	t.Parallel()
	js, _ := connect(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	s, rival := appendStore(t, js, "b"), appendStore(t, js, "b")
	require.NoError(t, s.Put(t.Context(), at(0, 100)))
	for i := range uint64(20) {
		require.NoError(t, s.Append(t.Context(), more(i, 100)))
	}
	claim := at(0, 200)
	claim.Epoch, claim.Owner = 2, "b"
	reader := appendStore(t, slow{js, func() { require.NoError(t, rival.Put(t.Context(), claim)) }}, "b")
	began := time.Now()
	c, err := reader.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.EqualValues(t, 2, c.Epoch)
	assert.Less(t, time.Since(began), time.Second)
}
