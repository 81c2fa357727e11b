package faultmodel

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// follow asks m, and goes on with the trimmed text so far until an attempt ends whole. It returns all chunks.
func follow(t *testing.T, m *Model) []*schema.Message {
	t.Helper()
	var all []*schema.Message
	text := ""
	for range 10 {
		input := ask("q")
		sent := strings.TrimRight(text, " \n")
		if sent != "" {
			input = append(input, schema.AssistantMessage(sent, nil), schema.UserMessage("go on"))
		}
		reader, err := m.Stream(t.Context(), input)
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := Collect(reader)
		if sent != "" {
			chunks = skip(chunks, text[len(sent):])
		}
		all = append(all, chunks...)
		for _, chunk := range chunks {
			text += chunk.Content
		}
		if err == nil {
			return all
		}
	}
	t.Fatal("never whole")
	return nil
}

// skip takes white space that was sent again off the first text.
func skip(chunks []*schema.Message, space string) []*schema.Message {
	for _, chunk := range chunks {
		if chunk.Content != "" && space != "" {
			n := min(len(space), len(chunk.Content))
			chunk.Content, space = chunk.Content[n:], space[n:]
		}
	}
	return chunks
}

func TestAnHonestContinuerAddsUp(t *testing.T) {
	answers := map[string]Script{
		"text":       {Text("Hello"), Text(", \n"), Text("wörld "), Text("ha ha ha "), Text("ha"), Finish("stop")},
		"tool":       {Text("Let me see. "), Call(0, "c", "f", `{"a":`), Call(0, "", "", `1}`), Finish("tool_calls")},
		"reasoning":  {Text("Well"), Text(", so"), Finish("stop")},
		"one chunk":  {Chunk(&schema.Message{Role: schema.Assistant, Content: "all", ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}})},
		"no finish":  {Text("a"), Text("b")},
		"role first": {Role(), Text("a "), Text("b"), Role(), Finish("stop")},
	}
	for name, answer := range answers {
		for k := 1; k <= answer.Chunks(); k++ {
			t.Run(fmt.Sprintf("%s/%d", name, k), func(t *testing.T) {
				m := Continuer(answer, BreakAt(k, Reset()), BreakAt(0, Fail(errBoom)), BreakAt(1, UnexpectedEOF()), Whole())
				chunks := follow(t, m)
				if got, want := texts(chunks), answer.Text(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				last := m.Requests()[len(m.Requests())-1]
				if !last.Finished {
					t.Errorf("last request: %+v", last)
				}
			})
		}
	}
}

func texts(chunks []*schema.Message) string {
	text := ""
	for _, chunk := range chunks {
		text += chunk.Content
	}
	return text
}

func tail(partial string) []*schema.Message {
	return append(ask("q"), schema.AssistantMessage(partial, nil), schema.UserMessage("go on"))
}

func TestWhereAContinuerGoesOn(t *testing.T) {
	answer := Script{
		Reasoning("hm"), Text("Hé \n"), Call(0, "c0", "f", `{"a"`), Text("llo"), Call(1, "c1", "g", "{}"),
		Call(0, "", "", `:1}`), FinishUsage("tool_calls", 1, 2),
	}
	tests := []struct {
		name  string
		input []*schema.Message
		want  Script
	}{
		{"not a continuation", ask("Hé"), answer},
		{"empty", tail(" "), answer},
		{"other text", tail("Hx"), answer},
		{"inside a rune", tail("H\xc3"), append(Script{Text("\xa9 \n")}, answer[2:]...)},
		{"trimmed", tail("Hé"), append(Script{Text(" \n")}, answer[2:]...)},
		{"untrimmed", tail("Hé \n"), answer[2:]},
		{"other space", tail("Hé  "), append(Script{Text(" \n")}, answer[2:]...)},
		{"prefill", tail("Hé \n")[:2], answer[2:]},
		{
			"inside the text after a call", tail("Hé \nl"),
			Script{Text("lo"), answer[2], answer[5], answer[4], answer[6]},
		},
		{"all the text", tail("Hé \nllo"), Script{answer[2], answer[5], answer[4], answer[6]}},
		{
			"a message with calls", append(ask("q"), schema.AssistantMessage("Hé", []schema.ToolCall{{ID: "x"}}), schema.UserMessage("u")),
			answer,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reader, err := Continuer(answer).Stream(t.Context(), test.input)
			if err != nil {
				t.Fatal(err)
			}
			chunks, _ := Collect(reader)
			want, _ := Collect(stream(t.Context(), t, New(test.want)))
			if !reflect.DeepEqual(chunks, want) {
				t.Errorf("got %v\nwant %v", chunks, want)
			}
		})
	}
}

func TestAnInputThatEndsInAnAssistantMessage(t *testing.T) {
	m := Continuer(Script{Text("one "), Text("two")}, BreakAt(1, Reset()))
	seed := append(ask("q"), schema.AssistantMessage("Sure:", nil))
	if text, _ := read(t.Context(), t, m, seed); text != "one " {
		t.Errorf("first: %q", text)
	}
	for _, merged := range []string{"Sure:one", "Sure:\n\none"} {
		if text, _ := read(t.Context(), t, m, tail(merged)); text != " two" {
			t.Errorf("after %q: %q", merged, text)
		}
	}
}

func TestNothingIsBilledTwice(t *testing.T) {
	answer := Script{Text("abc"), Text("def"), Text("ghi"), Finish("stop")}
	m := Continuer(answer, BreakAt(2, Reset())).WithUsage()
	chunks := follow(t, m)
	if _, completion := m.Billed(); completion != answer.Tokens() {
		t.Errorf("billed %d of %d", completion, answer.Tokens())
	}
	usage := chunks[len(chunks)-1].ResponseMeta.Usage
	second := m.Requests()[1]
	if usage.CompletionTokens != 3 || usage.PromptTokens != len("q"+"abcdef"+"go on") || usage.PromptTokens != second.PromptTokens {
		t.Errorf("usage %+v, record %+v", usage, second)
	}
	m = Continuer(Script{Text("abc")}).WithUsage()
	chunks = follow(t, m)
	if usage := chunks[1].ResponseMeta.Usage; usage.TotalTokens != 4 {
		t.Errorf("usage in a chunk of its own: %+v", usage)
	}
}

func TestUnfaithfulModes(t *testing.T) {
	answer := Script{Text("Hé wörld"), Text(" end")}
	tests := map[string]struct {
		m    *Model
		want string
	}{
		"restart":  {Continuer(answer).WithRestart(), "Hé wörld end"},
		"preamble": {Continuer(answer).WithPreamble("Sure: "), "Sure: rld end"},
		"repeat":   {Continuer(answer).WithTailRepeat(1), "örld end"},
		"words":    {Continuer(answer).WithWordsRepeat(1), "wörld end"},
		"all":      {Continuer(answer).WithTailRepeat(99), "Hé wörld end"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if text, _ := read(t.Context(), t, test.m, tail("Hé wö")); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
			if text, _ := read(t.Context(), t, test.m, ask("q")); text != answer.Text() {
				t.Errorf("a first request: %q", text)
			}
		})
	}
	defer func() {
		if recover() == nil {
			t.Error("a scripted model took a mode of a Continuer")
		}
	}()
	New().WithRestart()
}

func TestABreakMayBeAnOpening(t *testing.T) {
	m := Continuer(Script{Text("a")}, BreakAt(0, OpenFail(errBoom)), BreakAt(9, Reset()))
	if _, err := m.Stream(t.Context(), ask("q")); !errors.Is(err, errBoom) {
		t.Errorf("Stream: %v", err)
	}
	if text, err := read(t.Context(), t, m, ask("q")); text != "a" || err == nil {
		t.Errorf("%q, %v", text, err)
	}
}
