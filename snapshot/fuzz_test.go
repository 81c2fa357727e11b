package snapshot

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// reel cuts fuzz input into chunks.
type reel struct{ data []byte }

func (r *reel) byte() byte {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]

	return b
}

// text takes up to seven bytes, as they are.
func (r *reel) text() string {
	n := min(int(r.byte()%8), len(r.data))
	s := string(r.data[:n])
	r.data = r.data[n:]

	return s
}

func (r *reel) delta() schema.ToolCall {
	b := r.byte()
	index := []int{nilIndex, -1, 0, 1, 2, math.MaxInt}[b%6]
	d := delta(index, []string{"", "", "c1", "c2"}[b>>3&3], []string{"", "", "find", "read"}[b>>5&3], "")
	if pieces := []string{"", "{}", "{", "}", `{"a":`, "1}", "[]", " "}; b&1 == 0 {
		d.Function.Arguments = pieces[r.byte()%8]
	} else {
		d.Function.Arguments = r.text()
	}
	if b == 0x42 {
		d.Extra = map[string]any{"signature": []byte(d.Function.Arguments)}
	}

	return d
}

// chunk returns the next chunk; nil stands for an interruption.
func (r *reel) chunk() *schema.Message {
	switch b := r.byte(); b % 9 {
	case 0:
		return schema.AssistantMessage(r.text(), nil)
	case 1, 2:
		return schema.AssistantMessage("", calls(r.delta()))
	case 3:
		return schema.AssistantMessage(r.text(), calls(r.delta(), r.delta(), r.delta()))
	case 4:
		return thought(r.text(), map[string]any{"text": r.text(), "signature": []byte(r.text())})
	case 5:
		return parts(textPart(r.text()), thoughtPart(r.text(), ""), textPart(r.text()))
	case 6:
		return finish(r.text())
	case 7:
		return used(&schema.TokenUsage{PromptTokens: int(r.byte()), CompletionTokens: int(r.byte())})
	default:
		return nil
	}
}

func FuzzAccumulator(f *testing.F) {
	f.Add([]byte("\x00\x05Hello\x03\x03abc\x1a\x02\x01\x05\x08"))
	f.Add([]byte("\x04\x03hmm\x02ab\x02cd\x00\x03\xf0\x9f\x98\x08\x00\x01\x80\x01\xba\x04\x01\x02\x05\x06\x04stop"))
	f.Add([]byte("\x01\x53\x02{}\x01\x5a\x01\x01\x00\x02\x07\x05\x06\x08\x08\x05\x01a\x01b\x01c"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &reel{data: data}
		w := witness{t: t, a: &Accumulator{ReasoningKeys: []string{"text", "signature"}}}
		for len(r.data) > 0 {
			if m := r.chunk(); m != nil {
				w.add(m)
			} else {
				w.interrupt()
			}
			w.check()
		}
	})
}

// witness writes down what came and holds the Accumulator to it.
type witness struct {
	t    *testing.T
	a    *Accumulator
	text strings.Builder
	args int // bytes of arguments in this attempt
}

func (w *witness) add(m *schema.Message) {
	mustAdd(w.t, w.a, m)
	w.text.WriteString(Text(m))
	for i := range m.ToolCalls {
		w.args += len(m.ToolCalls[i].Function.Arguments)
	}
	if len(w.a.Touched()) != len(m.ToolCalls) {
		w.t.Fatalf("%d deltas touched %v", len(m.ToolCalls), w.a.Touched())
	}
	for _, n := range w.a.Touched() {
		if n < 0 || n >= w.a.Calls() {
			w.t.Fatalf("touched %d of %d", n, w.a.Calls())
		}
	}
}

func (w *witness) interrupt() {
	w.a.Interrupt()
	text := w.text.String()
	w.text.Reset()
	w.text.WriteString(text[:len(text)-PartialRune(text)])
	w.args = 0
	if w.a.Calls() != 0 || w.a.FinishReason() != "" || w.a.Usage().Known {
		w.t.Fatal("something of the attempt is left")
	}
}

func (w *witness) check() {
	s := w.a.Snapshot()
	if again := w.a.Snapshot(); !reflect.DeepEqual(s, again) {
		w.t.Fatalf("a second snapshot differs:\n%+v\n%+v", s, again)
	}
	text := w.text.String()
	if w.a.TextLen() != len(text) || s.Text != text[:len(text)-PartialRune(text)] {
		w.t.Fatalf("text %q, want %q", s.Text, text)
	}
	if len(s.ToolCalls) != w.a.Calls() || len(s.Whole())+len(s.Partial()) != len(s.ToolCalls) {
		w.t.Fatalf("%d calls, %d whole, %d partial", len(s.ToolCalls), len(s.Whole()), len(s.Partial()))
	}
	bytes, last := 0, -1
	for n, c := range s.ToolCalls {
		if c.Index <= last {
			w.t.Fatalf("index %d after %d", c.Index, last)
		}
		last = c.Index
		bytes += w.a.CallSize(n)
		w.checkCall(n, c)
	}
	if bytes != w.args {
		w.t.Fatalf("%d bytes of arguments, want %d", bytes, w.args)
	}
	if got, want := Decide(s), planFor(s); got != want {
		w.t.Fatalf("%v, want %v", got, want)
	}
}

func (w *witness) checkCall(n int, c ToolCall) {
	if c.State != w.a.CallState(n, w.a.FinishReason() != "") {
		w.t.Fatalf("call %d has two states", n)
	}
	empty := strings.Trim(c.Arguments, " \t\r\n") == ""
	if empty != w.a.CallEmpty(n) {
		w.t.Fatalf("arguments %q: empty is %t", c.Arguments, !empty)
	}
	object := json.Valid([]byte(c.Arguments)) && strings.TrimLeft(c.Arguments, " \t\r\n")[0] == '{'
	if c.State == CallWhole && (c.Name == "" || !object && !empty) {
		w.t.Fatalf("%+v is called whole", c)
	}
	if c.State == CallOpen && object {
		w.t.Fatalf("%+v is called open", c)
	}
}

// planFor is the table of plans, read row by row.
func planFor(s Snapshot) Plan {
	whole, partial, text := len(s.Whole()) > 0, len(s.Partial()) > 0, strings.TrimSpace(s.Text) != ""
	switch [3]bool{whole, partial, text} {
	case [3]bool{false, false, false}, [3]bool{false, true, false}:
		return WholeRestart
	case [3]bool{false, false, true}:
		return ContinueText
	case [3]bool{false, true, true}:
		return TruncateBeforeTool
	default:
		return SynthesizeToolUse
	}
}
