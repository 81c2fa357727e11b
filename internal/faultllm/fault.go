package faultllm

import (
	"fmt"
	"time"
)

// Fault is one way in which a response breaks. Values are made by the functions below, can be compared and used again;
// the zero value is [None].
//
// A response that is not streamed has no positions: faults that break the connection or the JSON do it in the middle of
// the body, [Stall], [Hold] and [Pause] before the headers, and all others but [Status], [Refuse] and [EmptyBody] do not happen.
type Fault struct {
	kind    faultKind
	at      Position
	code    int
	retry   RetryAfter
	body    string
	errType string
	form    ErrorForm
	count   int
	every   time.Duration
	release <-chan struct{}

	oneIndex bool
}

type faultKind int

const (
	faultNone faultKind = iota
	faultReset
	faultCut
	faultCutLine
	faultCleanEnd
	faultCleanCutLine
	faultStall
	faultStatus
	faultInBand
	faultMalformed
	faultKeepAlives
	faultStallKeepingAlive
	faultSlowDrip
	faultHold
	faultEmptyBody
	faultNoFinish
	faultRefuse
	faultInBandStall
	faultComments
	faultResetStream
	faultGoAway
	faultPause
	faultLength
	faultUsage
	faultOneIndex
)

// None breaks nothing.
func None() Fault { return Fault{} }

// Reset ends the connection with a TCP RST: the client reads ECONNRESET. Frames sent before it can be read on Linux, as
// long as they fit into the client's socket buffer. On HTTP/2 the client may read [io.ErrUnexpectedEOF] instead: one of
// its goroutines takes the error from the other.
func Reset(at Position) Fault { return Fault{kind: faultReset, at: at} }

// CutChunked closes the connection inside the chunked body: the client reads [io.ErrUnexpectedEOF], or [io.EOF] from
// the request itself if at is [BeforeHeaders].
func CutChunked(at Position) Fault { return Fault{kind: faultCut, at: at} }

// CutLine is [CutChunked] in the middle of the next frame's line.
func CutLine(at Position) Fault { return Fault{kind: faultCutLine, at: at} }

// CleanEnd ends the body as if it were whole: the client reads [io.EOF].
func CleanEnd(at Position) Fault { return Fault{kind: faultCleanEnd, at: at} }

// CleanCutLine is [CleanEnd] in the middle of the next frame's line.
func CleanCutLine(at Position) Fault { return Fault{kind: faultCleanCutLine, at: at} }

// Stall sends nothing more until the client leaves or the server is closed.
func Stall(at Position) Fault { return Fault{kind: faultStall, at: at} }

// Hold sends nothing until release is closed or receives, then goes on.
func Hold(at Position, release <-chan struct{}) Fault {
	return Fault{kind: faultHold, at: at, release: release}
}

// Pause sends nothing for a time, then goes on.
func Pause(at Position, d time.Duration) Fault { return Fault{kind: faultPause, at: at, every: d} }

// Status refuses the request with a status code before anything is generated. The body is sent as it is; see
// [VendorError].
func Status(code int, retry RetryAfter, body string) Fault {
	return Fault{kind: faultStatus, at: BeforeHeaders(), code: code, retry: retry, body: body}
}

// Refuse is [Status] with the body of the vendor that is asked: see [Vendor.Error]. Gemini's says in its details too when
// to come back.
func Refuse(code int, retry RetryAfter) Fault {
	return Fault{kind: faultRefuse, at: BeforeHeaders(), code: code, retry: retry}
}

// InBandError sends an error object inside the stream, with status 200, and ends the body. Without errType it is the
// vendor's most usual error. See also [InBandForm].
func InBandError(at Position, errType, message string) Fault {
	return Fault{kind: faultInBand, at: at, errType: errType, body: message}
}

// MalformedJSON sends the next frame as a whole line with half of its JSON, and ends the body.
func MalformedJSON(at Position) Fault { return Fault{kind: faultMalformed, at: at} }

// KeepAlives sends n frames without meaning, waiting for every before each, then goes on: comments, pings (Anthropic), or
// chunks without text (Gemini and Ollama, which have no other).
func KeepAlives(at Position, n int, every time.Duration) Fault {
	return Fault{kind: faultKeepAlives, at: at, count: n, every: every}
}

// Comments is [KeepAlives] with comments of server-sent events on every wire, also on those whose clients do not take
// them.
func Comments(at Position, n int, every time.Duration) Fault {
	return Fault{kind: faultComments, at: at, count: n, every: every}
}

// StallKeepingAlive is [Stall] with a frame without meaning after every such time, at least a millisecond.
func StallKeepingAlive(at Position, every time.Duration) Fault {
	return Fault{kind: faultStallKeepingAlive, at: at, every: max(every, time.Millisecond)}
}

// SlowDrip sends the rest byte by byte, waiting for every before each byte.
func SlowDrip(at Position, every time.Duration) Fault {
	return Fault{kind: faultSlowDrip, at: at, every: every}
}

// EmptyBody is status 200 and nothing else.
func EmptyBody() Fault { return Fault{kind: faultEmptyBody} }

// AfterFinish is [CutChunked] behind the finish reason, before the end marker.
func AfterFinish() Fault { return CutChunked(Finished()) }

// NoFinish sends the whole answer and the end marker, but no finish reason. (Ollama's end marker is a line of its own:
// it comes without its done_reason.)
func NoFinish() Fault { return Fault{kind: faultNoFinish} }

// String names the fault, with its position where it has one.
func (f Fault) String() string {
	names := [...]string{
		"None", "Reset", "CutChunked", "CutLine", "CleanEnd", "CleanCutLine", "Stall", "Status", "InBandForm",
		"MalformedJSON", "KeepAlives", "StallKeepingAlive", "SlowDrip", "Hold", "EmptyBody", "NoFinish", "Refuse",
		"InBandStall", "Comments", "ResetStream", "GoAway", "Pause", "WrongLength", "FalseUsage", "OneIndex",
	}
	switch f.kind {
	case faultLength, faultUsage:
		return fmt.Sprintf("%s(%d)", names[f.kind], f.count)
	case faultNone, faultEmptyBody, faultNoFinish, faultOneIndex:
		return names[f.kind] + "()"
	case faultStatus, faultRefuse:
		return fmt.Sprintf("%s(%d)", names[f.kind], f.code)
	case faultInBand, faultInBandStall:
		if f.kind == faultInBand && f.form == FormVendor {
			return fmt.Sprintf("InBandError(%v, %q)", f.at, f.errType)
		}
		return fmt.Sprintf("%s(%v, %v, %q)", names[f.kind], f.at, f.form, f.errType)
	case faultResetStream, faultGoAway:
		return fmt.Sprintf("%s(%v, %d)", names[f.kind], f.at, f.code)
	case faultReset, faultCut, faultCutLine, faultCleanEnd, faultCleanCutLine, faultStall, faultMalformed,
		faultKeepAlives, faultStallKeepingAlive, faultSlowDrip, faultHold, faultComments, faultPause:
		return fmt.Sprintf("%s(%v)", names[f.kind], f.at)
	}
	return fmt.Sprintf("Fault(%d)", f.kind)
}
