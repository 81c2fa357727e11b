package provider

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

const (
	// asked is what the provider asks for; the decorator waits up to a quarter longer.
	asked = 7 * time.Second
	most  = asked + asked/4
)

// forms are the ways to say it. They are made when they are needed, as one of them is a date.
func forms() map[string]func() faultllm.RetryAfter {
	return map[string]func() faultllm.RetryAfter{
		"seconds":      func() faultllm.RetryAfter { return faultllm.RetryAfterSeconds(7) },
		"milliseconds": func() faultllm.RetryAfter { return faultllm.RetryAfterMillis(7000) },
		"date":         func() faultllm.RetryAfter { return faultllm.RetryAfterDate(time.Now().Add(asked)) },
	}
}

// TestRetryAfterReachesTheWaitOfEveryClient refuses the first request, and then the first continuation, on a fake clock.
func TestRetryAfterReachesTheWaitOfEveryClient(t *testing.T) {
	for _, c := range clients.All() {
		for name, form := range forms() {
			t.Run(c.String()+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					r, s := breakOnce(t, c, rig.Wiring{Pipe: faultllm.NewPipe()}, faultllm.Refuse(429, form()))
					require.NoError(t, s.end)
					retried := rig.EventsOf[callbacks.OpenRetried](r)
					require.Len(t, retried, 1)
					checkWait(t, retried[0].Backoff, time.Since(began))
				})
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					r, s := breakOnce(t, c, rig.Wiring{Pipe: faultllm.NewPipe()}, faultllm.CutChunked(faultllm.InText(1)), faultllm.Refuse(429, form()))
					require.NoError(t, s.end)
					started := rig.EventsOf[callbacks.Started](r)
					require.Len(t, started, 2)
					checkWait(t, started[1].Backoff, time.Since(began))
					assert.Equal(t, "We leave at ten, not later.", rig.Concat(t, s.chunks).Content)
				})
			})
		}
	}
}

// checkWait holds the wait that was told to the one that was asked for, and the one that passed to the one that was told.
// A date has whole seconds.
func checkWait(t *testing.T, told, passed time.Duration) {
	t.Helper()
	assert.GreaterOrEqual(t, told, asked-time.Second)
	assert.LessOrEqual(t, told, most)
	assert.GreaterOrEqual(t, passed, told, "the wait was not served")
	assert.Less(t, passed, told+time.Second, "somebody else waited too")
}

// TestWithoutTheTransportSomeClientsTell is Retry-After where no transport was given: Claude's client keeps the header, and
// Gemini says the time in its details too. The others lose it.
func TestWithoutTheTransportSomeClientsTell(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refuse := faultllm.Refuse(429, faultllm.RetryAfterSeconds(7))
				faults := []faultllm.Fault{refuse}
				if c.Vendor == faultllm.Anthropic {
					faults = append(faults, refuse, refuse) // the client makes two more requests by itself
				}
				r, s := breakOnce(t, c, rig.Wiring{Pipe: faultllm.NewPipe(), Plain: true}, faults...)
				require.NoError(t, s.end)
				retried := rig.EventsOf[callbacks.OpenRetried](r)
				require.Len(t, retried, 1)
				assert.Equal(t, callbacks.CauseRateLimited, retried[0].Cause)
				switch c.Vendor {
				case faultllm.Anthropic, faultllm.Gemini:
					assert.GreaterOrEqual(t, retried[0].Backoff, asked)
					assert.LessOrEqual(t, retried[0].Backoff, most)
				default:
					assert.Zero(t, retried[0].Backoff)
				}
			})
		})
	}
}

// TestClientsThatRetryByThemselves proves the default of those that do: their requests are not to be seen in the events,
// unless the transport, or the configuration, keeps them from it.
func TestClientsThatRetryByThemselves(t *testing.T) {
	for _, c := range clients.All() {
		for name, f := range map[string]faultllm.Fault{
			"refused": faultllm.Refuse(503, faultllm.RetryAfter{}), "not answered": faultllm.CutChunked(faultllm.BeforeHeaders()),
		} {
			t.Run(c.String()+"/"+name, func(t *testing.T) {
				for _, retries := range []bool{true, false} {
					synctest.Test(t, func(t *testing.T) {
						began := time.Now()
						r, s := breakOnce(t, c, rig.Wiring{Pipe: faultllm.NewPipe(), Retries: retries}, f)
						require.NoError(t, s.end)
						assert.Equal(t, 2, r.Server.Ledger().Requests)
						hidden := retries && (c.Vendor == faultllm.Anthropic || c.Vendor == faultllm.Ark || c.Vendor == faultllm.ArkResponses)
						if hidden {
							assert.Empty(t, rig.EventsOf[callbacks.OpenRetried](r))
							if c.Vendor == faultllm.Anthropic {
								assert.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond, "the client waits by itself")
							}
						} else {
							assert.Len(t, rig.EventsOf[callbacks.OpenRetried](r), 1)
							assert.Less(t, time.Since(began), 100*time.Millisecond)
						}
					})
				}
			})
		}
	}
}

// TestAnAttemptKnowsNothingOfAnother makes many calls at once over one client: each waits for what its own provider's
// answer said, and the attempt after it for nothing.
func TestAnAttemptKnowsNothingOfAnother(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { manyAtOnce(t, c) })
		})
	}
}
