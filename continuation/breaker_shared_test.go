package continuation_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// brStore is a directory that processes share: a file is made to lock, and one holds the state. A lock that is taken is an
// error, as it is of a lock in Redis; gobreaker asks for it again every half second, for five.
type brStore struct{ dir string }

func (s brStore) path(name string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(name, ":", "_"))
}

func (s brStore) Lock(name string) error {
	f, err := os.OpenFile(s.path(name), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}

	return f.Close()
}

func (s brStore) Unlock(name string) error { return os.Remove(s.path(name)) }

func (s brStore) GetData(name string) ([]byte, error) {
	b, err := os.ReadFile(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}

	return b, err
}

func (s brStore) SetData(name string, data []byte) error {
	return os.WriteFile(s.path(name), data, 0o600)
}

// brShared makes gobreaker's distributed breaker, which only runs functions, a two-step one. It holds the store's lock
// while a function runs, so that a stream must not run in one: the state is asked for before the attempt, and the outcome
// is told behind it; it comes back from Execute, and so does what the store says against it.
type brShared struct {
	breaker *gobreaker.DistributedCircuitBreaker[any]
}

func (s brShared) Allow() (func(error), error) {
	state, err := s.breaker.State()
	switch {
	case err != nil:
		return nil, err
	case state == gobreaker.StateOpen:
		return nil, gobreaker.ErrOpenState
	}

	return func(err error) {
		_, _ = s.breaker.Execute(func() (any, error) { return nil, err })
	}, nil
}

// brProcesses makes breakers that have nothing in common but the store, and decorators over them.
type brProcesses struct {
	t     *testing.T
	store brStore
}

func (p brProcesses) wrap(scripts ...fm.Script) (*continuation.Model, *fm.Model) {
	p.t.Helper()
	b, err := gobreaker.NewDistributedCircuitBreaker[any](p.store, brSettings())
	require.NoError(p.t, err)
	inner := fm.New(scripts...)

	return continuation.Wrap(inner, continuation.WithBreaker(brShared{b})), inner
}

// answers makes a call in a process of its own and expects it to be let through.
func (p brProcesses) answers(why string) {
	p.t.Helper()
	m, _ := p.wrap(fm.Script{fm.Text("b"), fm.Finish("stop")})
	_, err := brCollect(p.t, m)
	require.NoError(p.t, err, why)
}

// refuses makes a call in a process of its own and expects it to be refused.
func (p brProcesses) refuses(why string) {
	p.t.Helper()
	m, inner := p.wrap(fm.Script{fm.Text("b"), fm.Finish("stop")})
	_, err := brCollect(p.t, m)
	require.ErrorIs(p.t, err, gobreaker.ErrOpenState, why)
	assert.Empty(p.t, inner.Requests())
}

// breaks makes a call in a process of its own that fails.
func (p brProcesses) breaks() {
	p.t.Helper()
	m, _ := p.wrap(fm.Script{fm.Text("a"), fm.Reset()})
	_, err := brCollect(p.t, m)
	require.ErrorIs(p.t, err, gobreaker.ErrOpenState)
}

func brTogether(t *testing.T, test func(p brProcesses)) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { test(brProcesses{t, brStore{dir}}) })
}

// TestBreakerSharedByProcesses: what one process learns of a provider, another one knows, in each state.
func TestBreakerSharedByProcesses(t *testing.T) {
	brTogether(t, func(p brProcesses) {
		p.answers("closed")
		p.breaks()
		p.refuses("open")
		<-time.After(11 * time.Second) // on the bubble's clock
		p.breaks()
		p.refuses("the half-open one has opened again")
		<-time.After(11 * time.Second) // on the bubble's clock
		p.answers("half-open")
		p.answers("closed")
		p.breaks()
		p.refuses("open")
	})
}

// TestBreakerSharedHalfOpenLeft: a process that goes away from a half-open breaker leaves it to the others.
func TestBreakerSharedHalfOpenLeft(t *testing.T) {
	for name, leave := range map[string]func(context.CancelFunc, *schema.StreamReader[*schema.Message]){
		"cancel": func(cancel context.CancelFunc, r *schema.StreamReader[*schema.Message]) {
			cancel()
			_, _ = fm.Collect(r)
		},
		"cancel and not read": func(cancel context.CancelFunc, _ *schema.StreamReader[*schema.Message]) { cancel() },
		"close":               func(_ context.CancelFunc, r *schema.StreamReader[*schema.Message]) { r.Close() },
		"killed":              func(context.CancelFunc, *schema.StreamReader[*schema.Message]) {},
	} {
		t.Run(name, func(t *testing.T) {
			brTogether(t, func(p brProcesses) {
				p.breaks()
				<-time.After(11 * time.Second) // on the bubble's clock
				ctx, cancel := context.WithCancel(p.t.Context())
				defer cancel()
				m, _ := p.wrap(fm.Script{fm.Text("a"), fm.Stall()})
				r, err := m.Stream(ctx, brInput())
				require.NoError(p.t, err)
				defer r.Close()
				_, err = r.Recv()
				require.NoError(p.t, err)
				leave(cancel, r)
				synctest.Wait()
				p.answers("half-open: nothing was learned of the provider")
				p.answers("closed")
			})
		})
	}
}

// TestBreakerSharedHoldsNoLock: while one process reads a stream, others are neither refused nor kept waiting.
func TestBreakerSharedHoldsNoLock(t *testing.T) {
	brTogether(t, func(p brProcesses) {
		m, _ := p.wrap(fm.Script{fm.Text("a"), fm.Stall()})
		r, err := m.Stream(p.t.Context(), brInput())
		require.NoError(p.t, err)
		defer r.Close()
		_, err = r.Recv()
		require.NoError(p.t, err)
		began := time.Now()
		p.answers("closed")
		assert.Zero(p.t, time.Since(began))
	})
}
