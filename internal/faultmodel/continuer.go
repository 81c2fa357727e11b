package faultmodel

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
)

// Break says where one request's answer breaks, and how. The zero Break is none: the answer is whole.
type Break struct {
	after int
	cause []Step
	is    bool
}

// BreakAt breaks an answer after its first n chunks, those of this request, and plays cause instead of the rest; an
// answer that has fewer is played whole and then cause. No cause at all is a clean end. Opening steps are causes too,
// with n = 0.
func BreakAt(n int, cause ...Step) Break {
	return Break{after: n, cause: cause, is: true}
}

// Whole is the zero Break, for requests between broken ones.
func Whole() Break {
	return Break{}
}

// cut returns script as b leaves it.
func (b Break) cut(script Script) Script {
	if !b.is {
		return script
	}
	var out Script
	chunks := 0
	for _, step := range script {
		if chunks == b.after {
			break
		}
		if step.msg != nil {
			chunks++
		}
		out = append(out, step)
	}
	return append(out, b.cause...)
}

// continuer is what a Continuer knows. It is used under the recorder's lock.
type continuer struct {
	answer   Script
	text     string
	breaks   []Break
	base     string // the assistant message that the first request itself ended in
	restart  bool
	preamble string
	repeat   int
	words    bool // it repeats whole words
	usage    bool
}

// Continuer returns a model that has one answer and is honest about it. A request whose last message, or last but
// one before a user message, is an assistant message without tool calls whose text, white space at its end apart, is
// a beginning of the answer's text is answered with what follows that text, see [Script.From]: white space that the
// request left out is sent again, white space that it carries is not. Any other request is answered from the start.
// Request n breaks as breaks[n] says, and further ones do not break.
//
// The text of an input that ends in an assistant message of its own may stand in front of the partial answer. A
// conversation of several turns needs an answer that no earlier turn began with.
func Continuer(answer Script, breaks ...Break) *Model {
	c := &continuer{answer: answer.flat(), text: answer.Text(), breaks: breaks}
	m := fromAnswerer(c.next)
	m.cont = c
	return m
}

// WithRestart makes a Continuer unfaithful: it answers from the start whatever the request carries. It returns m and
// panics if m is no Continuer, as the other modes do. Call it before the first request.
func (m *Model) WithRestart() *Model {
	m.continuer().restart = true
	return m
}

// WithPreamble makes a Continuer begin each continuation with a chunk of text that is not part of the answer.
func (m *Model) WithPreamble(text string) *Model {
	m.continuer().preamble = text
	return m
}

// WithTailRepeat makes a Continuer begin each continuation with a chunk that repeats the last n bytes, and up to
// three more to begin with a whole rune, of the text that the request carries.
func (m *Model) WithTailRepeat(n int) *Model {
	m.continuer().repeat = n
	return m
}

// WithWordsRepeat is WithTailRepeat with as many bytes more as the first word of them needs to be whole.
func (m *Model) WithWordsRepeat(n int) *Model {
	m.continuer().repeat, m.continuer().words = n, true
	return m
}

// WithUsage makes a Continuer report what it bills in the last chunk that has a finish reason, or in a chunk of its
// own after the last if none has one. An answer that breaks before that reports nothing.
func (m *Model) WithUsage() *Model {
	m.continuer().usage = true
	return m
}

func (m *Model) continuer() *continuer {
	if m.cont == nil {
		panic("faultmodel: this mode is for a Continuer only")
	}
	return m.cont
}

// next is the answerer.
func (c *continuer) next(n int, input []*schema.Message) (Script, error) {
	script := c.answer
	if at, ok := c.position(n, input); ok {
		script = c.continuation(at)
	}
	if c.usage {
		script = script.withUsage(input)
	}
	if n < len(c.breaks) {
		script = c.breaks[n].cut(script)
	}
	return script, nil
}

// continuation is the answer to a request that carries the first at bytes of the text.
func (c *continuer) continuation(at int) Script {
	var out Script
	if c.preamble != "" {
		out = append(out, Text(c.preamble))
	}
	if c.restart {
		return append(out, c.answer...)
	}
	if c.repeat > 0 {
		from := max(0, at-c.repeat)
		for from > 0 && (!utf8.RuneStart(c.text[from]) || c.words && !beginsWord(c.text, from)) {
			from--
		}
		out = append(out, Text(c.text[from:at]))
	}
	return append(out, c.answer.From(at)...)
}

// position says how many bytes of the text the request carries, and whether it carries any.
func (c *continuer) position(n int, input []*schema.Message) (int, bool) {
	partial, last := partialOf(input)
	if at := c.match(partial); at > 0 {
		return at, true
	}
	if rest, ok := strings.CutPrefix(partial, c.base); ok && c.base != "" {
		for _, rest := range []string{rest, strings.TrimLeftFunc(rest, unicode.IsSpace)} {
			if at := c.match(rest); at > 0 {
				return at, true
			}
		}
	}
	if n == 0 && last {
		c.base = partial
	}
	return 0, false
}

// match returns the length of partial, with its white space at the end or without, if the text begins with it.
func (c *continuer) match(partial string) int {
	trimmed := strings.TrimRightFunc(partial, unicode.IsSpace)
	switch {
	case trimmed == "":
		return 0
	case strings.HasPrefix(c.text, partial):
		return len(partial)
	case strings.HasPrefix(c.text, trimmed):
		return len(trimmed)
	default:
		return 0
	}
}

// partialOf returns the text of the assistant message that input ends in, a user message apart, and whether it is
// the last one.
func partialOf(input []*schema.Message) (text string, last bool) {
	end := len(input) - 1
	if end > 0 && input[end] != nil && input[end].Role == schema.User {
		end--
	}
	if end < 0 || input[end] == nil || input[end].Role != schema.Assistant || len(input[end].ToolCalls) > 0 {
		return "", false
	}
	return input[end].Content, end == len(input)-1
}

// beginsWord reports whether a word begins in text at the byte at, behind white space.
func beginsWord(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	next, _ := utf8.DecodeRuneInString(text[at:])

	return unicode.IsSpace(before) && !unicode.IsSpace(next)
}
