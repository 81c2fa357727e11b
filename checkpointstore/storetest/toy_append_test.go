package storetest

import (
	"bytes"
	"context"
	"errors"

	"github.com/eino-carryon/carryon/checkpointstore"
)

func (s *toy) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := s.begin(ctx, d.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fence, ok := s.current(d.RunID)
	if !ok && s.is("a delta is not found") {
		return checkpointstore.ErrNotFound
	}
	if !ok {
		return checkpointstore.ErrNoBase
	}
	again, err := checkpointstore.AllowAppend(fence, d)
	s.gap("Append in two steps")
	switch {
	case s.is("any Append is allowed") && errors.Is(err, checkpointstore.ErrNoBase):
		return nil
	case err != nil:
		return err
	case s.is("deltas are lost"), again && !s.is("a delta is added twice"):
		return nil
	}
	key := s.key(d.RunID)
	s.runs[key] = append(bytes.Clone(s.runs[key]), data...)
	if s.is("deltas outlive their checkpoint") {
		s.left[key] = append(s.left[key], data...)
	}
	if c, err := checkpointstore.Decode(s.runs[key]); err == nil {
		s.live[key] = c
	}
	if !s.is("Append does not renew") {
		s.expire(checkpointstore.Checkpoint{RunID: d.RunID, Seq: d.Seq})
	}

	return nil
}
