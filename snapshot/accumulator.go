package snapshot

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
)

// ErrNilChunk is returned by [Accumulator.Add] for a nil chunk.
var ErrNilChunk = errors.New("snapshot: nil chunk")

// Accumulator gathers what one model call has brought, over all its attempts: text adds up, while tool calls, the
// finish reason, usage and half a thought belong to the attempt that is running. The zero value is ready. The cost of
// Add is linear in the chunk and does not depend on what came before. Fields are copied: no chunk is kept, since Eino
// changes the Extra of chunks in place after they were handed on.
//
// An Accumulator is not safe for concurrent use.
type Accumulator struct {
	// ReasoningKeys are the Extra keys in which the provider repeats its reasoning or signs it. Set before the first Add.
	ReasoningKeys []string

	text       growing
	textOpen   bool // the last thing that came was text
	textBlocks int

	reasoning     growing
	reasoningDone int  // bytes of the reasoning that something else followed
	reasoningKept bool // an earlier attempt's reasoning is whole: later ones are ignored
	extras        extras

	calls  callSet
	finish string
	usage  Usage
	media  bool
}

// Add takes the next chunk. The only error is [ErrNilChunk], which changes nothing.
func (a *Accumulator) Add(m *schema.Message) error {
	if m == nil {
		return ErrNilChunk
	}
	a.addReasoning(m)
	if text := Text(m); text != "" {
		a.text.add(text)
		a.textOpen = true
		a.endThought()
	}
	a.calls.touched = a.calls.touched[:0]
	if len(m.ToolCalls) > 0 {
		a.addCalls(m.ToolCalls)
	}
	if len(m.AssistantGenMultiContent) > 0 || len(m.MultiContent) > 0 {
		a.media = a.media || hasMedia(m)
		if IsHandled(m) {
			a.endThought()
			a.endText()
		}
	}
	if m.ResponseMeta != nil {
		a.usage = a.usage.Max(UsageOf(m.ResponseMeta.Usage))
		if r := FinishReason(m); r != "" {
			a.finish = r
		}
	}

	return nil
}

func (a *Accumulator) addReasoning(m *schema.Message) {
	if a.reasoningKept {
		return
	}
	a.reasoning.add(m.ReasoningContent)
	if len(m.Extra) > 0 {
		a.extras.add(m.Extra, a.ReasoningKeys)
	}
}

// endThought says that something else follows the reasoning so far: it is whole.
func (a *Accumulator) endThought() {
	if a.reasoningDone < a.reasoning.len() && !a.reasoningKept {
		a.reasoningDone = a.reasoning.len()
		a.extras.endThought()
	}
}

func (a *Accumulator) addCalls(deltas []schema.ToolCall) {
	before := len(a.calls.calls)
	a.calls.add(deltas)
	a.endThought()
	if len(a.calls.calls) > before {
		a.endText()
	}
}

// endText says that something else follows the text so far.
func (a *Accumulator) endText() {
	if a.textOpen {
		a.textOpen = false
		a.textBlocks++
	}
}

// TextLen returns how many bytes of text have come, over all attempts.
func (a *Accumulator) TextLen() int { return a.text.len() }

// Tail returns a copy of the last n bytes of the text, or all of it if there are fewer.
func (a *Accumulator) Tail(n int) string {
	return strings.Clone(a.text.view()[max(0, a.text.len()-n):])
}

// HasTextAt reports whether the text has s at offset.
func (a *Accumulator) HasTextAt(offset int, s string) bool {
	return offset >= 0 && offset+len(s) <= a.text.len() && a.text.view()[offset:offset+len(s)] == s
}

// Calls returns how many tool calls have begun in this attempt.
func (a *Accumulator) Calls() int { return len(a.calls.calls) }

// Call returns the n-th tool call of this attempt as it is now, in order of appearance: what comes later does not change
// it. As in a [Snapshot], its arguments are shared and its Extra is a copy. Ended says that nothing more will come, which
// makes a call without arguments whole.
func (a *Accumulator) Call(n int, ended bool) ToolCall { return a.calls.calls[n].view(ended) }

// CallIndex returns the n-th tool call's index.
func (a *Accumulator) CallIndex(n int) int { return a.calls.calls[n].index }

// CallState returns the state of the n-th tool call, without copying its arguments.
func (a *Accumulator) CallState(n int, ended bool) CallState { return a.calls.calls[n].state(ended) }

// CallEmpty reports whether no arguments have come for the n-th tool call, or white space only.
func (a *Accumulator) CallEmpty(n int) bool { return a.calls.calls[n].scan.empty() }

// CallSize returns how many bytes of arguments the n-th tool call has.
func (a *Accumulator) CallSize(n int) int { return a.calls.calls[n].args.len() }

// Seal says that the n-th tool call was handed on as it is. It stays whole from then on, whatever comes behind it.
func (a *Accumulator) Seal(n int) { a.calls.calls[n].sealed = true }

// Touched returns the ordinals of the tool calls that the last chunk began or continued, one for each of its deltas.
// It is valid until the next Add.
func (a *Accumulator) Touched() []int { return a.calls.touched }

// FinishReason returns this attempt's finish reason; empty if none has come.
func (a *Accumulator) FinishReason() string { return a.finish }

// Media reports whether a part that is neither text nor reasoning has come.
func (a *Accumulator) Media() bool { return a.media }

// Usage returns what this attempt has reported.
func (a *Accumulator) Usage() Usage { return a.usage }

// ReasoningKept reports whether an earlier attempt's reasoning came whole, so that later reasoning is not part of the
// message.
func (a *Accumulator) ReasoningKept() bool { return a.reasoningKept }

// ReasoningDone reports whether the reasoning that belongs to the message has come whole.
func (a *Accumulator) ReasoningDone() bool { return a.reasoningDone > 0 }

// Interrupt ends the attempt and readies the Accumulator for the next one: text and whole reasoning stay; tool calls,
// half a thought, the finish reason and usage go.
func (a *Accumulator) Interrupt() {
	a.text.cut(runeEnd(a.text.view()))
	a.textBlocks, a.textOpen = 0, a.text.len() > 0 // no call was kept, so the text goes on
	a.calls.reset()
	a.finish, a.usage = "", Usage{}
	a.reasoning.cut(a.reasoningDone)
	if a.reasoningDone > 0 {
		a.reasoningKept = true
		a.extras.cutToWhole()
	} else {
		a.extras = nil
	}
}

// Restart ends an attempt of which the consumer keeps nothing: what [Accumulator.Interrupt] keeps goes as well.
func (a *Accumulator) Restart() { *a = Accumulator{ReasoningKeys: a.ReasoningKeys} }

// Snapshot returns what has come. It costs the same however long that is, but for the number of tool calls and for Extra: its
// strings share memory with a, which writes behind them only. Nothing that a does later changes it.
func (a *Accumulator) Snapshot() Snapshot {
	s := Snapshot{
		Text:           a.text.view()[:runeEnd(a.text.view())],
		TextBlocks:     a.textBlocks,
		TextOpen:       a.textOpen,
		Reasoning:      a.reasoning.view(),
		ReasoningWhole: a.reasoningDone > 0,
		ReasoningExtra: a.extras.toMap(),
		FinishReason:   a.finish,
		Usage:          a.usage,
		Media:          a.media,
	}
	for _, c := range a.calls.calls {
		s.ToolCalls = append(s.ToolCalls, c.view(a.finish != ""))
	}

	return s
}

// runeEnd returns the length of p without the bytes of a last rune that is not whole.
func runeEnd(p string) int { return len(p) - PartialRune(p) }

// PartialRune returns how many bytes at the end of p begin a rune that is not whole yet; 0 if p ends with a rune, or
// with bytes that no continuation can make one.
func PartialRune[T string | []byte](p T) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax+1; i-- {
		if !utf8.RuneStart(p[i]) {
			continue
		}
		if utf8.FullRuneInString(string(p[i:])) {
			return 0
		}

		return len(p) - i
	}

	return 0
}

// Text returns the text of a message: its Content, or else the text parts of its multi-content.
func Text(m *schema.Message) string {
	if m.Content != "" || len(m.AssistantGenMultiContent) == 0 {
		return m.Content
	}
	var text strings.Builder
	for i := range m.AssistantGenMultiContent {
		if p := &m.AssistantGenMultiContent[i]; p.Type == schema.ChatMessagePartTypeText {
			text.WriteString(p.Text)
		}
	}

	return text.String()
}

// FinishReason returns a message's finish reason; empty if there is none. Some providers write "null" for none.
func FinishReason(m *schema.Message) string {
	if m.ResponseMeta == nil || strings.EqualFold(m.ResponseMeta.FinishReason, "null") {
		return ""
	}

	return m.ResponseMeta.FinishReason
}

func hasMedia(m *schema.Message) bool {
	for i := range m.MultiContent {
		if m.MultiContent[i].Type != schema.ChatMessagePartTypeText {
			return true
		}
	}

	return slices.ContainsFunc(m.AssistantGenMultiContent, func(p schema.MessageOutputPart) bool {
		return p.Type != schema.ChatMessagePartTypeText && p.Type != schema.ChatMessagePartTypeReasoning && p.Type != PartHandled
	})
}

// HasContent reports whether a chunk brings text, reasoning, a tool call's bytes or a media part. Role-only,
// usage-only and empty chunks bring none.
func HasContent(m *schema.Message) bool {
	if m.Content != "" || m.ReasoningContent != "" {
		return true
	}
	for i := range m.ToolCalls {
		if t := &m.ToolCalls[i]; t.ID != "" || t.Function.Name != "" || t.Function.Arguments != "" {
			return true
		}
	}

	return hasMedia(m) || IsHandled(m) || slices.ContainsFunc(m.AssistantGenMultiContent, func(p schema.MessageOutputPart) bool {
		return p.Text != "" || p.Reasoning != nil && (p.Reasoning.Text != "" || p.Reasoning.Signature != "")
	})
}

// Kept is Snapshot but for half a thought: the reasoning and its Extra are as far as an interruption would keep them.
func (a *Accumulator) Kept() Snapshot {
	s := a.Snapshot()
	s.Reasoning, s.ReasoningExtra = s.Reasoning[:min(a.reasoningDone, len(s.Reasoning))], a.extras.wholeMap()

	return s
}
