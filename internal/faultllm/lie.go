package faultllm

// WrongLength says in the headers of a streamed response of HTTP/1.1 that its body has n bytes: of a longer one the rest is
// not sent, and the client reads [io.EOF]; behind a shorter one it reads [io.ErrUnexpectedEOF].
func WrongLength(n int) Fault { return Fault{kind: faultLength, count: n} }

// FalseUsage sends the whole answer, and a usage record at its end that says so many tokens for the prompt and for the
// answer. What came before it, on wires that tell the usage earlier too, was another one.
func FalseUsage(prompt, completion int) Fault {
	return Fault{kind: faultUsage, code: prompt, count: completion}
}

// OneIndex sends the whole answer, and all its tool calls with the index 0, on wires on which calls have one.
func OneIndex() Fault { return Fault{kind: faultOneIndex} }

// lies says whether the fault is an answer that is whole and untrue.
func (f Fault) lies() bool {
	return f.kind == faultLength || f.kind == faultUsage || f.kind == faultOneIndex
}

// untrue returns what a model says that lies.
func (f Fault) untrue(said []event) []event {
	out := append([]event(nil), said...)
	for i := range out {
		e := &out[i]
		switch {
		case f.kind == faultUsage && (e.kind == eventUsage || e.kind == eventDone):
			e.usage = usage{prompt: f.code, completion: f.count}
		case f.kind == faultOneIndex && (e.kind == eventCall || e.kind == eventArgs):
			e.call = 0
		}
	}
	return out
}

// Redact is thinking that the provider does not show: on the wire of [Anthropic] a block of its own, on the others
// nothing.
func Redact(data string) Part { return Part{kind: partRedacted, pieces: []string{data}} }

// redacted says whether some answer has this block.
func (s Script) redacted(data string) bool {
	for _, t := range s {
		for _, p := range t.Answer.Parts {
			if p.kind == partRedacted && p.pieces[0] == data {
				return true
			}
		}
	}
	return false
}
