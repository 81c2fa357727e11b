package snapshot

import (
	"math"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// CallState says how much of a tool call has arrived.
type CallState int

const (
	// CallOpen means that the arguments so far are the beginning of a JSON object.
	CallOpen CallState = iota
	// CallWhole means that the call has a name and its arguments are one closed JSON object; or they are empty and the
	// provider has gone on to the next call or to the end, which is how some send a call without arguments.
	CallWhole
	// CallMalformed means that nothing that follows can make the arguments a JSON object. Also null and arrays.
	CallMalformed
	// CallNameless means that the arguments are whole, but no name has come.
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

// ToolCall is a tool call as far as it has arrived. Its Extra is a copy, down to the slices and maps in it.
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
	index         int // the one given to the consumer
	id, typ, name string
	args          growing
	scan          objectScan
	conflict      bool // a second name came for the same call
	followed      bool // a later call has begun
	sealed        bool // the consumer has it as it was: what comes behind it cannot change it any more
	extra         map[string]any
}

func (c *call) state(ended bool) CallState {
	switch {
	case c.sealed:
		return CallWhole
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
		Arguments: c.args.view(), Extra: cloneExtra(c.extra), State: c.state(ended),
	}
}

func (c *call) add(d *schema.ToolCall) {
	if c.sealed {
		return
	}
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
	c.args.add(d.Function.Arguments)
	c.scan.write(d.Function.Arguments)
}

// isNew reports whether a delta that points at c by its index in fact begins another call: some providers repeat an
// index. A delta with a name of its own does so if it brings another id, or, where the ids do not say that it is the
// same call, if c is closed already and the delta says something else.
func (c *call) isNew(d *schema.ToolCall) bool {
	if d.Function.Name == "" {
		return false
	}
	if c.id != "" && d.ID != "" {
		return c.id != d.ID
	}
	otherName := c.name != "" && c.name != d.Function.Name

	return c.scan.closed() && (otherName || strings.Trim(d.Function.Arguments, " \t\r\n") != "")
}

// continuedBy reports whether d, which has no index, can be more of c, the last call: it brings nothing, or only what
// c still lacks.
func (c *call) continuedBy(d *schema.ToolCall) bool {
	if d.ID == "" && d.Function.Name == "" {
		return true
	}

	return (d.ID == "" || c.id == "") && (d.Function.Name == "" || c.name == "") && !c.scan.closed()
}

// repeats reports whether d, which has no index, names c by its id and does not say otherwise.
func (c *call) repeats(d *schema.ToolCall) bool {
	return c.id == d.ID && !c.scan.closed() && (d.Function.Name == "" || c.name == "" || c.name == d.Function.Name)
}

// callSet assembles the tool calls of one attempt. Calls are known by their ordinal, in order of appearance. Looking
// one up does not depend on how many there are.
type callSet struct {
	calls   []*call
	touched []int          // ordinals that the last chunk changed, in its order
	next    int            // the next free index
	byIndex map[int]int    // the provider's index: ordinal of the latest call that has it
	byID    map[string]int // the provider's id, likewise
}

// reset forgets the calls of an attempt that broke. None of them was delivered, or the answer would have ended with
// them, so their indices are free again.
func (s *callSet) reset() { *s = callSet{touched: s.touched[:0]} }

func (s *callSet) add(deltas []schema.ToolCall) {
	s.touched = s.touched[:0]
	for i := range deltas {
		d := &deltas[i]
		n, ok := s.find(d)
		if !ok {
			n = s.begin(d)
		}
		c := s.calls[n]
		c.add(d)
		if c.id != "" && c.id == d.ID {
			s.byID[c.id] = n
		}
		s.touched = append(s.touched, n)
	}
}

// find returns the ordinal of the call that d continues; false if d begins one. Without an index a delta belongs to the
// call whose id it repeats, else to the last call.
func (s *callSet) find(d *schema.ToolCall) (int, bool) {
	if d.Index != nil {
		n, ok := s.byIndex[*d.Index]

		return n, ok && !s.calls[n].isNew(d)
	}
	if d.ID != "" {
		if n, ok := s.byID[d.ID]; ok {
			return n, s.calls[n].repeats(d)
		}
	}
	last := len(s.calls) - 1

	return last, last >= 0 && s.calls[last].continuedBy(d)
}

func (s *callSet) begin(d *schema.ToolCall) int {
	n := len(s.calls)
	if n == 0 {
		s.byIndex, s.byID = map[int]int{}, map[string]int{}
	} else {
		s.calls[n-1].followed = true
	}
	c := &call{index: s.next, extra: cloneExtra(d.Extra)}
	if d.Index != nil {
		s.byIndex[*d.Index] = n
		if *d.Index >= s.next && *d.Index < math.MaxInt32 { // an absurd index leaves no room for the next one
			c.index = *d.Index
		}
	}
	s.next = c.index + 1
	s.calls = append(s.calls, c)

	return n
}
