package faultllm

import "slices"

// WithOneIndex is f, of an answer all of whose tool calls have the index 0 as far as it comes, on wires on which calls have
// one. Faults at [AtByte] and those that let the answer come whole are as they are; for the latter there is [OneIndex].
func WithOneIndex(f Fault) Fault {
	f.oneIndex = true
	return f
}

// overOneIndex returns the events with one index for all calls, if that is wanted.
func (f Fault) overOneIndex(events []event) []event {
	if !f.oneIndex {
		return events
	}
	out := slices.Clone(events)
	for i := range out {
		if out[i].kind == eventCall || out[i].kind == eventArgs {
			out[i].call = 0
		}
	}
	return out
}
