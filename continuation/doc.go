// Package continuation decorates an Eino chat model so that a stream that breaks in mid answer is continued: the consumer
// sees one stream, with nothing twice, nothing lost, and never half a tool call.
//
//	m := continuation.Wrap(chatModel)
//
// No provider can resume a stream that was cut. But it can be asked to continue: what has arrived goes into the history
// as the assistant's partial answer, and the rest is asked for. Which way that goes is the plan, decided by
// [snapshot.Decide]: ContinueText goes on with the text, SynthesizeToolUse ends the answer with the tool calls that
// arrived whole, TruncateBeforeTool drops half a tool call and goes on with the text before it, and WholeRestart asks
// again when nothing can be kept.
//
// # What the consumer can rely on
//
//   - If nothing breaks, nothing changes: the chunks are the wrapped model's own, and so are the requests.
//   - The chunks of a recovered answer concatenate to one message, as schema.ConcatMessages makes it.
//   - No byte is delivered twice, taken back or lost.
//   - A tool call is held until it is whole. Text and reasoning pass as they come.
//   - An error end is never a clean io.EOF.
//   - The caller's control wins over every recovery: its context, closing the reader, interrupts of graphs and agents.
//
// # Phases
//
// One call of Stream goes through these phases, all inside the consumer's Recv:
//
//	   ┌────────────────────────── wait is over ──────────────────────────┐
//	   ▼                                                                  │
//	opening ──reader──┬── first answer, restart ──▶ streaming ──┐         │
//	   │              ├── continuation ──▶ joining ──decided──▶ │         │
//	   │              └── was it cut? ──▶ probing ──▶ joining   ├─break─▶ waiting
//	   │                                                        │
//	   └─ fails for good                      answer is whole, exhausted,
//	              │                           tool calls to run, caller's control
//	              ▼                                             ▼
//	            ended ◀─────────────────────────────────────────┘
//
// A request that fails before any content goes from opening, or from the first read, to waiting as well.
package continuation
