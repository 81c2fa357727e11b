package continuation_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// brStore is what several processes would share.
type brStore struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (s *brStore) Lock(string) error   { return nil }
func (s *brStore) Unlock(string) error { return nil }

func (s *brStore) GetData(name string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.data[name], nil
}

func (s *brStore) SetData(name string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[name] = data

	return nil
}

// brDistributed makes gobreaker's distributed breaker, which only runs functions, a two-step one.
type brDistributed struct {
	breaker *gobreaker.DistributedCircuitBreaker[any]
}

func (d brDistributed) Allow() (func(error), error) {
	allowed, outcome, ended := make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := d.breaker.Execute(func() (any, error) {
			close(allowed)

			return nil, <-outcome
		})
		ended <- err
	}()
	select {
	case <-allowed:
		return func(err error) { outcome <- err; <-ended }, nil //nolint:errcheck // it is the outcome itself that comes back
	case err := <-ended:
		return nil, err
	}
}

// TestBreakerSharedByTwoProcesses: what one decorator learns of a provider, another one knows.
func TestBreakerSharedByTwoProcesses(t *testing.T) {
	t.Parallel()
	store := &brStore{data: make(map[string][]byte)}
	wrap := func(inner *fm.Model) *continuation.Model {
		b, err := gobreaker.NewDistributedCircuitBreaker[any](store, brSettings())
		require.NoError(t, err)

		return continuation.Wrap(inner, continuation.WithBreaker(brDistributed{b}))
	}
	_, err := brCollect(t, wrap(fm.New(fm.Script{fm.Text("a"), fm.Reset()})))
	require.ErrorIs(t, err, gobreaker.ErrOpenState)

	other := fm.New(fm.Script{fm.Text("b"), fm.Finish("stop")})
	_, err = brCollect(t, wrap(other))
	require.True(t, errors.Is(err, gobreaker.ErrOpenState), "%v", err)
	assert.Empty(t, other.Requests())
}
