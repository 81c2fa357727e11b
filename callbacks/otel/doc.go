// Package otelcallbacks tells OpenTelemetry what happens while broken streams are continued: as metrics, and as events of
// the span that is under way.
//
//	handler, err := otelcallbacks.New()
//	…
//	chat := continuation.Wrap(chatModel, continuation.WithHandler(handler))
//
// It is a module of its own, so that OpenTelemetry is required by those only who use it.
//
// # Metrics
//
// Where the semantic conventions for generative AI have a name, it is theirs; schema 1.41.0. All metrics carry
// gen_ai.operation.name ("chat"), gen_ai.provider.name and, if the model's name is known, gen_ai.request.model. The
// conventions' own names stand for OpenAI, Claude, Gemini and DeepSeek ("openai", "anthropic", "gcp.gemini", "deepseek");
// every other provider is named as the event names it.
//
//	gen_ai.client.token.usage {token}
//	    gen_ai.token.type
//	gen_ai.client.operation.duration s
//	    error.type?
//	gen_ai.client.operation.time_to_first_chunk s
//	carryon.interrupted_calls {call}
//	carryon.recovered_calls {call}
//	carryon.exhausted_calls {call}
//	    carryon.reason
//	carryon.cancelled_calls {call}
//	carryon.interruptions {interruption}
//	    error.type carryon.plan
//	carryon.continuations {continuation}
//	    carryon.plan
//	carryon.failed_continuations {continuation}
//	    error.type
//	carryon.open_retries {request}
//	    error.type
//	carryon.wait.duration s
//	    carryon.wait.before
//	carryon.joins {join}
//	    carryon.join.kind carryon.join.confidence
//	carryon.kept_text By
//	carryon.discarded_tool_calls {call}
//	carryon.discarded_tool_input By
//	carryon.restarts {restart}
//	carryon.late_errors {error}
//	    error.type
//	carryon.breaker_changes {change}
//	    carryon.breaker.state
//	carryon.checkpoint_failures {failure}
//	    carryon.checkpoint.operation
//	carryon.stalled_handlers {handler}
//	carryon.notices {notice}
//	    carryon.notice
//
// The token usage is what all attempts of a call were billed, as far as their provider reported it; a call without any
// reported usage adds nothing. Both gen_ai.client.operation metrics are of every call, whether it broke or not; an answer
// that came in one piece has no time to its first chunk. The share of calls that were recovered is
// carryon.recovered_calls by carryon.interrupted_calls. What each number means is said at [callbacks.ModelStats].
//
// # Cardinality
//
// No attribute of a metric holds a call id, run id, tool name or message. At most [DefaultMaxModels] pairs of provider
// and model are told apart (see [WithMaxModels]), and 64 values of each other attribute; what comes after so many is
// "_OTHER". Names are cut to 128 bytes.
//
// # Span events
//
// The span is that of the context that the caller gave to Stream or Generate, if it is recorded and has not ended. Its
// events have the names of the log records (llm_stream_interrupted and so on) and attributes named "carryon." and the
// field. Error messages, which a provider may fill with the request, are left out, as is everything that a model wrote,
// but for the names of tools whose calls were cut off. Progress of tool calls is left out.
package otelcallbacks
