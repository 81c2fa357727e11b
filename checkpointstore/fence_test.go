package checkpointstore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	cs "github.com/eino-carryon/carryon/checkpointstore"
)

func TestFence(t *testing.T) {
	t.Parallel()
	stored := cs.Fence{Epoch: 2, Seq: 5, Owner: "a"}
	for _, test := range []struct {
		by          cs.Fence
		put, delete bool
		why         string
	}{
		{cs.Fence{2, 5, "a"}, true, true, "the same again"},
		{cs.Fence{2, 6, "a"}, true, true, "the next of the same writer"},
		{cs.Fence{2, 4, "a"}, false, false, "an older one, which has not seen what is stored"},
		{cs.Fence{2, 5, "b"}, false, false, "the second claimer of an epoch"},
		{cs.Fence{2, 6, "b"}, false, false, "a later sequence does not make the second claimer the first"},
		{cs.Fence{1, 9, "a"}, false, false, "a zombie, whatever its sequence"},
		{cs.Fence{3, 0, "b"}, true, false, "a claim; what it replaces is not its own to delete"},
		{cs.Fence{3, 0, "a"}, true, false, "a claim by the same owner"},
		{cs.Fence{math.MaxUint64, 0, "b"}, true, false, "unsigned"},
		{cs.Fence{0, math.MaxUint64, "a"}, false, false, "unsigned"},
	} {
		put, del := cs.AllowPut(stored, test.by), cs.AllowDelete(stored, test.by)
		if test.put {
			assert.NoError(t, put, test.why)
		} else {
			assert.ErrorIs(t, put, cs.ErrStale, test.why)
		}
		if test.delete {
			assert.NoError(t, del, test.why)
		} else {
			assert.ErrorIs(t, del, cs.ErrStale, test.why)
		}
	}
}

func TestAllowAppend(t *testing.T) {
	t.Parallel()
	d := cs.Delta{RunID: "r", Owner: "a", Epoch: 2, After: 5, Seq: 7}
	for _, test := range []struct {
		stored cs.Fence
		again  bool
		want   error
		why    string
	}{
		{cs.Fence{2, 5, "a"}, false, nil, "what it goes on from"},
		{cs.Fence{2, 7, "a"}, true, nil, "it was added already"},
		{cs.Fence{2, 4, "a"}, false, cs.ErrNoBase, "a Put between has failed"},
		{cs.Fence{2, 6, "a"}, false, cs.ErrNoBase, "a Put between, of which the writer does not know"},
		{cs.Fence{2, 8, "a"}, false, cs.ErrStale, "the writer's own, but later"},
		{cs.Fence{2, 5, "b"}, false, cs.ErrStale, "another has claimed the epoch"},
		{cs.Fence{2, 7, "b"}, false, cs.ErrStale, "another has claimed the epoch"},
		{cs.Fence{3, 0, "a"}, false, cs.ErrStale, "it was taken over"},
		{cs.Fence{3, 5, "b"}, false, cs.ErrStale, "it was taken over"},
		{cs.Fence{1, 5, "a"}, false, cs.ErrNoBase, "the claim is not there"},
		{cs.Fence{1, 9, "b"}, false, cs.ErrNoBase, "the claim is not there"},
	} {
		again, err := cs.AllowAppend(test.stored, d)
		assert.Equal(t, test.again, again, test.why)
		assert.ErrorIs(t, err, test.want, test.why)
	}
}
