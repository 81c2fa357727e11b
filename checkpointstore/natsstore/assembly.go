package natsstore

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// message is one of a run in the stream.
type message struct {
	subject  string
	header   nats.Header
	data     []byte
	sequence uint64
	time     time.Time
}

// isMarker reports whether it stands for something that was deleted or has expired.
func (m message) isMarker() bool {
	return m.header.Get(operationHeader) != "" || m.header.Get(jetstream.MarkerReasonHeader) != ""
}

// assembly makes a chain of the messages of a run, which are added in their order.
type assembly struct {
	chain

	run    subjects
	ttl    time.Duration
	data   []byte
	deltas []link
}

// link is a delta behind the last whole, of its writer and epoch.
type link struct {
	after uint64
	fence checkpointstore.Fence
	data  []byte
}

func (a *assembly) add(m message) {
	switch {
	case m.subject == a.run.whole && m.isMarker():
		a.chain, a.data, a.deltas = chain{whole: m.sequence, littered: true}, nil, nil
	case m.subject == a.run.whole:
		f, readable := fenceIn(m.data, a.run.runID, false)
		a.chain, a.data, a.deltas = chainOf(m.sequence, f, len(m.data), m.time, a.ttl), m.data, nil
		a.readable, a.littered = readable, true // what was before it may still be there
	default:
		a.littered = true
		after, named := a.run.after(m.subject)
		f, ok := fenceIn(m.data, a.run.runID, true)
		if named && ok && a.readable && f.Epoch == a.fence.Epoch && f.Owner == a.fence.Owner {
			a.deltas = append(a.deltas, link{after, f, m.data})
		}
	}
	a.tail = m.sequence
}

// link puts the deltas behind the whole. One that goes on from an earlier sequence than is reached was in time for another
// whole only; one that goes on from a later one lacks what was before it: that is errTorn.
func (a *assembly) link() error {
	slices.SortStableFunc(a.deltas, func(x, y link) int { return cmp.Compare(x.after, y.after) })
	for _, d := range a.deltas {
		switch {
		case d.after > a.fence.Seq:
			return fmt.Errorf("%w: nothing leads from sequence %d to %d", errTorn, a.fence.Seq, d.after)
		case d.after == a.fence.Seq:
			a.chain, a.data = a.with(a.tail, d.fence, len(d.data)), append(a.data, d.data...)
		}
	}

	return nil
}
