package continuation

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// carry makes the chunks of several attempts the chunks of one message. The chunks of an unbroken answer pass through it
// as they are. Chunks are never changed in place.
type carry struct {
	later    bool // an attempt broke: what follows belongs to the same message
	identity [4]string
	earlier  map[string]struct{} // Extra keys that earlier attempts delivered
	now      map[string]struct{} // Extra keys that this attempt delivered
	half     string              // the beginning of a rune whose end is yet to come

	keys  []string       // of reasoning in Extra
	sign  map[string]any // signatures of a thought that is not whole yet: two attempts' cannot stand in one message
	shown map[string]int // bytes of reasoning delivered, by Extra key; "" is ReasoningContent
	skip  map[string]int // of these, the bytes of thoughts that broke off

	left struct { // what the consumer has, if the answer is wanted whole: the rest is dropped at a break
		keys  map[string]struct{}
		shown map[string]int
	}
	whole    map[string]int // the same as shown, when something last followed a thought
	cut      map[string]int // where the reasoning ends, if a thought behind it broke off
	thinking bool           // reasoning has come since

	expired any // what says of a stored response that it has expired, if the message names one; nil if it does not

	layout *layout   // places them; nil if messages have none
	parts  textParts // that the text came in, for checkpoints
}

// edit is a copy of a chunk that is made when it is first changed.
type edit struct{ from, to *schema.Message }

func (e *edit) msg() *schema.Message {
	if e.to == e.from {
		m := *e.from
		e.to = &m
	}

	return e.to
}

// adapt returns m as the consumer gets it; nil if nothing is left of it. Without keep its finish reason is left out; with
// drop its reasoning is. Whole says that the thought before it has come whole.
func (c *carry) adapt(m chunk, keep, drop, whole bool) chunk {
	if c.layout != nil && m.origin != nil {
		c.layout.see(m.origin)
	}
	e := edit{from: m.Message, to: m.Message}
	c.fixIdentity(&e)
	if r := m.ResponseMeta; r != nil && (c.later || !keep && r.FinishReason != "") {
		c.fixMeta(&e, keep)
	}
	if drop {
		c.dropReasoning(&e)
	}
	if len(m.Extra) > 0 {
		c.fixExtra(&e, drop, whole)
	}
	if whole && len(c.sign) > 0 {
		c.signed(&e)
	}
	c.think(e.to)
	if (e.to != m.Message || c.later) && isEmpty(e.to) {
		return chunk{}
	}

	return m.as(e.to)
}

// fixIdentity blanks a role or a name that differs from the first one: Eino refuses to join such chunks.
func (c *carry) fixIdentity(e *edit) {
	m := e.from
	for i, v := range [...]string{string(m.Role), m.Name, m.ToolCallID, m.ToolName} {
		switch {
		case v == "" || v == c.identity[i]:
		case c.identity[i] == "":
			c.identity[i] = v
		default:
			to := e.msg()
			switch i {
			case 0:
				to.Role = ""
			case 1:
				to.Name = ""
			case 2:
				to.ToolCallID = ""
			default:
				to.ToolName = ""
			}
		}
	}
}

func (c *carry) fixMeta(e *edit, keep bool) {
	r := *e.from.ResponseMeta
	if !keep {
		r.FinishReason = ""
	}
	if c.later {
		r.FinishReason, r.Usage = "", nil
	}
	to := e.msg()
	to.ResponseMeta = &r
	if r.FinishReason == "" && r.Usage == nil && r.LogProbs == nil {
		to.ResponseMeta = nil
	}
}

func (c *carry) dropReasoning(e *edit) {
	isReasoning := func(p schema.MessageOutputPart) bool { return p.Type == schema.ChatMessagePartTypeReasoning }
	if e.from.ReasoningContent != "" {
		e.msg().ReasoningContent = ""
	}
	if slices.ContainsFunc(e.from.AssistantGenMultiContent, isReasoning) {
		parts := slices.Clone(e.from.AssistantGenMultiContent)
		e.msg().AssistantGenMultiContent = slices.DeleteFunc(parts, isReasoning)
	}
}

// fixExtra drops what an earlier attempt has delivered under the same key: Eino would glue two strings, and refuses two
// values of most other types. Reasoning that starts over is an exception: its first part is marked as one to skip, and
// its signature waits until the thought is whole.
func (c *carry) fixExtra(e *edit, dropReasoning, whole bool) {
	for key, v := range e.from.Extra {
		c.seeStored(key, v)
		_, before := c.earlier[key]
		n, isReasoning := reasoningSize(v), slices.Contains(c.keys, key)
		switch {
		case isReasoning && !dropReasoning && n > 0:
			c.note(key, n)
		case isReasoning && !dropReasoning && !whole:
			if c.sign == nil {
				c.sign = make(map[string]any)
			}
			c.sign[key] = v
			e.dropExtra(key)
		case isReasoning && dropReasoning, !isReasoning && before:
			e.dropExtra(key)
		case !isReasoning:
			if c.now == nil {
				c.now = make(map[string]struct{})
			}
			c.now[key] = struct{}{}
		}
	}
}

// signed adds the signatures that have waited to the chunk that shows their thought to be whole.
func (c *carry) signed(e *edit) {
	to := e.msg()
	to.Extra = maps.Clone(to.Extra)
	if to.Extra == nil {
		to.Extra = make(map[string]any, len(c.sign))
	}
	for key, v := range c.sign {
		if _, newer := to.Extra[key]; !newer {
			to.Extra[key] = v
		}
	}
	c.sign = nil
}

// dropExtra removes a key from the chunk's Extra.
func (e *edit) dropExtra(key string) {
	to := e.msg()
	if len(to.Extra) == len(e.from.Extra) {
		to.Extra = maps.Clone(e.from.Extra)
	}
	delete(to.Extra, key)
}

// think takes note of the reasoning that m shows, and of what ends it.
func (c *carry) think(m *schema.Message) {
	if n := len(m.ReasoningContent); n > 0 {
		c.note("", n)
	}
	if c.thinking && (m.Content != "" || len(m.ToolCalls) > 0 || snapshot.IsHandled(m)) {
		c.whole, c.thinking = maps.Clone(c.shown), false
	}
}

func (c *carry) note(key string, n int) {
	if c.shown == nil {
		c.shown = make(map[string]int)
	}
	c.shown[key] += n
	c.thinking = true
}

// leave takes note of a chunk that the consumer gets before the answer is whole.
func (c *carry) leave(m chunk) {
	if c.left.keys == nil {
		c.left.keys, c.left.shown = make(map[string]struct{}), make(map[string]int)
	}
	c.left.shown[""] += len(m.ReasoningContent)
	for key, v := range m.Extra {
		c.left.keys[key] = struct{}{}
		if n := reasoningSize(v); n > 0 && slices.Contains(c.keys, key) {
			c.left.shown[key] += n
		}
	}
}

// restart forgets what the consumer did not get.
func (c *carry) restart() {
	c.earlier = maps.Clone(c.left.keys)
	c.shown, c.skip = maps.Clone(c.left.shown), maps.Clone(c.left.shown)
}

// interrupt readies the carry for the next attempt. Unless the thought came whole, all reasoning shown so far is to skip.
func (c *carry) interrupt(thoughtWhole bool) {
	c.later = true
	broke := !thoughtWhole || c.thinking
	switch {
	case !thoughtWhole:
		c.skip = maps.Clone(c.shown)
	case c.thinking:
		c.cut = c.whole
	}
	c.thinking = false
	c.reopen()
	if c.layout != nil {
		c.layout.interrupt(broke)
	}
}

// reopen readies the carry for an attempt that takes the place of one without content.
func (c *carry) reopen() {
	c.half, c.sign = "", nil
	if c.layout != nil {
		c.layout.reopen()
	}
	if c.earlier == nil {
		c.earlier = make(map[string]struct{})
	}
	maps.Copy(c.earlier, c.now)
	clear(c.now)
}

// wholeRunes holds back the bytes of a rune that m begins and does not end; nil if that is all of m. Only models that cut
// their text between bytes need it: what a JSON decoder yields ends with a rune.
func (c *carry) wholeRunes(m chunk) chunk {
	if m.Content == "" || c.half == "" && m.Content[len(m.Content)-1] < 0x80 {
		return m
	}
	text := c.half + m.Content
	n := snapshot.PartialRune(text)
	if snapshot.FinishReason(m.Message) != "" {
		n = 0 // there is no more to come
	}
	if n == 0 && c.half == "" {
		return m
	}
	cut := *m.Message
	cut.Content, c.half = text[:len(text)-n], strings.Clone(text[len(text)-n:])
	if isEmpty(&cut) {
		return chunk{}
	}

	return m.as(&cut)
}

// rest returns what is still held of a rune or a thought's signature, at the end of an answer.
func (c *carry) rest() chunk {
	if c.half == "" && len(c.sign) == 0 {
		return chunk{}
	}
	m := &schema.Message{Role: c.role(), Content: c.half, Extra: c.sign}
	c.half, c.sign = "", nil

	return made(m)
}

func (c *carry) role() schema.RoleType { return schema.RoleType(c.identity[0]) }
