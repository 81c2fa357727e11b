package natsstore

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRevisionsAreBounded: what is remembered of very many runs is a part, not nothing.
func TestRevisionsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRevisions[revision]()
	for i := range 2 * maxRevisions {
		key := fmt.Sprint(i)
		r.set(key, revision{number: uint64(i)})
		_, ok := r.get(key)
		assert.True(t, ok)
		assert.Len(t, r.byKey, min(i+1, maxRevisions))
	}
}
