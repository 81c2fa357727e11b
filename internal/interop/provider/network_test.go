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

// how is what an interruption is told to be.
type how struct {
	cause callbacks.Cause
	kind  callbacks.ErrorKind
}

// breakdown is one way in which the network breaks a stream.
type breakdown struct {
	name  string
	fault faultllm.Fault
	http2 bool
	limit time.Duration // of the HTTP client, on the whole exchange
	want  how
	// hidden is what clients that hide read errors make of it without the transport; the zero value is an end like any
	// other.
	hidden how
	// shown is what clients that decode every line by itself say instead.
	shown how
}

func breakdowns() []breakdown {
	at := faultllm.InText(1)
	reset := how{callbacks.CauseConnectionReset, callbacks.KindSSETransport}
	cut := how{callbacks.CauseConnectionReset, callbacks.KindBodyDecode}
	away := how{callbacks.CauseGoAway, callbacks.KindSSETransport}
	ended := how{callbacks.CauseTruncated, callbacks.KindTruncated}
	broken := how{callbacks.CauseMalformedFrame, callbacks.KindSSEParse}
	late := how{callbacks.CauseTimeout, callbacks.KindSSETransport}

	return []breakdown{
		{name: "reset", fault: faultllm.Reset(at), want: reset},
		{name: "cut", fault: faultllm.CutChunked(at), want: cut},
		{name: "cut in a line", fault: faultllm.CutLine(at), want: cut, shown: broken},
		{name: "clean end", fault: faultllm.CleanEnd(at), want: ended},
		{name: "clean end in a line", fault: faultllm.CleanCutLine(at), want: ended, shown: broken},
		{name: "malformed frame", fault: faultllm.MalformedJSON(at), want: broken, hidden: broken},
		{name: "time limit of the HTTP client", fault: faultllm.Stall(at), limit: 30 * time.Second, want: late},
		{name: "RST_STREAM NO_ERROR", http2: true, fault: faultllm.ResetStream(at, faultllm.H2NoError), want: reset},
		{name: "RST_STREAM INTERNAL_ERROR", http2: true, fault: faultllm.ResetStream(at, faultllm.H2InternalError), want: reset},
		{name: "RST_STREAM CANCEL", http2: true, fault: faultllm.ResetStream(at, faultllm.H2Cancel), want: reset},
		{name: "RST_STREAM REFUSED_STREAM", http2: true, fault: faultllm.ResetStream(at, faultllm.H2RefusedStream), want: reset},
		{name: "RST_STREAM ENHANCE_YOUR_CALM", http2: true, fault: faultllm.ResetStream(at, faultllm.H2EnhanceCalm), want: reset},
		{name: "GOAWAY NO_ERROR", http2: true, fault: faultllm.GoAway(at, faultllm.H2NoError), want: away},
		{name: "GOAWAY INTERNAL_ERROR", http2: true, fault: faultllm.GoAway(at, faultllm.H2InternalError), want: away},
	}
}

// TestEveryBreakdownOfTheNetwork breaks the connection in the middle of an answer. The transport tells what clients hide;
// without it their answers only end too soon, which is an interruption all the same.
func TestEveryBreakdownOfTheNetwork(t *testing.T) {
	for _, c := range clients.All() {
		for _, b := range breakdowns() {
			for _, plain := range []bool{false, true} {
				t.Run(c.String()+"/"+b.name, func(t *testing.T) {
					t.Parallel()
					w := rig.Wiring{HTTP2: b.http2, Plain: plain}
					if b.limit == 0 {
						b.check(t, c, w)

						return
					}
					synctest.Test(t, func(t *testing.T) { // a time limit needs a clock that a busy machine does not move
						w.Pipe = faultllm.NewPipe()
						b.check(t, c, w)
					})
				})
			}
		}
	}
}

func (b breakdown) check(t *testing.T, c clients.Client, w rig.Wiring) {
	t.Helper()
	r := newRig(t, c, w, faultllm.Config{Script: brief(), Plan: faultllm.InOrder(b.fault)})
	r.HTTP.Timeout = b.limit
	chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
	require.NoError(t, err)
	assert.Equal(t, "We leave at ten, not later.", rig.Concat(t, chunks).Content)
	broken := rig.EventsOf[callbacks.Interrupted](r)
	require.Len(t, broken, 1)
	assert.Equal(t, b.toldBy(c, w.Plain), how{broken[0].Cause, broken[0].ErrorKind}, broken[0].ErrorMessage)
}

// toldBy is what the client, and the transport if there is one, make of the breakdown.
func (b breakdown) toldBy(c clients.Client, plain bool) how {
	ended := how{callbacks.CauseTruncated, callbacks.KindTruncated}
	switch {
	case c.HidesReadErrors && b.shown != how{}:
		return b.shown
	case c.HidesReadErrors && plain && b.hidden != how{}:
		return b.hidden
	case c.HidesReadErrors && plain:
		return ended
	case c.Vendor == faultllm.OpenRouter && b.want == ended:
		return how{callbacks.CauseUnknown, callbacks.KindUnknown} // the client panics
	default:
		return b.want
	}
}
