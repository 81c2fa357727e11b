package interop

import (
	"time"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// quick is the limit for silence in tests that stall on purpose. All others keep the default, so that a slow machine
// is no fault.
const quick = 200 * time.Millisecond

// breakage is one way to break a stream at any place.
type breakage struct {
	name  string
	at    func(faultllm.Position) faultllm.Fault
	cause callbacks.Cause
	// harmless says that the answer comes whole nevertheless.
	harmless bool
	// clean says that the body ends cleanly, so that the client passes on a finish reason that it has.
	clean bool
	// lossy says that the provider generates one more frame that never arrives.
	lossy bool
	opts  []continuation.Option
}

// breakages returns those of one transport: the slow ones are shared out between the two.
func breakages(w wiring) []breakage {
	impatient := []continuation.Option{continuation.WithIdleTimeout(quick), continuation.WithFirstContentTimeout(quick)}
	inBand := func(errType string) func(faultllm.Position) faultllm.Fault {
		return func(p faultllm.Position) faultllm.Fault { return faultllm.InBandError(p, errType, "it broke") }
	}

	slow := []breakage{
		{name: "stall", at: faultllm.Stall, cause: callbacks.CauseIdleStall, opts: impatient},
		{
			name: "too many keep-alives", cause: callbacks.CauseMalformedFrame,
			at: func(p faultllm.Position) faultllm.Fault { return faultllm.KeepAlives(p, 1<<22, 0) },
		},
	}
	if w == recordingTransport {
		slow = []breakage{
			{
				name: "stall with keep-alives", cause: callbacks.CauseIdleStall, opts: impatient,
				at: func(p faultllm.Position) faultllm.Fault { return faultllm.StallKeepingAlive(p, 20*time.Millisecond) },
			},
			{
				name: "slow drip", harmless: true,
				at: func(p faultllm.Position) faultllm.Fault { return faultllm.SlowDrip(p, 0) },
			},
		}
	}

	return append(slow, []breakage{
		{name: "reset", at: faultllm.Reset, cause: callbacks.CauseConnectionReset},
		{name: "cut", at: faultllm.CutChunked, cause: callbacks.CauseConnectionReset},
		{name: "cut line", at: faultllm.CutLine, cause: callbacks.CauseConnectionReset, lossy: true},
		{name: "clean end", at: faultllm.CleanEnd, cause: callbacks.CauseTruncated, clean: true},
		{name: "clean end in a line", at: faultllm.CleanCutLine, cause: callbacks.CauseTruncated, clean: true, lossy: true},
		{name: "malformed frame", at: faultllm.MalformedJSON, cause: callbacks.CauseMalformedFrame, lossy: true},
		{name: "server_error", at: inBand("server_error"), cause: callbacks.CauseProviderError},
		{name: "overloaded_error", at: inBand("overloaded_error"), cause: callbacks.CauseOverloaded},
		{name: "rate_limit_error", at: inBand("rate_limit_error"), cause: callbacks.CauseRateLimited},
		{
			name: "keep-alives", harmless: true,
			at: func(p faultllm.Position) faultllm.Fault { return faultllm.KeepAlives(p, 20, 0) },
		},
		{
			name: "hold", harmless: true,
			at: func(p faultllm.Position) faultllm.Fault { return faultllm.Hold(p, released()) },
		},
	}...)
}

func released() <-chan struct{} {
	c := make(chan struct{})
	close(c)

	return c
}
