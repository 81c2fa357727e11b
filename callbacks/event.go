package callbacks

import (
	"log/slog"
	"time"

	"github.com/eino-carryon/carryon/snapshot"
)

// Event is one of the structs of this package; no other type can be one. Events are values: a handler may keep them.
// None holds prompts, answers, tool arguments, keys or headers, but for [Started.PromptText], which is empty unless
// asked for. Error messages are the provider's own, cut by [BoundMessage].
type Event interface {
	// Name returns the log name of the event's type, such as "llm_stream_interrupted".
	Name() string
	// Of returns the model call that the event belongs to.
	Of() Call
	attrs() []slog.Attr // the fields of the record, without those of the call
	count(*ModelStats)
}

// MaxErrorMessage bounds the error message in an event, in bytes. See [BoundMessage].
const MaxErrorMessage = 1024

// Call names the model call that an event belongs to: one Stream or Generate of the caller. All events of one call
// share its CallID.
type Call struct {
	CallID   string // unique in all processes
	Provider string // the wrapped model's type, such as "OpenAI"; "unknown" if it does not say
	Model    string // the model's name; "unknown" if neither the options nor WithIdentity say it
	RunID    string // the caller's run; empty if none was given
	TurnID   string // the ordinal of the answer in its conversation: one more than the assistant messages of the input
}

// Of returns c.
func (c Call) Of() Call { return c }

// Interrupted says that an attempt broke and which plan follows.
type Interrupted struct {
	Call
	OriginalAttempt          int // the request that broke, counted over the whole call from 0, open retries included
	ContinuationAttempt      int // the continuation that broke; 0 is the original answer
	ErrorKind                ErrorKind
	Cause                    Cause
	ErrorMessage             string
	Status                   int            // HTTP status of the error; 0 if none is known
	CommittedTextBlocks      int            // text blocks kept that were followed by a tool call
	CommittedPartialText     bool           // text is kept that was still being written
	DiscardedPartialToolUses int            // tool calls that had not arrived whole
	DiscardedReasoningBlocks int            // thoughts that had not arrived whole
	UsageFlushed             bool           // the broken attempt had reported all its usage
	Usage                    snapshot.Usage // of the broken attempt
	Plan                     snapshot.Plan
}

// Started says that a continuation is due: it waits for Backoff, then asks. Each Started is followed by exactly one
// [Completed], [Failed] or [Cancelled] of the same ContinuationAttempt.
type Started struct {
	Call
	ContinuationAttempt  int // counts from 1
	Backoff              time.Duration
	Plan                 snapshot.Plan
	CommittedTextBlocks  int    // as in Interrupted
	CommittedPartialText bool   // as in Interrupted
	CommittedTextBytes   int    // all text that the request or the answer keeps
	CommittedToolCalls   int    // tool calls that are kept
	HistoryRewrite       string // "none" (no request), "unchanged", "assistant" or "assistant+user"
	Prompt               string // "built-in", "custom" or "none"
	PromptText           string // empty unless asked for
}

// Completed says that a continuation brought the answer to its end.
type Completed struct {
	Call
	ContinuationAttempt int
	CompletionReason    string         // the finish reason
	Usage               snapshot.Usage // of this continuation
	Answer              snapshot.Usage // of the whole answer, as its message reports it
	Billed              snapshot.Usage // of all attempts together
}

// Failed says that a continuation could not be opened, was refused, or broke.
type Failed struct {
	Call
	ContinuationAttempt int
	ErrorKind           ErrorKind
	Cause               Cause
	ErrorMessage        string
	Usage               snapshot.Usage // of this continuation
}

// Cancelled says that the caller ended a continuation: by its context, by closing the reader, or by an interrupt.
type Cancelled struct {
	Call
	ContinuationAttempt int
	Reason              string
}

// Exhausted says that no further continuation is tried and the caller gets an error.
type Exhausted struct {
	Call
	Attempts    int // continuations that were started
	FinalReason string
	Billed      snapshot.Usage
}

// Ended says that a model call is over. It is sent once for every Stream and Generate of the caller, whether the answer
// broke or not, when the caller has been given the end or the error, or has let go of the reader: so rates by call can be
// computed. It is the last event of its call, but for a [HandlerStalled] of a handler that took too long over it. Only
// what is passed through to the wrapped model untouched has none: the calls of a decorator below another one, and of one
// that is given no continuations.
type Ended struct {
	Call
	Outcome      Outcome
	Requests     int            // made of the provider, open retries and continuations included
	Duration     time.Duration  // from the caller's Stream or Generate to the end of the answer, or to the error
	FirstContent time.Duration  // from there to the first content; 0 if none came, and for an answer that came in one piece
	FinishReason string         // that the caller got; empty if none
	Cause        Cause          // of the error that the caller gets; empty if none, or if the caller ended the call
	Answer       snapshot.Usage // of the answer as far as it came
	Billed       snapshot.Usage // of all attempts together, as far as they reported it before they were left
}

// PartialToolUseDiscarded records a tool call that did not arrive whole, for statistics.
type PartialToolUseDiscarded struct {
	Call
	ToolName          string
	PartialInputBytes int
	Reason            string
}

// ToolCallCancel tells a consumer to forget a tool call that [ToolCallProgress] may have announced.
type ToolCallCancel struct {
	Call
	ID       string
	ToolName string
	Reason   string
}

// StreamReset tells a consumer to forget what it showed of this answer: it starts over.
type StreamReset struct {
	Call
	Reason string
}

// Joined tells how a continuation was joined to the text before it.
type Joined struct {
	Call
	ContinuationAttempt int
	Kind                JoinKind
	Overlap             int // bytes of the continuation that repeated the text before it, and were cut
	Confidence          Confidence
}

// OpenRetried says that a request failed before any content and is made again after Backoff.
type OpenRetried struct {
	Call
	Attempt      int // counts from 1
	Backoff      time.Duration
	ErrorKind    ErrorKind
	Cause        Cause
	ErrorMessage string
	Status       int // HTTP status of the error; 0 if none is known
}

// ToolCallProgress tells how much of a tool call has arrived while it is held back; at most four a second.
type ToolCallProgress struct {
	Call
	Index    int
	ID       string
	ToolName string
	Bytes    int
}

// CheckpointFailed reports a checkpoint store's failure, once an episode. The stream is not affected.
type CheckpointFailed struct {
	Call
	Operation    string // "get", "put", "append", "delete"; "encode" for values that no checkpoint can hold
	ErrorMessage string
}

// BreakerChanged reports that the circuit breaker changed its state.
type BreakerChanged struct {
	Call
	From, To string
}

// LateError reports an error that came after the answer was complete, and changed nothing.
type LateError struct {
	Call
	ErrorKind    ErrorKind
	Cause        Cause
	ErrorMessage string
}

// HandlerStalled reports that a handler took too long and gets nothing more from this stream.
type HandlerStalled struct {
	Call
	Handler int    // its place among the handlers of the model, from 0
	Event   string // the name of the event that it was handling
	Limit   time.Duration
}

// Notice reports something that needs no action and that nothing else reports.
type Notice struct {
	Call
	Kind    NoticeKind
	Message string
}
