package faultmodel

import "github.com/cloudwego/eino/schema"

// rest collects what is left of a script after some of its text.
type rest struct {
	at    int          // bytes of text that are left out
	steps Script       // what is left
	cut   Script       // the pieces of the calls that had begun before
	begun map[int]bool // their indices
}

// From returns what an honest model sends to one who has the first at bytes of the script's text and nothing else.
// A chunk is split where its text is. Reasoning, silences and faults in front of that place are left out; a tool call
// that began in front of it was lost with the attempt, so it comes again, whole, before the next call, finish
// reason or usage record, or at the end. From(0) is the script.
func (s Script) From(at int) Script {
	r := rest{at: at, begun: make(map[int]bool)}
	pos := 0
	for _, step := range s.flat() {
		switch {
		case step.msg != nil:
			r.add(step.msg, pos)
			pos += len(step.msg.Content)
		case pos >= at:
			r.steps = append(r.steps, step)
		}
	}
	return r.join()
}

// add takes a chunk whose text begins at pos.
func (r *rest) add(msg *schema.Message, pos int) {
	left := *msg
	left.ToolCalls = nil
	for _, call := range msg.ToolCalls {
		if pos >= r.at && (call.Index == nil || !r.begun[*call.Index]) {
			left.ToolCalls = append(left.ToolCalls, call)
			continue
		}
		if call.Index != nil {
			r.begun[*call.Index] = true
		}
		r.cut = append(r.cut, Chunk(&schema.Message{Role: msg.Role, ToolCalls: []schema.ToolCall{call}}))
	}
	if pos >= r.at && len(left.ToolCalls) == len(msg.ToolCalls) {
		r.steps = append(r.steps, Chunk(msg))
		return
	}
	if pos < r.at {
		left.Content = left.Content[min(len(left.Content), r.at-pos):]
		left.ReasoningContent = ""
		left.AssistantGenMultiContent = nil
	}
	if left.Content != "" || left.ReasoningContent != "" || len(left.ToolCalls) > 0 || finishes(&left) {
		r.steps = append(r.steps, Chunk(&left))
	}
}

// join puts the calls that were cut where they belong.
func (r *rest) join() Script {
	place := len(r.steps)
	for i, step := range r.steps {
		if step.msg != nil && (len(step.msg.ToolCalls) > 0 || step.msg.ResponseMeta != nil) {
			place = i
			break
		}
	}
	out := append(Script{}, r.steps[:place]...)
	out = append(out, r.cut...)
	return append(out, r.steps[place:]...)
}

// withUsage reports what s and input cost.
func (s Script) withUsage(input []*schema.Message) Script {
	prompt := 0
	for _, msg := range input {
		prompt += promptBytes(msg)
	}
	usage := usageOf(prompt, s.Tokens())
	out := append(Script{}, s...)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].msg != nil && finishes(out[i].msg) {
			msg := clone(out[i].msg)
			msg.ResponseMeta.Usage = usage
			out[i] = Chunk(msg)
			return out
		}
	}
	return append(out, meta("", usage))
}

// finishes says whether msg carries a finish reason.
func finishes(msg *schema.Message) bool {
	return msg.ResponseMeta != nil && msg.ResponseMeta.FinishReason != ""
}
