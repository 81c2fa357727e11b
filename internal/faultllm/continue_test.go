package faultllm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

const prompt = "Your answer was interrupted. Go on exactly where it ended."

func prose() faultllm.Answer {
	return faultllm.Answer{Name: "prose", Parts: []faultllm.Part{
		faultllm.Think("Let me see."),
		faultllm.Say("Grüße, ", "dies ist ", "\n\n  ein Satz — und 日本", "語 𝄞 dazu. "),
	}}
}

// TestHonestContinuing breaks an answer at every byte of its text and continues it.
func TestHonestContinuing(t *testing.T) {
	for _, prefill := range []bool{false, true} {
		answer := prose()
		text := answer.Text()
		for n := 1; n <= len(text); n++ {
			s := start(t, faultllm.Config{
				Script: faultllm.Script{{Answer: answer}},
				Plan:   faultllm.ByAttempt(faultllm.CutChunked(faultllm.InTextBytes(n))),
			})
			first := ask(t, s, user("hello"))
			if !strings.HasPrefix(text, first.text) || n-len(first.text) >= utf8.UTFMax {
				t.Fatalf("cut after %d bytes: %q", n, first.text)
			}
			partial := strings.TrimRight(first.text, " \n")
			if partial == "" {
				t.Fatalf("cut after %d bytes: nothing to continue", n)
			}
			messages := []msg{user("hello"), assistant(partial), user(prompt)}
			if prefill {
				messages = messages[:2]
			}
			second := ask(t, s, messages...)
			equal(t, "joined", partial+second.text, text)
			equal(t, "finish", second.finish, "stop")
			equal(t, "reasoning", second.reasoning, "")
			rec := record(t, s, 1)
			equal(t, "continued", rec.Continued, true)
			equal(t, "from", rec.From, len(partial))
			equal(t, "attempt", rec.Attempt, 1)
			twice := (len(first.text)+3)/4 - (len(partial)+3)/4 // white space that was trimmed.
			equal(t, fmt.Sprintf("billed after %d bytes", n), s.Ledger().Completion, faultllm.Needed(answer)+twice)
			_ = s.Close()
		}
	}
}

// TestNothingIsBilledTwice continues an answer piece by piece, with a call at its end.
func TestNothingIsBilledTwice(t *testing.T) {
	answer := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Say(strings.Repeat("word,", 20)), faultllm.Call("call_1", "add", `{"a":1}`),
	}}
	s := start(t, faultllm.Config{
		Script: faultllm.Script{{Answer: answer}}, PieceSize: 3,
		Plan: func(a faultllm.Arrival) faultllm.Fault {
			if a.Attempt < 10 {
				return faultllm.Reset(faultllm.InText(2 + a.Attempt%3))
			}
			return faultllm.None()
		},
	})
	got := ask(t, s, user("hello"))
	partial := got.text
	for !got.done {
		got = ask(t, s, user("hello"), assistant(partial), user(prompt))
		partial += got.text
	}
	equal(t, "text", partial, answer.Text())
	equal(t, "billed", s.Ledger().Completion, faultllm.Needed(answer))
	equal(t, "requests", s.Ledger().Requests, 11)
}

func TestWholeTextIsContinuedWithTheCall(t *testing.T) {
	script := faultllm.Script{
		{Answer: faultllm.Answer{Parts: []faultllm.Part{
			faultllm.Think("hm"), faultllm.Say("Adding."), faultllm.Call("call_1", "add", `{"a":1}`), faultllm.Say(" Wait."),
		}}},
		{Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("Done.")}}},
	}
	s := start(t, faultllm.Config{Script: script})
	for partial, rest := range map[string]string{"Adding.": " Wait.", "Adding. Wait.": "", "Addi": "ng. Wait."} {
		got := ask(t, s, user("hello"), assistant(partial), user(prompt))
		equal(t, "text", got.text, rest)
		if want := []faultllm.ToolCall{{ID: "call_1", Name: "add", Args: `{"a":1}`}}; !slices.Equal(got.calls, want) {
			t.Errorf("calls = %v", got.calls)
		}
	}
	equal(t, "next turn", ask(t, s, user("hello"), calling("call_1", "add", "{}"), result("call_1", "1")).text, "Done.")
	hinted := ask(t, s, user("hello"), calling("call_1", "add", "{}"), result("call_1", "1"), user("A call was cut off."))
	equal(t, "next turn with a hint", hinted.text, "Done.")
}

// TestWhichAnswer looks at the answer of a conversation of several turns.
func TestWhichAnswer(t *testing.T) {
	say := func(s string) faultllm.Answer { return faultllm.Answer{Parts: []faultllm.Part{faultllm.Say(s)}} }
	plain := faultllm.Script{{Answer: say("First answer.")}, {Answer: say("Second answer.")}}
	named := faultllm.Script{{Says: "one?", Answer: say("First answer.")}, {Says: "two?", Answer: say("Second answer.")}}
	for _, test := range []struct {
		name      string
		script    faultllm.Script
		messages  []msg
		want      string
		continued bool
	}{
		{"first turn", plain, []msg{system("be brief"), user("one?")}, "First answer.", false},
		{"partial", plain, []msg{user("one?"), assistant("First "), user(prompt)}, " answer.", true},
		{"partial as prefill", plain, []msg{user("one?"), assistant("First ")}, " answer.", true},
		{
			"whole text, next turn", plain,
			[]msg{user("one?"), assistant("First answer."), user(prompt)},
			"Second answer.", false,
		},
		{"whole text as prefill", plain, []msg{user("one?"), assistant("First answer.")}, "", true},
		{"another text, next turn", plain, []msg{user("one?"), assistant("Fist"), user("two?")}, "Second answer.", false},
		{"another text as prefill", plain, []msg{user("one?"), assistant("Fist")}, "First answer.", false},
		{"white space only", plain[:1], []msg{user("one?"), assistant(" \n"), user(prompt)}, "First answer.", false},
		{
			"another text, no next turn", plain[:1],
			[]msg{user("one?"), assistant("Fist"), user(prompt)},
			"First answer.", false,
		},
		{
			"partial of the second turn", plain,
			[]msg{user("one?"), assistant("First answer."), user("two?"), assistant("Sec"), user(prompt)},
			"ond answer.", true,
		},
		{
			"two user messages are no prompt", plain,
			[]msg{user("one?"), assistant("First"), user("x"), user("y")},
			"Second answer.", false,
		},
		{"named: turn in any order", named, []msg{user("two? please")}, "Second answer.", false},
		{"named: whole text continued", named, []msg{user("one?"), assistant("First answer."), user(prompt)}, "", true},
		{
			"named: next turn after a partial", named,
			[]msg{user("one?"), assistant("First"), user("two?")},
			"Second answer.", false,
		},
		{
			"named: partial in a quote", named,
			[]msg{user("one?"), assistant("First"), user(`It ended in "two?"`)},
			" answer.", true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: test.script})
			got := ask(t, s, test.messages...)
			equal(t, "text", got.text, test.want)
			equal(t, "done", got.done, true)
			equal(t, "continued", record(t, s, 0).Continued, test.continued)
		})
	}
	s := start(t, faultllm.Config{Script: named})
	equal(t, "no answer", ask(t, s, user("three?")).status, 400)
}

func TestContinuers(t *testing.T) {
	answer := faultllm.Answer{Parts: []faultllm.Part{faultllm.Think("thinking"), faultllm.Say("one é ", "two")}}
	for _, test := range []struct {
		name      string
		cfg       faultllm.Config
		text      string
		reasoning string
		from      int
		billed    int
	}{
		{"honest", faultllm.Config{Continuer: faultllm.Honest()}, " two", "", 6, 1},
		{"restarting", faultllm.Config{Continuer: faultllm.Restarting()}, "one é two", "", 0, 3},
		{"preamble", faultllm.Config{Continuer: faultllm.Preamble("Sure: ")}, "Sure:  two", "", 6, 3},
		{"repeating", faultllm.Config{Continuer: faultllm.Repeating(3)}, " é two", "", 3, 2},
		{"repeating inside a rune", faultllm.Config{Continuer: faultllm.Repeating(1)}, "é two", "", 4, 2},
		{"repeating more than there is", faultllm.Config{Continuer: faultllm.Repeating(99)}, "one é two", "", 0, 3},
		{"rethinking", faultllm.Config{Rethink: true}, " two", "thinking", 6, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Script = faultllm.Script{{Answer: answer}}
			s := start(t, test.cfg)
			got := ask(t, s, user("hello"), assistant("one é"), user(prompt))
			equal(t, "text", got.text, test.text)
			equal(t, "reasoning", got.reasoning, test.reasoning)
			rec := record(t, s, 0)
			equal(t, "from", rec.From, test.from)
			equal(t, "billed", rec.Completion, test.billed)
			fresh := ask(t, s, user("hello"))
			equal(t, "fresh", fresh.reasoning+fresh.text, "thinkingone é two")
		})
	}
}

// TestRunsGoOverParts continues an answer in its second stretch of text, with white space left on the partial answer.
func TestRunsGoOverParts(t *testing.T) {
	answer := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Think("ab"), faultllm.Say("one"), faultllm.Think("cd"), faultllm.Say(" two", " three"),
	}}
	s := start(t, faultllm.Config{Script: faultllm.Script{{Answer: answer}}})
	whole := ask(t, s, user("hello"))
	equal(t, "text", whole.text, answer.Text())
	equal(t, "billed", record(t, s, 0).Completion, faultllm.Needed(answer))
	rest := ask(t, s, user("hello"), assistant("one two \n"), user(prompt))
	equal(t, "rest", rest.text, " three")
	equal(t, "billed for the rest", record(t, s, 1).Completion, 2)
}
