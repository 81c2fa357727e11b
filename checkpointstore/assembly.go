package checkpointstore

import (
	"fmt"
	"maps"
	"slices"
)

// Apply returns what the deltas make of c, in a time that grows with what there is of them all together. The result
// shares memory with c and the deltas. The error is ErrCorrupt: a delta that does not go on from what is before it.
func Apply(c Checkpoint, deltas ...Delta) (Checkpoint, error) {
	a := assemblyOf(c)
	for _, d := range deltas {
		if err := a.add(d); err != nil {
			return Checkpoint{}, err
		}
	}

	return a.checkpoint(), nil
}

// assembly is a checkpoint that deltas are added to. What grows is kept apart, so that the cost of adding does not depend
// on what is there.
type assembly struct {
	c                     Checkpoint
	text, reasoning, open grown
	extra                 map[string]*grown
}

// grown is a string that is copied when something comes behind it, and then at its end only.
type grown struct {
	head string
	more []byte
}

func (g *grown) add(s string) {
	if s == "" {
		return
	}
	if g.head != "" {
		g.more, g.head = append(g.more, g.head...), ""
	}
	g.more = append(g.more, s...)
}

func (g *grown) String() string { return g.head + string(g.more) }

func assemblyOf(c Checkpoint) *assembly {
	c.ToolCalls, c.Extra = slices.Clip(c.ToolCalls), maps.Clone(c.Extra)
	a := &assembly{c: c, text: grown{head: c.Text}, reasoning: grown{head: c.Reasoning}}
	a.setOpen(c.OpenToolCall)

	return a
}

func (a *assembly) setOpen(t *ToolCall) {
	a.c.OpenToolCall, a.open = nil, grown{}
	if t != nil {
		open := *t
		a.c.OpenToolCall, a.open = &open, grown{head: t.Arguments}
	}
}

// add adds a delta. After an error a is of no use.
func (a *assembly) add(d Delta) error {
	if d.RunID != a.c.RunID || d.Epoch != a.c.Epoch || d.Owner != a.c.Owner || d.After != a.c.Seq || d.Seq <= d.After {
		return fmt.Errorf("%w: a delta of %.64q in epoch %d, from %d to %d, behind sequence %d of %.64q in epoch %d",
			ErrCorrupt, d.Owner, d.Epoch, d.After, d.Seq, a.c.Seq, a.c.Owner, a.c.Epoch)
	}
	if d.Continues && (a.c.OpenToolCall == nil || d.first() == nil) {
		return fmt.Errorf("%w: a delta continues a tool call that is not there", ErrCorrupt)
	}
	a.text.add(d.Text)
	a.reasoning.add(d.Reasoning)
	a.addCalls(d)
	if err := a.addExtra(d); err != nil {
		return err
	}
	a.c.Seq, a.c.Dropped, a.c.Usage, a.c.Done, a.c.FinishReason = d.Seq, d.Dropped, d.Usage, d.Done, d.FinishReason
	a.c.Interruptions, a.c.Takeovers, a.c.UpdatedAt = d.Interruptions, d.Takeovers, d.UpdatedAt

	return nil
}

func (a *assembly) addCalls(d Delta) {
	was := a.open
	if d.Continues {
		was.add(d.first().Arguments)
	}
	for i, c := range d.ToolCalls {
		if i == 0 && d.Continues {
			c.Arguments = was.String()
		}
		at := len(a.c.ToolCalls)
		for at > 0 && a.c.ToolCalls[at-1].Index > c.Index {
			at--
		}
		a.c.ToolCalls = slices.Insert(a.c.ToolCalls, at, c)
	}
	a.setOpen(d.OpenToolCall)
	if d.Continues && len(d.ToolCalls) == 0 {
		a.open = was
	}
}

func (a *assembly) addExtra(d Delta) error {
	if a.c.Extra == nil && d.Extra != nil {
		a.c.Extra = make(map[string]any, len(d.Extra))
	}
	for key, v := range d.Extra {
		a.c.Extra[key] = v
		delete(a.extra, key)
	}
	for key, more := range d.ExtraMore {
		g := a.extra[key]
		if g == nil {
			s, ok := a.c.Extra[key].(string)
			if !ok {
				return fmt.Errorf("%w: a delta adds to Extra[%.64q], which is no string", ErrCorrupt, key)
			}
			if a.extra == nil {
				a.extra = map[string]*grown{}
			}
			g = &grown{head: s}
			a.extra[key] = g
		}
		g.add(more)
	}

	return nil
}

func (a *assembly) checkpoint() Checkpoint {
	c := a.c
	c.Text, c.Reasoning = a.text.String(), a.reasoning.String()
	if c.OpenToolCall != nil {
		c.OpenToolCall.Arguments = a.open.String()
	}
	for key, g := range a.extra {
		c.Extra[key] = g.String()
	}

	return c
}

// read adds the delta that data begins with, and returns what is behind it.
func (a *assembly) read(data []byte) ([]byte, error) {
	r, rest, err := readRecord(data)
	if err != nil {
		return nil, err
	}
	if !r.Delta {
		return nil, errSecond
	}
	d, err := parseDelta(r.body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	d.RunID, d.Owner, d.Epoch, d.Seq = r.RunID, r.Owner, r.Epoch, r.Seq

	return rest, a.add(d)
}
