package snapshot

import (
	"maps"
	"math"

	"github.com/cloudwego/eino/schema"
)

// CallState says how much of a tool call has arrived.
type CallState int

const (
	// CallOpen: the arguments so far are the beginning of a JSON object.
	CallOpen CallState = iota
	// CallWhole: the call has a name and its arguments are one closed JSON object; or they are empty and the provider
	// has gone on to the next call or to the end, which is how some send a call without arguments.
	CallWhole
	// CallMalformed: nothing that follows can make the arguments a JSON object. Also null and arrays.
	CallMalformed
	// CallNameless: the arguments are whole, but no name has come.
	CallNameless
)

// String returns "open", "whole", "malformed" or "nameless".
func (s CallState) String() string {
	switch s {
	case CallOpen:
		return "open"
	case CallWhole:
		return "whole"
	case CallMalformed:
		return "malformed"
	case CallNameless:
		return "nameless"
	default:
		return "unknown"
	}
}

// ToolCall is a tool call as far as it has arrived. Its Extra is a copy.
type ToolCall struct {
	Index     int    // its place in the answer: the provider's if it rises, else the next free one
	ID        string // the provider's; empty stays empty
	Type      string
	Name      string
	Arguments string // as they came, never repaired
	Extra     map[string]any
	State     CallState
}

// Schema returns the call as Eino's type, with its index.
func (t ToolCall) Schema() schema.ToolCall {
	index := t.Index

	return schema.ToolCall{
		Index:    &index,
		ID:       t.ID,
		Type:     t.Type,
		Function: schema.FunctionCall{Name: t.Name, Arguments: t.Arguments},
		Extra:    t.Extra,
	}
}

// call is a tool call that is being assembled from deltas.
type call struct {
	index         int  // the one given to the consumer
	provider      int  // the one the provider gave
	indexed       bool // the provider gave one
	id, typ, name string
	args          []byte
	scan          objectScan
	conflict      bool // a second name came for the same call
	followed      bool // a later call has begun
	extra         map[string]any
}

func (c *call) state(ended bool) CallState {
	switch {
	case c.conflict || c.scan.bad():
		return CallMalformed
	case !c.scan.closed() && (!c.scan.empty() || !c.followed && !ended):
		return CallOpen
	case c.name == "":
		return CallNameless
	default:
		return CallWhole
	}
}

func (c *call) view(ended bool) ToolCall {
	return ToolCall{
		Index: c.index, ID: c.id, Type: c.typ, Name: c.name,
		Arguments: string(c.args), Extra: c.extra, State: c.state(ended),
	}
}

func (c *call) add(d *schema.ToolCall) {
	if c.id == "" {
		c.id = d.ID
	}
	if c.typ == "" {
		c.typ = d.Type
	}
	switch {
	case c.name == "":
		c.name = d.Function.Name
	case d.Function.Name != "" && d.Function.Name != c.name:
		c.conflict = true
	}
	c.args = append(c.args, d.Function.Arguments...)
	c.scan.write(d.Function.Arguments)
}

// isNew reports whether a delta that points at c in fact begins another call: some providers repeat an index.
// A delta with a name of its own does so if it brings another id, or if c is closed already.
func (c *call) isNew(d *schema.ToolCall) bool {
	if d.Function.Name == "" {
		return false
	}

	return c.id != "" && d.ID != "" && c.id != d.ID || c.scan.closed() && d.Function.Arguments != ""
}

// callSet assembles the tool calls of one attempt. Calls are known by their ordinal, in order of appearance.
type callSet struct {
	calls   []*call
	touched []int // ordinals that the last chunk changed, in its order
	next    int   // the next free index
}

// reset forgets the calls of an attempt that broke. None of them was delivered, or the answer would have ended with
// them, so their indices are free again.
func (s *callSet) reset() { *s = callSet{touched: s.touched[:0]} }

func (s *callSet) add(deltas []schema.ToolCall) {
	s.touched = s.touched[:0]
	for i := range deltas {
		n := s.find(&deltas[i])
		if n < 0 {
			n = s.begin(&deltas[i])
		}
		s.calls[n].add(&deltas[i])
		s.touched = append(s.touched, n)
	}
}

// find returns the ordinal of the call that d continues; -1 if d begins one.
func (s *callSet) find(d *schema.ToolCall) int {
	for n := len(s.calls) - 1; n >= 0; n-- {
		c := s.calls[n]
		if !c.matches(d, n == len(s.calls)-1) {
			continue
		}
		if c.isNew(d) {
			return -1
		}

		return n
	}

	return -1
}

// matches reports whether d points at c. Without an index a delta belongs to the last call, if it brings nothing that
// says otherwise.
func (c *call) matches(d *schema.ToolCall, last bool) bool {
	if d.Index != nil {
		return c.indexed && c.provider == *d.Index
	}
	if !last {
		return false
	}
	if d.ID == "" && d.Function.Name == "" {
		return true
	}

	return d.ID != "" && d.ID == c.id && !c.scan.closed()
}

func (s *callSet) begin(d *schema.ToolCall) int {
	for _, c := range s.calls {
		c.followed = true
	}
	c := &call{index: s.next, extra: maps.Clone(d.Extra)}
	if d.Index != nil {
		c.provider, c.indexed = *d.Index, true
		if *d.Index >= s.next && *d.Index < math.MaxInt32 { // an absurd index leaves no room for the next one
			c.index = *d.Index
		}
	}
	s.next = c.index + 1
	s.calls = append(s.calls, c)

	return len(s.calls) - 1
}
