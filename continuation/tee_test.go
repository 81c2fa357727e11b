package continuation

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTee(t *testing.T) {
	t.Parallel()
	const n = 3*tokens + 1
	boom := errors.New("boom")
	for name, tt := range map[string]struct{ end, want error }{
		"a clean end": {nil, io.EOF}, "the end of a stream": {io.EOF, io.EOF}, "an error": {boom, boom},
	} {
		t.Run(name+", read while it is written", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				te, r := newTee[int]()
				go func() {
					for i := range n {
						te.push(i)
					}
					te.end(tt.end)
					te.end(boom) // too late
					te.push(n)
				}()
				teeRead(t, r.Recv, n, tt.want)
			})
		})
		t.Run(name+", read afterwards", func(t *testing.T) {
			t.Parallel()
			te, r := newTee[int]()
			for i := range n {
				te.push(i) // would block for ever if it depended on the reader
			}
			te.end(tt.end)
			teeRead(t, r.Recv, n, tt.want)
		})
	}
}

func teeRead(t *testing.T, recv func() (int, error), n int, want error) {
	t.Helper()
	for i := range n {
		v, err := recv()
		require.NoError(t, err)
		require.Equal(t, i, v)
	}
	_, err := recv()
	require.Equal(t, want, err)
	_, err = recv()
	require.Equal(t, io.EOF, err)
}

// TestTeeKeepsNothingForNobody: when the reader is closed, nothing is kept from the next item on.
func TestTeeKeepsNothingForNobody(t *testing.T) {
	t.Parallel()
	te, r := newTee[int]()
	for i := range tokens - 1 {
		te.push(i)
	}
	_, err := r.Recv()
	require.NoError(t, err)
	r.Close()
	te.push(1)
	te.push(2)
	assert.True(t, te.closed)
	assert.Empty(t, te.items)
	te.end(nil)
}

func TestNoTee(t *testing.T) {
	t.Parallel()
	var te *tee[int]
	te.push(1)
	te.end(nil)
}
