package continuation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

// Option sets up a decorator. Options are applied in order; a later one replaces an earlier one of the same kind.
type Option func(*config)

// config is what the options say, with every default filled in. It is not changed after newConfig.
type config struct {
	maxContinuations int
	backoff          func(attempt int) time.Duration
	jitter           func() float64 // 0 to 1
	openRetries      int
	retryAfterCap    time.Duration
	maxElapsed       time.Duration // 0: none
	budgetReset      int           // 0: never
	noProgressLimit  int           // 0: none
	idle             time.Duration // 0: by provider
	firstContent     time.Duration
	finishRequired   *bool // nil: by provider, or learned
	classifier       Classifier
	dialect          Dialect
	prompt           func(Interruption) string // nil: the built-in one
	promptText       bool
	hint             hintPlace
	keepPreamble     bool
	provider, model  string
	handlers         []callbacks.Handler
	runID            func(context.Context) string
	billedUsage      bool
	streamGenerate   bool
	wholeOutput      bool
	liveToolCalls    bool
	maxBuffered      int
	breaker          *fuse        // nil: none
	checkpoints      *checkpoints // nil: none
	inAgent          bool         // as the middleware of one

	errs []error
}

// The defaults.
const (
	defaultMaxContinuations = 5
	defaultOpenRetries      = 2
	defaultRetryAfterCap    = time.Minute
	defaultFirstContent     = 5 * time.Minute
	defaultIdle             = 2 * time.Minute
	defaultIdleWholeCalls   = 5 * time.Minute
	defaultMaxBuffered      = 16 << 20
	maxBackoff              = 16 * time.Second
)

// newConfig is the one place where defaults are filled in and bad options become an error.
func newConfig(opts []Option) (*config, error) {
	c := &config{
		maxContinuations: defaultMaxContinuations,
		backoff:          exponentialBackoff,
		jitter:           rand.Float64,
		openRetries:      defaultOpenRetries,
		retryAfterCap:    defaultRetryAfterCap,
		firstContent:     defaultFirstContent,
		classifier:       DefaultClassifier,
		runID:            runIDFromContext,
		maxBuffered:      defaultMaxBuffered,
	}
	for i, opt := range opts {
		if opt == nil {
			c.errs = append(c.errs, fmt.Errorf("continuation: option %d is nil", i))

			continue
		}
		opt(c)
	}

	return c, errors.Join(c.errs...)
}

func (c *config) reject(option, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("continuation: %s: %s", option, fmt.Sprintf(format, args...)))
}

// setInt sets *p to n, which must be at least least.
func (c *config) setInt(option string, p *int, n, least int) {
	if n < least {
		c.reject(option, "%d is less than %d", n, least)

		return
	}
	*p = n
}

// setDuration sets *p to d, which must be more than zero.
func (c *config) setDuration(option string, p *time.Duration, d time.Duration) {
	if d <= 0 {
		c.reject(option, "%v is not more than zero", d)

		return
	}
	*p = d
}

// exponentialBackoff is 1, 2, 4, 8, 16, 16, … seconds.
func exponentialBackoff(attempt int) time.Duration {
	if attempt > 5 {
		return maxBackoff
	}

	return time.Second << max(0, attempt-1)
}

// WithMaxContinuations bounds the continuations and restarts of one model call; default 5. With 0 the decorator does
// nothing at all: the wrapped model's own stream and errors come out, and no request is made that the caller did not
// make. Less than 0 is an error.
func WithMaxContinuations(n int) Option {
	return func(c *config) { c.setInt("WithMaxContinuations", &c.maxContinuations, n, 0) }
}

// WithBackoff replaces the waits before the first, second, … continuation or open retry; attempt counts from 1. The
// default is 1, 2, 4, 8, 16 s. The wait made of it is never shorter, honours a longer Retry-After, and is up to a quarter
// longer at random. A negative duration counts as 0. The function must be safe for concurrent use; nil is an error.
func WithBackoff(wait func(attempt int) time.Duration) Option {
	return func(c *config) {
		if wait == nil {
			c.reject("WithBackoff", "the function is nil")

			return
		}
		c.backoff = wait
	}
}

// WithOpenRetries bounds how often a request that failed before any content is made again; default 2. With 0 the first
// error comes out. It does not use up continuations. Less than 0 is an error.
func WithOpenRetries(n int) Option {
	return func(c *config) { c.setInt("WithOpenRetries", &c.openRetries, n, 0) }
}

// WithRetryAfterCap is the longest Retry-After that is waited for; default 60 s. A longer one ends the call at once, with
// what has arrived. Must be more than 0.
func WithRetryAfterCap(d time.Duration) Option {
	return func(c *config) { c.setDuration("WithRetryAfterCap", &c.retryAfterCap, d) }
}

// WithMaxElapsed bounds the whole call: no wait is begun that would end later than d after the call did. A stream that
// is healthy is never cut by it. Default none; must be more than 0.
func WithMaxElapsed(d time.Duration) Option {
	return func(c *config) { c.setDuration("WithMaxElapsed", &c.maxElapsed, d) }
}

// WithBudgetReset gives back the whole budget of continuations once an attempt has brought minNewBytes of new text, for
// providers that cut every long answer at the same time. By default progress gives nothing back. Must be more than 0.
func WithBudgetReset(minNewBytes int) Option {
	return func(c *config) { c.setInt("WithBudgetReset", &c.budgetReset, minNewBytes, 1) }
}

// WithNoProgressLimit ends the call when n continuations in a row brought no new text. Default off; must be more than 0.
func WithNoProgressLimit(n int) Option {
	return func(c *config) { c.setInt("WithNoProgressLimit", &c.noProgressLimit, n, 1) }
}

// WithIdleTimeout is how long the consumer waits between two pieces of content before the attempt counts as stalled.
// Default 2 min; 5 min for clients whose tool calls arrive in one piece (Claude, Gemini, Ollama) and for unknown ones
// when tools are offered. After a stall the next attempt gets twice the time. Must be more than 0.
func WithIdleTimeout(d time.Duration) Option {
	return func(c *config) { c.setDuration("WithIdleTimeout", &c.idle, d) }
}

// WithFirstContentTimeout is how long an attempt may take from the request to its first content; default 5 min.
// Must be more than 0.
func WithFirstContentTimeout(d time.Duration) Option {
	return func(c *config) { c.setDuration("WithFirstContentTimeout", &c.firstContent, d) }
}

// WithFinishReasonRequired says whether a clean end without a finish reason is an interruption. By default it is for the
// known providers, and for another model as soon as it has sent a finish reason; before that, one extra request finds out.
func WithFinishReasonRequired(required bool) Option {
	return func(c *config) { c.finishRequired = &required }
}

// WithClassifier replaces [DefaultClassifier]. It must be safe for concurrent use. Nil is an error.
func WithClassifier(f Classifier) Option {
	return func(c *config) {
		if f == nil {
			c.reject("WithClassifier", "the function is nil")

			return
		}
		c.classifier = f
	}
}

// WithDialect says how the provider is asked for the rest of an answer. The default depends on the provider's type.
func WithDialect(d Dialect) Option {
	return func(c *config) { c.dialect = d }
}

// WithPrompt replaces the text of the user message that asks for the rest. The function must be safe for concurrent use.
// Nil is an error; to send no prompt at all use [Prefill].
func WithPrompt(p func(Interruption) string) Option {
	return func(c *config) {
		if p == nil {
			c.reject("WithPrompt", "the function is nil")

			return
		}
		c.prompt = p
	}
}

// WithPromptInEvents puts the text of the prompt into [callbacks.Started]. By default only its name is there.
func WithPromptInEvents() Option {
	return func(c *config) { c.promptText = true }
}

// WithoutPreambleFilter keeps the words in which a continuation only speaks of going on, such as "Sure, continuing:". By
// default they are cut where they cannot be part of the answer, and [callbacks.Joined] says so.
func WithoutPreambleFilter() Option {
	return func(c *config) { c.keepPreamble = true }
}

// WithoutHint tells the model nothing about tool calls of its last turn that were cut off.
func WithoutHint() Option {
	return func(c *config) { c.hint = hintOff }
}

// HintInToolResult puts the hint about cut off calls at the end of the last tool result, for providers that refuse a user
// message behind tool results. By default it is a user message.
func HintInToolResult() Option {
	return func(c *config) { c.hint = hintToolResult }
}

// WithIdentity names the provider's type (as its GetType does: "OpenAI", "Claude", …) and the model, for events and for
// what is known of providers. By default the wrapped model says it, if it can. An empty string leaves the default.
func WithIdentity(provider, model string) Option {
	return func(c *config) { c.provider, c.model = provider, model }
}

// WithHandler adds a handler of events; it may be given many times. Nil is an error.
func WithHandler(h callbacks.Handler) Option {
	return func(c *config) {
		if h == nil {
			c.reject("WithHandler", "the handler is nil")

			return
		}
		c.handlers = append(c.handlers, h)
	}
}

// WithRunID says where the run id of a call comes from; by default from [ContextWithRunID]. The
// function must be safe for concurrent use; nil is an error.
func WithRunID(f func(context.Context) string) Option {
	return func(c *config) {
		if f == nil {
			c.reject("WithRunID", "the function is nil")

			return
		}
		c.runID = f
	}
}

// WithBilledUsage makes the message's usage what all attempts were billed together. By default it describes the one
// logical answer: the prompt of the original request, and the sum of the completions.
func WithBilledUsage() Option {
	return func(c *config) { c.billedUsage = true }
}

// WithStreamingGenerate lets Generate run through the recovering stream. By default Generate passes through and only
// retries requests that failed.
func WithStreamingGenerate() Option {
	return func(c *config) { c.streamGenerate = true }
}

// WithWholeOutput holds the answer back until it is whole, for structured output that two attempts could not write
// together: an answer that breaks is asked for again from its start, and the consumer sees one of them only. Reasoning
// passes as it comes. It is bounded by [WithMaxBufferedBytes]. By default text passes as it comes and is continued.
func WithWholeOutput() Option {
	return func(c *config) { c.wholeOutput = true }
}

// WithMaxBufferedBytes bounds what is held back for tool calls that are not whole yet; default 16 MiB. A call that
// outgrows it ends the stream with an [ExhaustedError] that holds a [BufferError]. Must be more than 0.
func WithMaxBufferedBytes(n int) Option {
	return func(c *config) { c.setInt("WithMaxBufferedBytes", &c.maxBuffered, n, 1) }
}
