// Package faultllm is a language model provider on loopback that breaks its streams on purpose.
//
// It is real where it matters: a TCP listener on 127.0.0.1, HTTP/1.1, the wire format of a vendor, and broken
// connections that a client sees as it sees them in life. It is scripted where a model would be random: a [Script]
// says what is answered, a [Plan] says what breaks. It is for tests and examples only.
//
// # Wire
//
// OpenAI chat completions at POST {URL}/chat/completions, streamed as server-sent events (a role chunk, deltas of
// reasoning_content, content and tool_calls, a finish chunk, a usage chunk when stream_options.include_usage asks for
// it, "data: [DONE]") or whole. Each request is validated as the vendor would: a history that the vendor refuses is a
// 400 with an error object. Model names and ids are invented. Other wires fit behind the unexported interface wire.
//
// # Which answer
//
// The answer is a function of the conversation alone; see [Script].
//
// # The honesty rule
//
// A request that carries the partial answer is continued from exactly there; any other request is answered from the
// start. A request carries it when its messages are those of the turn being answered, then assistant(partial), then at
// most one user message, and partial without its trailing white space is a beginning of the scripted text. The
// continuation starts at the byte behind the trimmed partial, so white space that was trimmed is sent again. Tool calls
// are made in every continuation, as no partial answer carries any. Reasoning is not thought again unless
// [Config.Rethink] is set. [Continuer] holds the ways to be less faithful than that.
//
// # Billing
//
// A token is four bytes of one run of the answer, the last one of a run may be shorter. The runs are: the whole
// reasoning, the whole text, and, for each tool call, its name with its arguments behind it. A token is billed to the
// request that generates its first byte. So the parts of an answer that was continued honestly add up to exactly
// [Needed], wherever it broke; every token above that was generated twice, as trimmed white space that begins a token
// is. Bytes that are not in the script (a preamble) are a run of their own. Prompt tokens are counted by [PromptTokens]
// on the request that was really sent.
//
// The prompt is billed once the response's headers are out, each token when it is generated: what broke on the way to
// the client is billed too, and told apart as [Record.Lost]. A refusal bills nothing.
package faultllm
