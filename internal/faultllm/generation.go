package faultllm

// event is one thing that the model says: a frame on every wire.
type event struct {
	kind   eventKind
	text   string // of reasoning, text and arguments
	at     int    // where text begins in its run
	call   int    // the number of the tool call in this answer
	id     string
	name   string
	finish string
	usage  usage

	thinks    bool      // the answer thinks, here or in an earlier response
	block     int       // the number of the content block, on wires that have them
	of        eventKind // what the content block holds
	signature string
	whole     string // all of the content block, where it is said again when the block ends
	item      string // the name of the content block
	seq       int    // the number of the frame
}

type eventKind int

const (
	eventRole eventKind = iota
	eventReasoning
	eventText
	eventCall // a call begins: id and name
	eventArgs
	eventFinish
	eventUsage
	eventDone

	// These are only on some wires.
	eventSignature // of the reasoning before it, or with a whole call
	eventOpen      // a content block begins
	eventClose     // a content block ends
	eventPing
	eventRedacted // a block of thinking that is not shown
	eventProgress // the answer is being worked on
	eventPart     // a part of a content block begins
	eventTextDone // the text of a part is whole
	eventPartDone // a part ends
)

// usage is what one request is billed.
type usage struct{ prompt, completion, reasoning int }

// tokens returns what the event adds to the bill.
func (e event) tokens() int {
	if e.kind == eventCall {
		return tokens(0, len(e.name)+len(e.text)) // on some wires a call comes whole.
	}
	return tokens(e.at, e.at+len(e.text))
}

func (e event) content() bool {
	return e.kind == eventReasoning || e.kind == eventText || e.kind == eventCall || e.kind == eventArgs
}

// split cuts the event before byte n of its text.
func (e event) split(n int) (head, tail event) {
	head, tail = e, e
	head.text, tail.text = e.text[:n], e.text[n:]
	tail.at += n
	return head, tail
}

// generator makes the events of one answer.
type generator struct {
	answer    Answer
	continued bool
	start     int // of the text, in bytes
	preamble  string
	rethink   bool
	pieceSize int
	maxTokens int
	prompt    int // tokens
	usage     bool
}

func (g generator) events() []event {
	out := append([]event{{kind: eventRole, thinks: g.answer.Reasoning() != ""}}, g.contents()...)
	out, finish := g.limit(out)
	u := usage{prompt: g.prompt}
	for _, e := range out {
		u.completion += e.tokens()
		if e.kind == eventReasoning {
			u.reasoning += e.tokens()
		}
	}
	out = append(out, event{kind: eventFinish, finish: finish})
	if g.usage {
		out = append(out, event{kind: eventUsage, usage: u})
	}
	return append(out, event{kind: eventDone, usage: u})
}

func (g generator) contents() []event {
	var out []event
	if g.continued && g.preamble != "" {
		out = g.pieces(out, event{kind: eventText}, []string{g.preamble}, 0)
	}
	thought, said, calls := 0, 0, 0
	for _, p := range g.answer.Parts {
		switch p.kind {
		case partReasoning:
			if !g.continued || g.rethink {
				out = g.pieces(out, event{kind: eventReasoning, at: thought}, p.pieces, 0)
			}
			thought += size(p.pieces)
		case partRedacted:
			if !g.continued || g.rethink {
				out = append(out, event{kind: eventRedacted, signature: p.pieces[0]})
			}
		case partText:
			out = g.pieces(out, event{kind: eventText, at: said}, p.pieces, g.start-said)
			said += size(p.pieces)
		case partCall:
			out = append(out, event{kind: eventCall, call: calls, id: p.id, name: p.name})
			out = g.pieces(out, event{kind: eventArgs, call: calls, at: len(p.name)}, p.pieces, 0)
			calls++
		}
	}
	return out
}

// pieces appends an event like e for each piece, without the first skip bytes.
func (g generator) pieces(out []event, e event, pieces []string, skip int) []event {
	for _, p := range pieces {
		e.text = p
		rest := e
		if cut := min(max(skip, 0), len(p)); cut > 0 {
			_, rest = e.split(cut)
		}
		skip -= len(p)
		e.at += len(p)
		out = g.chop(out, rest)
	}
	return out
}

// chop cuts an event to the configured size, between runes.
func (g generator) chop(out []event, e event) []event {
	for g.pieceSize > 0 && len(e.text) > g.pieceSize {
		n := runeStart(e.text, g.pieceSize)
		if n == 0 { // one rune is longer than a piece.
			for n = 1; n < len(e.text) && runeStart(e.text, n) != n; n++ {
				continue
			}
		}
		if n == len(e.text) {
			break
		}
		var head event
		head, e = e.split(n)
		out = append(out, head)
	}
	if e.text == "" {
		return out
	}
	return append(out, e)
}

// limit ends the answer before the event that would exceed the limit of the request.
func (g generator) limit(in []event) ([]event, string) {
	spent := 0
	for i, e := range in {
		spent += e.tokens()
		if g.maxTokens > 0 && spent > g.maxTokens {
			return in[:i], "length"
		}
	}
	return in, g.answer.FinishReason()
}

func size(pieces []string) int {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	return n
}

// signed adds a signature behind each stretch of reasoning.
func signed(said []event) []event {
	var out []event
	thought := ""
	for _, e := range said {
		if e.kind != eventReasoning && thought != "" {
			out = append(out, event{kind: eventSignature, signature: Sign(thought)})
			thought = ""
		}
		if e.kind == eventReasoning {
			thought += e.text
		}
		out = append(out, e)
	}
	return out
}

// wholeCalls joins each call with its arguments, for wires on which a call comes in one piece.
func wholeCalls(said []event) []event {
	var out []event
	for _, e := range said {
		last := len(out) - 1
		if e.kind == eventArgs && last >= 0 && out[last].kind == eventCall && out[last].call == e.call {
			out[last].text += e.text
			continue
		}
		out = append(out, e)
	}
	return out
}
