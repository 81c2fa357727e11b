package faultllm

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Answer is one scripted message of the model. It is not changed after it was given to [Start].
type Answer struct {
	// Name names the answer in plans and records. It may be empty.
	Name string
	// Parts are generated in this order.
	Parts []Part
	// Finish is the finish reason. Empty means "tool_calls" if there is a call, else "stop".
	Finish string
}

// Part is a stretch of an answer: see [Think], [Say] and [Call].
type Part struct {
	kind   partKind
	pieces []string
	id     string
	name   string
}

type partKind int

const (
	partReasoning partKind = iota
	partText
	partCall
	partRedacted
)

// Think is reasoning, sent piece by piece.
func Think(pieces ...string) Part { return Part{kind: partReasoning, pieces: pieces} }

// Say is text, sent piece by piece.
func Say(pieces ...string) Part { return Part{kind: partText, pieces: pieces} }

// Call is a tool call whose arguments are sent piece by piece. Without pieces the arguments stay empty.
func Call(id, name string, args ...string) Part {
	return Part{kind: partCall, id: id, name: name, pieces: args}
}

// Text returns the whole text.
func (a Answer) Text() string { return a.joined(partText) }

// Reasoning returns the whole reasoning.
func (a Answer) Reasoning() string { return a.joined(partReasoning) }

// ToolCalls returns the calls, in order.
func (a Answer) ToolCalls() []ToolCall {
	var calls []ToolCall
	for _, p := range a.Parts {
		if p.kind == partCall {
			calls = append(calls, ToolCall{ID: p.id, Name: p.name, Args: strings.Join(p.pieces, "")})
		}
	}
	return calls
}

// FinishReason returns Finish, or its default.
func (a Answer) FinishReason() string {
	switch {
	case a.Finish != "":
		return a.Finish
	case len(a.ToolCalls()) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (a Answer) joined(kind partKind) string {
	var b strings.Builder
	for _, p := range a.Parts {
		if p.kind == kind {
			b.WriteString(strings.Join(p.pieces, ""))
		}
	}
	return b.String()
}

// check refuses what no wire could carry.
func (a Answer) check() error {
	if len(a.Parts) == 0 {
		return errors.New("an answer without parts")
	}
	for i, p := range a.Parts {
		if p.kind == partCall && (p.id == "" || p.name == "") {
			return fmt.Errorf("part %d: a tool call needs an id and a name", i)
		}
		for _, piece := range p.pieces {
			if !utf8.ValidString(piece) {
				return fmt.Errorf("part %d: piece %q is not valid UTF-8", i, piece)
			}
		}
	}
	return nil
}
