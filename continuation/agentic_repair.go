package continuation

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// RepairTyped is [Repair] for either message type. Of a *schema.AgenticMessage it takes out the blocks of thoughts that
// broke off. A message without a mark is returned as it is; otherwise a copy is returned and msg is not changed.
// A nil message is nil.
func RepairTyped[M MessageType](msg M) M {
	var mended any
	switch m := any(msg).(type) {
	case *schema.Message:
		mended = Repair(m)
	case *schema.AgenticMessage:
		mended = repaired(m)
	}
	m, _ := mended.(M)

	return m
}

func repaired(m *schema.AgenticMessage) *schema.AgenticMessage {
	if m == nil {
		return nil
	}
	mark, marked := m.Extra[ExtraBrokenBlocks]
	if !marked {
		return m
	}
	c := *m
	c.Extra = maps.Clone(m.Extra)
	delete(c.Extra, ExtraBrokenBlocks)
	c.ContentBlocks = nil
	text, _ := mark.(string)
	broken := strings.Split(text, "\n")
	for i, b := range m.ContentBlocks {
		if b != nil && (b.Reasoning != nil || b.AssistantGenText != nil) && slices.Contains(broken, strconv.Itoa(i)) {
			continue
		}
		c.ContentBlocks = append(c.ContentBlocks, b)
	}

	return &c
}

// repairAgentic returns in, or a copy of it in which the messages are repaired.
func repairAgentic(in []*schema.AgenticMessage) []*schema.AgenticMessage {
	out, copied := in, false
	for i, m := range in {
		r := repaired(m)
		if r == m {
			continue
		}
		if !copied {
			out, copied = slices.Clone(in), true
		}
		out[i] = r
	}

	return out
}
