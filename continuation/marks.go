package continuation

import (
	"strings"

	"github.com/cloudwego/eino/schema"
)

// The keys under which a recovered message says, in its Extra, what a later call must know. Values are flat numbers and
// strings, each sent in one chunk only: those survive Eino's concatenation, JSON and the checkpoints of ADK and compose.
const (
	// ExtraContinuations holds how many continuations and restarts made the message.
	ExtraContinuations = "carryon_continuations"
	// ExtraDroppedCalls holds the names of the tool calls that were cut off, one a line.
	ExtraDroppedCalls = "carryon_dropped_calls"
	// ExtraReasoningSkip holds how many bytes at the start of ReasoningContent are of a thought that broke off.
	// With a dot and an Extra key behind it, the same of what is under that key: bytes of a string, elements of a list.
	ExtraReasoningSkip = "carryon_reasoning_skip"
	// ExtraReasoningEnd holds where the reasoning ends, in bytes from its start, if half a thought comes behind it.
	// With a dot and an Extra key behind it, the same of what is under that key.
	ExtraReasoningEnd = "carryon_reasoning_end"
	// ExtraUnreported holds how many of the attempts that made the message ended before they had reported all that they
	// used. The message's usage is the least that it was then; see [snapshot.Usage].
	ExtraUnreported = "carryon_unreported_attempts"
	// ExtraBrokenBlocks holds, in a *schema.AgenticMessage, the positions in ContentBlocks of thoughts that broke off, one
	// a line.
	ExtraBrokenBlocks = "carryon_broken_blocks"
)

// markInt reads a number that may have become a float64 in JSON.
func markInt(m *schema.Message, key string) int {
	switch v := m.Extra[key].(type) {
	case int:
		return v
	case int64:
		return int(v)
	case float64:
		return int(v)
	default:
		return 0
	}
}

// droppedCalls returns the names of the calls that m's model began and that were cut off.
func droppedCalls(m *schema.Message) []string {
	return droppedNames(m.Extra)
}

func droppedNames(extra map[string]any) []string {
	s, _ := extra[ExtraDroppedCalls].(string)
	if s == "" {
		return nil
	}

	return strings.Split(s, "\n")
}

// marks returns what the message's Extra must tell a later call.
func (c *carry) marks(continuations int, dropped []string) map[string]any {
	m := make(map[string]any)
	if continuations > 0 {
		m[ExtraContinuations] = continuations
	}
	if len(dropped) > 0 {
		m[ExtraDroppedCalls] = strings.Join(dropped, "\n")
	}
	if c.layout == nil {
		mark(m, ExtraReasoningSkip, c.skip)
		mark(m, ExtraReasoningEnd, c.cut)
	} else if s := c.layout.brokenPositions(); s != "" {
		m[ExtraBrokenBlocks] = s
	}
	if len(m) == 0 {
		return nil
	}

	return m
}

// withMark adds a mark to those that there are; nil if there are none.
func withMark(extra map[string]any, key string, n int) map[string]any {
	if extra == nil {
		extra = make(map[string]any, 1)
	}
	extra[key] = n

	return extra
}

func mark(extra map[string]any, name string, sizes map[string]int) {
	for key, n := range sizes {
		if key != "" {
			key = "." + key
		}
		if n > 0 {
			extra[name+key] = n
		}
	}
}
