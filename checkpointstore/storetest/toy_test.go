package storetest

import (
	"bytes"
	"context"
	"maps"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// toy is a store that keeps every rule, unless one of its faults is switched on.
type toy struct {
	mu    *sync.Mutex
	runs  map[string][]byte
	fault string
	ttl   time.Duration
	last  []byte
	left  map[string][]byte                     // deltas that nothing removes
	live  map[string]checkpointstore.Checkpoint // what a store that aliases would hand out
}

func newToy(fault string) *toy {
	return &toy{mu: &sync.Mutex{}, runs: map[string][]byte{}, fault: fault, left: map[string][]byte{}, live: map[string]checkpointstore.Checkpoint{}}
}

func (s *toy) is(fault string) bool { return s.fault == fault }

func (s *toy) key(runID string) string {
	switch {
	case s.is("keys fold case"):
		return strings.ToLower(runID)
	case s.is("keys lose slashes"):
		return strings.ReplaceAll(runID, "/", "_")
	case s.is("keys are cut"):
		return runID[:min(len(runID), 255)]
	default:
		return runID
	}
}

func (s *toy) begin(ctx context.Context, runID string) error {
	if err := checkpointstore.ValidateRunID(runID); err != nil && !s.is("run ids are not validated") {
		return err
	}
	if s.is("the context is ignored") {
		return nil
	}

	return ctx.Err()
}

// stored returns the fence of what is there, if it can be read.
func (s *toy) stored(runID string) (checkpointstore.Fence, bool) {
	if h, err := checkpointstore.DecodeHeader(s.runs[s.key(runID)]); err == nil && s.is("fences are those of the last Put") {
		return h.Fence, true
	}

	return s.current(runID)
}

// current is stored without the fault of it.
func (s *toy) current(runID string) (checkpointstore.Fence, bool) {
	c, err := checkpointstore.DecodeFor(runID, s.runs[s.key(runID)])
	if err != nil && c.Fence() == (checkpointstore.Fence{}) {
		return checkpointstore.Fence{}, s.is("garbage blocks Put") && len(s.runs[s.key(runID)]) > 0
	}

	return c.Fence(), true
}

func (s *toy) allowPut(stored, next checkpointstore.Fence) error {
	switch {
	case s.is("any Put is allowed"):
		return nil
	case s.is("Put again is refused") && stored == next:
		return checkpointstore.ErrStale
	case s.is("a tie is for everybody") && stored.Epoch == next.Epoch && next.Seq >= stored.Seq:
		return nil
	case s.is("numbers are floats") && float64(next.Epoch) == float64(stored.Epoch):
		next.Epoch = stored.Epoch
	case s.is("numbers are signed") && int64(next.Epoch) > int64(stored.Epoch):
		return nil
	case s.is("garbage blocks Put") && stored == checkpointstore.Fence{}:
		return checkpointstore.ErrCorrupt
	}

	return checkpointstore.AllowPut(stored, next)
}

// damage is what becomes of a checkpoint on its way into the store.
func (s *toy) damage(c checkpointstore.Checkpoint) checkpointstore.Checkpoint {
	switch {
	case s.is("the reasoning is lost"):
		c.Reasoning = ""
	case s.is("large ones are cut"):
		c.Text = c.Text[:min(len(c.Text), 1<<20)]
	case s.is("owners are cut"):
		c.Owner = c.Owner[:min(len(c.Owner), checkpointstore.MaxOwnerBytes)]
	}

	return c
}

func (s *toy) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := s.begin(ctx, c.RunID); err != nil {
		return err
	}
	if _, leftOut := checkpointstore.Normalize(c); leftOut != nil && s.is("foreign types are an error") {
		return checkpointstore.ErrTooLarge
	}
	kept := s.damage(c)
	data, err := checkpointstore.Encode(kept)
	if err != nil && !s.is("run ids are not validated") {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fence, ok := s.stored(c.RunID); ok {
		s.gap("Put in two steps")
		if err := s.allowPut(fence, c.Fence()); err != nil {
			return err
		}
	}
	if s.is("Put merges") {
		if old, err := checkpointstore.Decode(s.runs[s.key(c.RunID)]); err == nil && len(c.ToolCalls) == 0 {
			kept.ToolCalls = old.ToolCalls
			data, _ = checkpointstore.Encode(kept)
		}
	}
	s.runs[s.key(c.RunID)] = data
	s.last = data
	s.live[s.key(c.RunID)] = c
	s.expire(c)

	return nil
}

// gap lets another in between two steps that should be one.
func (s *toy) gap(fault string) {
	if s.is(fault) {
		s.mu.Unlock()
		for range 10 {
			runtime.Gosched()
		}
		s.mu.Lock()
	}
}

func (s *toy) expire(c checkpointstore.Checkpoint) {
	runID, data := c.RunID, s.runs[s.key(c.RunID)]
	if s.ttl == 0 || s.is("nothing expires") || s.is("Put does not renew") && c.Seq > 1 {
		return
	}
	time.AfterFunc(s.ttl, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		now := s.runs[s.key(runID)]
		if s.is("Put does not renew") || s.is("Append does not renew") || len(now) > 0 && &now[0] == &data[0] {
			delete(s.runs, s.key(runID))
		}
	})
}

func (s *toy) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := s.begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.runs[s.key(runID)]
	if !ok && s.is("not found is a zero checkpoint") {
		return checkpointstore.Checkpoint{}, nil
	}
	if !ok {
		return checkpointstore.Checkpoint{}, checkpointstore.ErrNotFound
	}
	if s.is("aliases") {
		return s.live[s.key(runID)], nil
	}
	if s.is("one buffer for all") {
		s.gap("one buffer for all")
		data = s.last
	}
	if s.is("the checkpoint of another run is served") || s.is("one buffer for all") {
		return checkpointstore.Decode(data)
	}
	if left := s.left[s.key(runID)]; len(left) > 0 {
		if outlived, err := checkpointstore.Decode(append(bytes.Clone(data), left...)); err == nil {
			return outlived, nil
		}
	}
	c, err := checkpointstore.DecodeFor(runID, data)
	if s.is("a newer version is corrupt") && err != nil {
		err = checkpointstore.ErrCorrupt
	}

	return c, err
}

func (s *toy) Delete(ctx context.Context, runID string) error {
	if err := s.begin(ctx, runID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.runs[s.key(runID)]; !ok && s.is("delete of nothing is an error") {
		return checkpointstore.ErrNotFound
	}
	if s.is("delete takes all") {
		clear(s.runs)
	}
	delete(s.runs, s.key(runID))

	return nil
}

func (s *toy) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := s.begin(ctx, c.RunID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fence, ok := s.stored(c.RunID)
	if ok {
		err := checkpointstore.AllowDelete(fence, c.Fence())
		s.gap("DeleteIf in two steps")
		if err != nil && !s.is("any delete is allowed") {
			return err
		}
	}
	delete(s.runs, s.key(c.RunID))

	return nil
}

func (s *toy) DeleteOlderThan(ctx context.Context, t time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.runs)
	maps.DeleteFunc(s.runs, func(_ string, data []byte) bool {
		c, _ := checkpointstore.Decode(data)

		return c.UpdatedAt.Before(t) || s.is("cleaning takes too much") && c.UpdatedAt.Equal(t)
	})

	return before - len(s.runs), ctx.Err()
}

func plant(_ testing.TB, store checkpointstore.Store, runID string, data []byte) {
	s, ok := store.(*toy)
	if !ok {
		panic("not a toy")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[s.key(runID)] = bytes.Clone(data)
}
