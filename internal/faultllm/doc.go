// Package faultllm is a language model provider on loopback that breaks its streams on purpose.
//
// It is real where it matters: a TCP listener on 127.0.0.1, HTTP/1.1 and HTTP/2, the wire formats of the vendors, and broken
// connections that a client sees as it sees them in life. It is scripted where a model would be random: a [Script]
// says what is answered, a [Plan] says what breaks. It is for tests and examples only.
//
// # Wires
//
// One server speaks the formats of all [Vendors], each at its own paths: chat completions of OpenAI, and as DeepSeek,
// Qwen, OpenRouter and Ark speak them (errors, keep-alives, reasoning and signatures, marks to continue a message); the
// responses of Ark, which are stored, where a request asks for it, once they came to their end; the messages of
// Anthropic; generateContent of Gemini; /api/chat of Ollama. Answers are streamed or whole, over HTTP/1.1 or over HTTP/2
// without TLS ([HTTP2Client]). [Server.BaseURL] is what a vendor's client is given.
//
// Each request is validated as the vendor would: a history that the vendor refuses is a 400 in the vendor's form and, as
// far as they are published, in its words. A signature is a keyed hash of what it signs ([Sign], [SignCall]), so one that
// does not belong to its thinking is refused too. Model names and ids are invented. On the wires of Gemini and Ollama a
// call comes whole and without its id.
//
// # Sources
//
// The frames are written after what the vendors publish:
//
//   - OpenAI: https://platform.openai.com/docs/api-reference/chat-streaming
//   - Anthropic: https://platform.claude.com/docs/en/build-with-claude/streaming, and for its errors
//     https://platform.claude.com/docs/en/api/errors
//   - Gemini: https://ai.google.dev/api/generate-content, and for its errors
//     https://cloud.google.com/apis/design/errors
//   - Ollama: https://github.com/ollama/ollama/blob/main/docs/api.md
//   - DeepSeek: https://api-docs.deepseek.com/api/create-chat-completion
//   - Qwen: https://help.aliyun.com/zh/model-studio/qwen-api-reference
//   - Ark: https://www.volcengine.com/docs/82379/1494384, its responses https://www.volcengine.com/docs/82379/1569618 and
//     their streams https://www.volcengine.com/docs/82379/1599499
//   - OpenRouter: https://openrouter.ai/docs/api-reference/streaming
//   - Mistral's roles: the chat templates that its models are published with
//
// What they do not publish (what is refused, and in which words) is written after reports of it and after what the
// clients expect; the tests of this package name each rule.
//
// Where vendors differ on a conversation that ends in an assistant message, so does the server: Anthropic, Gemini,
// Ollama, OpenRouter, Ark's chat and (unlike the real one) OpenAI continue it; DeepSeek refuses it without its mark at its
// beta path, and Ark's responses without theirs; Qwen answers it anew without its mark. [Config.RefusePrefill] refuses it, but for Ollama, which answers it anew.
//
// Providers also lie, which are faults too: [WrongLength], [FalseUsage], [OneIndex], [RetryAfterText]; a finish reason may
// be any word, an error text of any length.
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
