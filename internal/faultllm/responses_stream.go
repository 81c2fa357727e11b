package faultllm

import "bytes"

func (*responsesEncoder) contentType() string { return "text/event-stream" }

func (*responsesEncoder) keepAlive() []byte { return []byte(": keep-alive\n\n") }

// events puts what is said into items of the output, each with one part. The response is told again when all is said;
// without a finish reason it is not.
func (e *responsesEncoder) events(said []event) []event {
	var b responsesItems
	b.e = e
	finish := ""
	for _, ev := range said {
		switch ev.kind {
		case eventRole:
			b.add(ev)
			b.add(event{kind: eventProgress})
		case eventReasoning, eventText:
			if !b.open || b.item.of != ev.kind {
				b.begin(event{of: ev.kind})
				b.add(b.like(event{kind: eventPart}))
			}
			b.say(ev)
		case eventCall:
			b.leave()
			b.open = true
			ev.of, ev.block, ev.item = eventCall, b.next, e.itemID(eventCall, b.next)
			b.item = ev
			b.next++
			b.add(ev)
		case eventArgs:
			b.say(ev)
		case eventFinish:
			finish = ev.finish
		case eventDone:
			b.leave()
			if finish != "" {
				b.add(event{kind: eventFinish, finish: finish, usage: ev.usage})
			}
			b.add(event{kind: eventDone})
		default: // usage comes with the end.
		}
	}
	return b.out
}

// responsesItems plans the items of the output.
type responsesItems struct {
	e    *responsesEncoder
	out  []event
	next int // the number of the next item
	open bool
	item event // the one that is open
}

// like returns ev as one of the open item.
func (b *responsesItems) like(ev event) event {
	ev.of, ev.block, ev.item, ev.whole = b.item.of, b.item.block, b.item.item, b.item.whole
	ev.id, ev.name = b.item.id, b.item.name
	return ev
}

func (b *responsesItems) begin(ev event) {
	b.leave()
	b.open = true
	ev.block, ev.item = b.next, b.e.itemID(ev.of, b.next)
	b.item = ev
	b.next++
	b.add(b.like(event{kind: eventOpen}))
}

func (b *responsesItems) say(ev event) {
	b.item.whole += ev.text
	ev.of, ev.block, ev.item = b.item.of, b.item.block, b.item.item
	b.add(ev)
}

func (b *responsesItems) leave() {
	if !b.open {
		return
	}
	b.add(b.like(event{kind: eventTextDone}))
	if b.item.of != eventCall {
		b.add(b.like(event{kind: eventPartDone}))
	}
	b.add(b.like(event{kind: eventClose}))
	b.e.output = append(b.e.output, b.e.item(b.item, "completed"))
	b.open = false
}

func (b *responsesItems) add(ev event) {
	ev.seq = len(b.out)
	b.out = append(b.out, ev)
}

// responsesFrame is the data of any event.
type responsesFrame struct {
	Type     string           `json:"type"`
	Response *responsesObject `json:"response,omitempty"`
	Index    *int             `json:"output_index,omitempty"`
	ItemID   string           `json:"item_id,omitempty"`
	Content  *int             `json:"content_index,omitempty"`
	Summary  *int             `json:"summary_index,omitempty"`
	Item     *responsesItem   `json:"item,omitempty"`
	Part     *responsesPart   `json:"part,omitempty"`
	Delta    *string          `json:"delta,omitempty"`
	Text     *string          `json:"text,omitempty"`
	Args     *string          `json:"arguments,omitempty"`
	Code     *string          `json:"code,omitempty"`
	Message  string           `json:"message,omitempty"`
	Seq      int              `json:"sequence_number"`
}

func (f responsesFrame) bytes() []byte { return named(f.Type, marshal(f)) }

func (e *responsesEncoder) frame(ev event) []byte {
	if ev.kind == eventDone {
		return []byte("data: [DONE]\n\n")
	}
	return e.event(ev).bytes()
}

func (e *responsesEncoder) malformed(ev event) []byte {
	doc := marshal(e.event(ev))
	return named(e.event(ev).Type, doc[:len(doc)/2])
}

func (e *responsesEncoder) event(ev event) responsesFrame {
	e.seq = ev.seq
	f := responsesFrame{Seq: ev.seq}
	switch ev.kind {
	case eventRole, eventProgress:
		f.Type = "response.created"
		if ev.kind == eventProgress {
			f.Type = "response.in_progress"
		}
		f.Response = &e.response
	case eventFinish:
		name, r := e.ends(ev)
		f.Type, f.Response = name, &r
	case eventOpen, eventCall:
		f.Type, f.Index, f.Item = "response.output_item.added", &ev.block, new(e.item(ev, "in_progress"))
	case eventClose:
		f.Type, f.Index, f.Item = "response.output_item.done", &ev.block, new(e.item(ev, "completed"))
	default:
		e.inside(ev, &f)
	}
	return f
}

// inside fills the frame of an event inside an item.
func (e *responsesEncoder) inside(ev event, f *responsesFrame) {
	f.Index, f.ItemID = &ev.block, ev.item
	kind, partType := "output_text", "output_text"
	part := "content_part"
	switch ev.of {
	case eventReasoning:
		kind, part, partType, f.Summary = "reasoning_summary_text", "reasoning_summary_part", "summary_text", new(0)
	case eventCall:
		kind = "function_call_arguments"
	default:
		f.Content = new(0)
	}
	switch ev.kind {
	case eventPart:
		f.Type, f.Part = "response."+part+".added", &responsesPart{Type: partType}
	case eventPartDone:
		f.Type, f.Part = "response."+part+".done", &responsesPart{Type: partType, Text: ev.whole}
	case eventTextDone:
		f.Type = "response." + kind + ".done"
		if ev.of == eventCall {
			f.Args = &ev.whole
		} else {
			f.Text = &ev.whole
		}
	default:
		f.Type, f.Delta = "response."+kind+".delta", &ev.text
	}
}

func (e *responsesEncoder) failure(f failure) []byte {
	e.seq++
	code := f.errType
	if code == "" {
		code = "InternalServiceError"
	}
	object := openaiError{Message: f.message, Type: code, Code: code, Param: new("")}
	event := responsesFrame{Type: "error", Code: &code, Message: f.message, Seq: e.seq}
	switch f.form {
	case FormAfterComment:
		return append(e.keepAlive(), event.bytes()...)
	case FormUnended:
		return bytes.TrimSuffix(event.bytes(), []byte("\n"))
	case FormData:
		return sse(marshal(openaiFailure{Error: object}))
	case FormSpaced:
		return sse(append([]byte("{ "), marshal(openaiFailure{Error: object})[1:]...))
	case FormNumericCode:
		object.Code = 502
		return sse(marshal(openaiFailure{Error: object}))
	case FormUntyped:
		return sse(untyped(f.message))
	case FormString:
		return sse(marshal(map[string]string{"error": f.message}))
	case FormBare:
		return append(marshal(openaiFailure{Error: object}), '\n')
	case FormUnknown:
		event.Type = "response.unheard_of"
		return event.bytes()
	case FormFailed, FormFailedUnbilled, FormIncompleteUnbilled:
		return e.endsBadly(f, code).bytes()
	default:
		return event.bytes()
	}
}

// endsBadly is the end of a response that failed, or came to its limit.
func (e *responsesEncoder) endsBadly(f failure, code string) responsesFrame {
	r := e.response
	r.Status = "failed"
	if f.form == FormIncompleteUnbilled {
		r.Status, r.Incomplete = "incomplete", &responsesReason{Reason: "length"}
	} else {
		r.Error = &responsesProblem{Code: code, Message: f.message}
	}
	if f.form == FormFailed {
		r.Usage = toResponsesUsage(usage{prompt: e.prompt})
	}
	return responsesFrame{Type: "response." + r.Status, Response: &r, Seq: e.seq}
}
