package continuation

import (
	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// verdict is what the end of an attempt means for the call.
type verdict int

const (
	verdictComplete    verdict = iota // the answer is whole
	verdictInterrupted                // it is not, and a plan follows
	verdictProbe                      // it may be; one continuation tells
	verdictNotOpened                  // nothing came; the request may be made again
	verdictFatal                      // the error goes to the caller
)

// ending is all that is looked at when an attempt has ended and the caller did not end it.
type ending struct {
	err     error // what the attempt ended with; io.EOF is a clean end
	class   Class // of err, if it is not io.EOF
	finish  finish
	open    bool // a tool call is still open
	whole   bool // a tool call arrived whole
	content bool // content came in this call
	text    bool // text came in this call
	media   bool // a media part came in this call

	malformed bool       // a tool call came that nobody can run
	rule      finishRule // what a clean end without a finish reason means
	proof     bool       // the provider proved the end by its usage record
}

// judge decides in a fixed order: a finish reason first, whatever came after it; then a clean end; then the error.
func (e ending) judge() (verdict, Class) {
	switch e.finish {
	case finishNone:
	case finishDisguised:
		return e.judgeDisguised()
	case finishComplete, finishTools:
		if e.open {
			return verdictInterrupted, truncated(callbacks.CauseToolCallTruncated)
		}

		return verdictComplete, Class{}
	default: // length and filtered reasons are the provider's last word
		return verdictComplete, Class{}
	}
	if isEOF(e.err) {
		return e.judgeEOF(), truncated(callbacks.CauseTruncated)
	}

	return e.judgeError(), e.class
}

// ordinary reports whether the answer ended of itself, at no limit and with no refusal.
func (e ending) ordinary() bool { return e.finish == finishComplete || e.finish == finishTools }

// judgeDisguised decides on a reason that means an error. Where the client tells which one, that may be one for good.
func (e ending) judgeDisguised() (verdict, Class) {
	class := Class{Kind: Transient, Cause: callbacks.CauseProviderError, ErrorKind: callbacks.KindProviderError}
	if has[*inBandError](e.err) && e.class.Kind != Unknown {
		class = e.class
	}
	switch {
	case class.Permanent():
		return verdictFatal, class
	case !e.content:
		return verdictNotOpened, class
	default:
		return verdictInterrupted, class
	}
}

func truncated(c callbacks.Cause) Class {
	return Class{Kind: Transient, Cause: c, ErrorKind: callbacks.KindTruncated}
}

func (e ending) judgeEOF() verdict {
	switch {
	case !e.content:
		return verdictNotOpened
	case e.open:
		return verdictInterrupted
	case e.proof || e.rule == finishOptional && (e.text || e.whole || e.media || e.malformed):
		return verdictComplete
	case e.rule == finishUnknown && (e.text || e.media || e.malformed) && !e.whole:
		return verdictProbe
	default:
		return verdictInterrupted
	}
}

func (e ending) judgeError() verdict {
	switch {
	case e.class.Permanent():
		return verdictFatal
	case e.content:
		return verdictInterrupted
	case e.class.Kind == Unknown:
		return verdictFatal
	default:
		return verdictNotOpened
	}
}

// cause returns the class's cause; every interruption has one.
func (c Class) cause() callbacks.Cause {
	switch {
	case c.Cause != "":
		return c.Cause
	case c.Permanent():
		return callbacks.CausePermanent
	case c.Kind == RateLimited:
		return callbacks.CauseRateLimited
	case c.Kind == Overloaded:
		return callbacks.CauseOverloaded
	default:
		return callbacks.CauseUnknown
	}
}

// errorKind returns the class's error kind, or the one that fits its cause.
func (c Class) errorKind() callbacks.ErrorKind {
	if c.ErrorKind != "" {
		return c.ErrorKind
	}
	switch c.cause() {
	case callbacks.CauseConnectionReset, callbacks.CauseGoAway, callbacks.CauseTimeout:
		return callbacks.KindSSETransport
	case callbacks.CauseMalformedFrame:
		return callbacks.KindSSEParse
	case callbacks.CauseIdleStall:
		return callbacks.KindIdleStall
	case callbacks.CauseTruncated, callbacks.CauseToolCallTruncated:
		return callbacks.KindTruncated
	case callbacks.CauseProvider5xx, callbacks.CauseProviderError, callbacks.CauseRateLimited,
		callbacks.CauseOverloaded, callbacks.CausePermanent:
		return callbacks.KindProviderError
	default:
		return callbacks.KindUnknown
	}
}

// blocks counts what an interrupted answer keeps and loses, for events.
type blocks struct {
	textBlocks  int
	partialText bool
	calls       int
	lostCalls   []snapshot.ToolCall
	lostThought int
}

func blocksOf(s snapshot.Snapshot) blocks {
	b := blocks{
		textBlocks: s.TextBlocks, partialText: s.TextOpen && s.HasText(),
		calls: len(s.Whole()), lostCalls: s.Partial(),
	}
	if s.Reasoning != "" && !s.ReasoningWhole {
		b.lostThought = 1
	}

	return b
}
