package continuation

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// msgIDKey is where ADK notes the id of a message, on the first chunk of every stream of a model.
const msgIDKey = "_eino_msg_id"

// carry makes the chunks of several attempts the chunks of one message. The chunks of an unbroken answer pass through it
// as they are. Chunks are never changed in place.
type carry struct {
	later    bool // an attempt broke: what follows belongs to the same message
	identity [4]string
	earlier  map[string]struct{} // Extra keys that earlier attempts delivered
	now      map[string]struct{} // Extra keys that this attempt delivered
	half     string              // the beginning of a rune whose end is yet to come

	keys  []string       // of reasoning in Extra
	shown map[string]int // bytes of reasoning delivered, by Extra key; "" is ReasoningContent
	skip  map[string]int // of these, the bytes of thoughts that broke off
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
// drop its reasoning is.
func (c *carry) adapt(m *schema.Message, keep, drop bool) *schema.Message {
	e := edit{from: m, to: m}
	c.fixIdentity(&e)
	if r := m.ResponseMeta; r != nil && (c.later || !keep && r.FinishReason != "") {
		c.fixMeta(&e, keep)
	}
	if drop {
		c.dropReasoning(&e)
	}
	if len(m.Extra) > 0 {
		c.fixExtra(&e, drop)
	}
	if n := len(e.to.ReasoningContent); n > 0 {
		c.note("", n)
	}
	if (e.to != m || c.later) && isEmpty(e.to) {
		return nil
	}

	return e.to
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
// values of most other types. Reasoning that starts over is an exception: its first part is marked as one to skip.
func (c *carry) fixExtra(e *edit, dropReasoning bool) {
	for key, v := range e.from.Extra {
		reasoning := slices.Contains(c.keys, key)
		_, before := c.earlier[key]
		text, isText := v.(string)
		switch {
		case reasoning && dropReasoning, before && (!reasoning || !isText), c.later && key == msgIDKey:
			to := e.msg()
			if len(to.Extra) == len(e.from.Extra) {
				to.Extra = maps.Clone(e.from.Extra)
			}
			delete(to.Extra, key)

			continue
		case reasoning && isText:
			c.note(key, len(text))
		}
		if _, ok := c.now[key]; !ok {
			if c.now == nil {
				c.now = make(map[string]struct{})
			}
			c.now[key] = struct{}{}
		}
	}
}

func (c *carry) note(key string, n int) {
	if c.shown == nil {
		c.shown = make(map[string]int)
	}
	c.shown[key] += n
}

// interrupt readies the carry for the next attempt. Unless the thought came whole, all reasoning shown so far is to skip.
func (c *carry) interrupt(thoughtWhole bool) {
	c.later = true
	if !thoughtWhole {
		c.skip = maps.Clone(c.shown)
	}
	c.reopen()
}

// reopen readies the carry for an attempt that takes the place of one without content.
func (c *carry) reopen() {
	c.half = ""
	if c.earlier == nil {
		c.earlier = make(map[string]struct{})
	}
	maps.Copy(c.earlier, c.now)
	clear(c.now)
}

// wholeRunes holds back the bytes of a rune that m begins and does not end; nil if that is all of m. Only models that cut
// their text between bytes need it: what a JSON decoder yields ends with a rune.
func (c *carry) wholeRunes(m *schema.Message) *schema.Message {
	if m.Content == "" || c.half == "" && m.Content[len(m.Content)-1] < 0x80 {
		return m
	}
	text := c.half + m.Content
	n := snapshot.PartialRune(text)
	if snapshot.FinishReason(m) != "" {
		n = 0 // there is no more to come
	}
	if n == 0 && c.half == "" {
		return m
	}
	cut := *m
	cut.Content, c.half = text[:len(text)-n], strings.Clone(text[len(text)-n:])
	if isEmpty(&cut) {
		return nil
	}

	return &cut
}

// rest returns what is still held of a rune, at the end of an answer.
func (c *carry) rest() *schema.Message {
	if c.half == "" {
		return nil
	}
	m := &schema.Message{Role: c.role(), Content: c.half}
	c.half = ""

	return m
}

func (c *carry) role() schema.RoleType { return schema.RoleType(c.identity[0]) }

// marks returns what the message's Extra must tell a later call.
func (c *carry) marks(continuations int, dropped []string) map[string]any {
	m := make(map[string]any)
	if continuations > 0 {
		m[ExtraContinuations] = continuations
	}
	if len(dropped) > 0 {
		m[ExtraDroppedCalls] = strings.Join(dropped, "\n")
	}
	for key, n := range c.skip {
		if key != "" {
			key = "." + key
		}
		if n > 0 {
			m[ExtraReasoningSkip+key] = n
		}
	}
	if len(m) == 0 {
		return nil
	}

	return m
}
