package natsstore

import (
	"fmt"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// renewalShare is the share of a bucket's TTL after which an Append puts the whole again. What was added lives that much
// shorter than the TTL, at most.
const renewalShare = 4

// chain is what is stored of a run: a whole checkpoint and the deltas behind it.
type chain struct {
	// whole is the sequence of the last message under the whole's subject, be it a marker; 0 if there is none. A write is
	// refused by the server if that is another one. So nothing is added to what was replaced, and who takes a run over
	// need not outrun the one who still adds to it.
	whole uint64
	// tail is that of the last message of the run, whatever it is.
	tail uint64
	// stored means that there is a checkpoint, readable that its fence, that of its last delta, is known.
	stored, readable bool
	fence            checkpointstore.Fence
	// bytes is the length of all of it.
	bytes int
	// littered means that there may be deltas which a Put or a Delete has to clear away.
	littered bool
	// unsure means that a write of this store failed, and may still come. The server does not compare deltas with each other,
	// so a whole has to be written before anything is added.
	unsure bool
	// renewal is when the whole has to be put again, as it is the whole that the bucket forgets first; zero is never.
	renewal time.Time
}

// chainOf is a whole checkpoint that was put at a time.
func chainOf(sequence uint64, f checkpointstore.Fence, size int, put time.Time, ttl time.Duration) chain {
	c := chain{whole: sequence, tail: sequence, stored: true, readable: true, fence: f, bytes: size}
	if ttl > 0 {
		c.renewal = put.Add(ttl / renewalShare)
	}

	return c
}

// with is the chain when a delta was added.
func (c chain) with(tail uint64, f checkpointstore.Fence, size int) chain {
	c.tail, c.fence, c.bytes, c.littered = tail, f, c.bytes+size, true

	return c
}

func (c chain) allowPut(next checkpointstore.Fence) error {
	if !c.stored || !c.readable {
		return nil
	}

	return checkpointstore.AllowPut(c.fence, next)
}

func (c chain) allowDelete(by checkpointstore.Fence) error {
	if !c.stored || !c.readable {
		return nil
	}

	return checkpointstore.AllowDelete(c.fence, by)
}

// allowAppend is checkpointstore.AllowAppend for a delta of size bytes.
func (c chain) allowAppend(d checkpointstore.Delta, size int) (again bool, err error) {
	if !c.stored || !c.readable {
		return false, fmt.Errorf("%w: nothing that can be read is stored of %q", checkpointstore.ErrNoBase, d.RunID)
	}
	again, err = checkpointstore.AllowAppend(c.fence, d)
	if again || err != nil {
		return again, err
	}
	if c.unsure {
		return false, fmt.Errorf("%w: a write of %q failed and may yet come", checkpointstore.ErrNoBase, d.RunID)
	}
	if size += c.bytes; size > checkpointstore.MaxBytes {
		return false, fmt.Errorf("%w: together they take %d bytes, %d are allowed", checkpointstore.ErrTooLarge, size, checkpointstore.MaxBytes)
	}

	return false, nil
}

// fenceIn returns the fence of an encoded checkpoint, or delta, of a run; false if it is none.
func fenceIn(data []byte, runID string, delta bool) (checkpointstore.Fence, bool) {
	h, err := checkpointstore.DecodeHeader(data)
	if err != nil || h.RunID != runID || h.Delta != delta {
		return checkpointstore.Fence{}, false
	}

	return h.Fence, true
}
