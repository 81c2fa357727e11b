package faultllm

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"unicode"
)

// Script is what the model answers, turn by turn.
//
// The turn of a request is found in the messages behind the last assistant message (users' and tools' messages): the
// first turn whose Says begins one of them; else turn i, if the request has i assistant messages and the Says of turn i
// is empty.
//
// A trailing assistant message with text and without tool calls is taken for a partial answer when it is a beginning
// of the answer to what stands before it. With one user message behind it, it is a partial answer unless that message
// is awaited: some turn's Says begins it; or the text is whole, its answer has no tool calls, and there is a next turn
// with an empty Says. So a script whose answers may break behind their last byte of text gives each user turn a Says;
// and a Says is not how a continuation prompt begins.
//
// A request without a turn is refused with status 400.
type Script []Turn

// Turn is one answer and what asks for it.
type Turn struct {
	// Says is how the user's or the tool's message begins that this turn answers. Empty: see [Script].
	Says   string
	Answer Answer
}

// Reply is the script of one answer to whatever is asked first.
func Reply(parts ...Part) Script { return Script{{Answer: Answer{Parts: parts}}} }

// resolution says which turn a request asks for and how much of its answer it carries.
type resolution struct {
	turn      int
	partial   int  // bytes of text that the request carries, without trailing white space
	continued bool // the request carries a partial answer
	key       uint64
}

func (s Script) check() error {
	if len(s) == 0 {
		return errors.New("faultllm: the script is empty")
	}
	for i, t := range s {
		if err := t.Answer.check(); err != nil {
			return fmt.Errorf("faultllm: turn %d: %w", i, err)
		}
	}
	return nil
}

// resolve finds the answer to msgs. It reports false if the script has none.
func (s Script) resolve(msgs []Message) (resolution, bool) {
	history, partial, prompt, ok := split(msgs)
	if !ok {
		return s.fresh(msgs)
	}
	r, found := s.continuation(history, partial)
	if prompt == "" {
		return r, found
	}
	next, awaited := s.fresh(msgs)
	switch {
	case s.named(prompt):
		return next, awaited
	case r.continued && (!awaited || !s.finished(r)):
		return r, true
	case awaited:
		return next, true
	default:
		return r, found
	}
}

func (s Script) fresh(msgs []Message) (resolution, bool) {
	turn, ok := s.find(msgs)
	return resolution{turn: turn, key: conversationKey(msgs)}, ok
}

func (s Script) continuation(history []Message, partial string) (resolution, bool) {
	r, ok := s.fresh(history)
	if !ok {
		return r, false
	}
	partial = strings.TrimRightFunc(partial, unicode.IsSpace)
	if partial != "" && strings.HasPrefix(s[r.turn].Answer.Text(), partial) {
		r.continued, r.partial = true, len(partial)
	}
	return r, true
}

// finished says whether the partial answer may as well be a whole one.
func (s Script) finished(r resolution) bool {
	a := s[r.turn].Answer
	return len(a.ToolCalls()) == 0 && r.partial == len(strings.TrimRightFunc(a.Text(), unicode.IsSpace))
}

func (s Script) named(text string) bool {
	for _, t := range s {
		if t.Says != "" && strings.HasPrefix(text, t.Says) {
			return true
		}
	}
	return false
}

func (s Script) find(msgs []Message) (int, bool) {
	step, start := 0, 0
	for i, m := range msgs {
		if m.Role == roleAssistant {
			step, start = step+1, i+1
		}
	}
	for i, t := range s {
		if t.Says != "" && anyBegins(msgs[start:], t.Says) {
			return i, true
		}
	}
	return step, step < len(s) && s[step].Says == ""
}

func anyBegins(msgs []Message, with string) bool {
	for _, m := range msgs {
		if (m.Role == roleUser || m.Role == roleTool) && strings.HasPrefix(m.Text, with) {
			return true
		}
	}
	return false
}

// split takes a trailing assistant message off msgs, and the one user message behind it.
func split(msgs []Message) (history []Message, partial, prompt string, ok bool) {
	last := len(msgs) - 1
	if last > 0 && msgs[last].Role == roleUser {
		prompt = msgs[last].Text
		last--
	}
	if last < 0 || msgs[last].Role != roleAssistant || len(msgs[last].ToolCalls) > 0 {
		return nil, "", "", false
	}
	return msgs[:last], msgs[last].Text, prompt, true
}

// conversationKey tells the turns of different conversations apart.
func conversationKey(msgs []Message) uint64 {
	h := fnv.New64a()
	for _, m := range msgs {
		_, _ = fmt.Fprintf(h, "%q%q%q%q", m.Role, m.Text, m.Reasoning, m.ToolCallID)
		for _, c := range m.ToolCalls {
			_, _ = fmt.Fprintf(h, "%q%q%q", c.ID, c.Name, c.Args)
		}
		_, _ = io.WriteString(h, "\n")
	}
	return h.Sum64()
}
