package faultllm

const bytesPerToken = 4

// tokens counts the tokens of a run that have their first byte in [from, to).
func tokens(from, to int) int { return wholeTokens(to) - wholeTokens(from) }

func wholeTokens(n int) int { return (n + bytesPerToken - 1) / bytesPerToken }

// Needed returns the completion tokens that the whole answer costs when nothing is generated twice.
func Needed(a Answer) int {
	n := wholeTokens(len(a.Reasoning())) + wholeTokens(len(a.Text()))
	for _, c := range a.ToolCalls() {
		n += wholeTokens(len(c.Name) + len(c.Args))
	}
	return n
}

// PromptTokens returns the tokens of a request: of each message the text, the reasoning and each call (name and
// arguments) as a run of its own, and all tool definitions, as JSON, as one more run.
func PromptTokens(r Request) int {
	n := wholeTokens(r.toolBytes)
	for _, m := range r.Messages {
		n += wholeTokens(len(m.Text)) + wholeTokens(len(m.Reasoning))
		for _, c := range m.ToolCalls {
			n += wholeTokens(len(c.Name) + len(c.Args))
		}
	}
	return n
}
