package callbacks

// Cause says what broke an attempt.
type Cause string

// The causes of an interruption.
const (
	CauseConnectionReset       Cause = "connection_reset"        // the connection ended before the body did
	CauseGoAway                Cause = "goaway"                  // HTTP/2 GOAWAY
	CauseProvider5xx           Cause = "provider_5xx"            // a 5xx status; see the event's Status
	CauseIdleStall             Cause = "idle_stall"              // no content within the limit
	CauseTruncated             Cause = "truncated"               // a clean end without a finish reason
	CauseMalformedFrame        Cause = "malformed_frame"         // a frame that cannot be parsed
	CauseProviderError         Cause = "provider_error"          // an error inside the stream
	CauseRateLimited           Cause = "rate_limited"            // 429, or its name inside the stream
	CauseOverloaded            Cause = "overloaded"              // 529 or 503, or its name inside the stream
	CauseTimeout               Cause = "timeout"                 // a time limit that is not the caller's
	CauseToolCallTruncated     Cause = "tool_call_truncated"     // a finish reason beside a tool call that is still open
	CauseRestarted             Cause = "restarted"               // a continuation that began the answer anew
	CauseResumedFromCheckpoint Cause = "resumed_from_checkpoint" // another process takes over
	CausePermanent             Cause = "permanent"               // an error that no repetition mends
	CauseUnknown               Cause = "unknown"
)

// ErrorKind says at which layer an attempt broke.
type ErrorKind string

// The kinds of errors.
const (
	KindSSETransport  ErrorKind = "sse_transport"  // the connection
	KindSSEParse      ErrorKind = "sse_parse"      // a frame's content
	KindBodyDecode    ErrorKind = "body_decode"    // the body's own framing: chunked coding, content length, compression
	KindProviderError ErrorKind = "provider_error" // the provider said so
	KindIdleStall     ErrorKind = "idle_stall"
	KindTruncated     ErrorKind = "truncated"
	KindUnknown       ErrorKind = "unknown"
)

// JoinKind says how a continuation met the text before it.
type JoinKind string

// The kinds of joins.
const (
	JoinPlain     JoinKind = "plain"     // nothing was cut
	JoinSpace     JoinKind = "space"     // white space that both sides had was cut once
	JoinOverlap   JoinKind = "overlap"   // the continuation repeated the end of the text, and that was cut
	JoinPreamble  JoinKind = "preamble"  // the continuation began by speaking of continuing, and that was cut
	JoinRestart   JoinKind = "restart"   // the continuation repeated the whole text, and that was swallowed
	JoinUndecided JoinKind = "undecided" // time or bytes ran out: joined as it came
	JoinEmpty     JoinKind = "empty"     // the continuation brought no text: the answer was whole
)

// Confidence says how sure a join is.
type Confidence string

// The levels of confidence.
const (
	// ConfidenceHigh says that nothing at the seam speaks against the join.
	ConfidenceHigh Confidence = "high"
	// ConfidenceMedium says that white space or a part of a word may be missing at the seam, or stand there twice.
	ConfidenceMedium Confidence = "medium"
	// ConfidenceLow says that what stands behind the seam may be no continuation at all: somebody should look at it.
	ConfidenceLow Confidence = "low"
)

// Outcome says how a model call ended.
type Outcome string

// The outcomes of a call.
const (
	OutcomeComplete  Outcome = "complete"  // the answer came to its end, and no continuation brought it there
	OutcomeRecovered Outcome = "recovered" // a continuation brought it to its end
	OutcomeFailed    Outcome = "failed"    // an error that is not continued; one before any content is one
	OutcomeExhausted Outcome = "exhausted" // no further continuation was tried: the caller gets the partial answer in an error
	OutcomeCancelled Outcome = "cancelled" // the caller ended it, or another process took it over
)

// NoticeKind says what a [Notice] is about.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeNested: another decorator is above this one, which passes everything through.
	NoticeNested NoticeKind = "nested_decorator"
	// NoticeToolCallPassed: a tool call with unusable arguments was delivered as it came.
	NoticeToolCallPassed NoticeKind = "tool_call_passed_as_is"
	// NoticeNoFinishReason: an answer ended without a finish reason, and a probe did not show that it was cut.
	NoticeNoFinishReason NoticeKind = "finish_reason_not_sent"
	// NoticePrefillRefused: the provider refused a trailing assistant message; a user turn is used from now on.
	NoticePrefillRefused NoticeKind = "prefill_refused"
	// NoticeThoughtRefused: the provider refused a request for the thoughts in it; it is sent once more without any.
	NoticeThoughtRefused NoticeKind = "thought_refused"
	// NoticeHintRefused: the provider refused a request with a hint; none is sent from now on.
	NoticeHintRefused NoticeKind = "hint_refused"
	// NoticeReplayed: a finished answer was delivered from the checkpoint store; the model was not asked.
	NoticeReplayed NoticeKind = "answer_replayed"
)
