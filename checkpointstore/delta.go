package checkpointstore

import (
	"maps"
	"reflect"
	"strings"
	"time"
)

// Delta is what makes the checkpoint of sequence Seq of that of sequence After: what one writer has to add within its
// epoch. Fingerprint, Provider and Model stay. Diff makes one, Apply puts it to use, and an Appender stores it.
type Delta struct {
	RunID string
	// Owner and Epoch are those of both checkpoints.
	Owner string
	Epoch uint64
	// After is the sequence of the checkpoint before, Seq the one that the delta leads to; it is later.
	After, Seq uint64

	// Text and Reasoning are what came behind what is there.
	Text, Reasoning string
	// ToolCalls are those that came whole since. Each stands behind those whose index is not greater.
	ToolCalls []ToolCall
	// OpenToolCall is the call that is under way now; nil if none is.
	OpenToolCall *ToolCall
	// Continues means that the first of ToolCalls or, if there is none, OpenToolCall is the call that was under way
	// before, and has of its arguments only what came since.
	Continues bool
	// Extra holds the keys that are new or have another value, ExtraMore what came behind strings that only grew.
	Extra     map[string]any
	ExtraMore map[string]string

	// The rest is as Checkpoint has it, whole.
	Dropped                  []string
	Usage                    Usage
	Done                     bool
	FinishReason             string
	Interruptions, Takeovers int
	UpdatedAt                time.Time
}

// Fence returns the fence of the checkpoint that the delta leads to.
func (d Delta) Fence() Fence { return Fence{Epoch: d.Epoch, Seq: d.Seq, Owner: d.Owner} }

// Diff returns what makes next of before. It reports false if that is no matter of adding: another run, writer, epoch or
// request, a sequence that is not later, or something that was there and is not any more, or not as it was. Both are
// normalized (see Normalize); the delta shares memory with next.
func Diff(before, next Checkpoint) (Delta, bool) {
	d := Delta{
		RunID: next.RunID, Owner: next.Owner, Epoch: next.Epoch, After: before.Seq, Seq: next.Seq,
		OpenToolCall: next.OpenToolCall, Dropped: next.Dropped, Usage: next.Usage, Done: next.Done, FinishReason: next.FinishReason,
		Interruptions: next.Interruptions, Takeovers: next.Takeovers, UpdatedAt: next.UpdatedAt,
	}
	same := before.RunID == next.RunID && before.Owner == next.Owner && before.Epoch == next.Epoch && before.Seq < next.Seq &&
		before.Fingerprint == next.Fingerprint && before.Provider == next.Provider && before.Model == next.Model
	var text, reasoning bool
	d.Text, text = strings.CutPrefix(next.Text, before.Text)
	d.Reasoning, reasoning = strings.CutPrefix(next.Reasoning, before.Reasoning)

	return d, same && text && reasoning && d.addCalls(before, next) && d.addExtra(before.Extra, next.Extra)
}

// addCalls adds the calls that are new, and reports false if old ones are not there as they were, or new ones do not stand where
// their index puts them.
func (d *Delta) addCalls(before, next Checkpoint) bool {
	if len(next.ToolCalls) == 0 && (before.ToolCalls == nil) != (next.ToolCalls == nil) {
		return false
	}
	old := before.ToolCalls
	for i, c := range next.ToolCalls {
		switch {
		case len(old) > 0 && c.Arguments == old[0].Arguments && c.like(old[0]):
			old = old[1:]
			if n := len(d.ToolCalls); n > 0 && d.ToolCalls[n-1].Index >= c.Index {
				return false
			}
		case i > 0 && next.ToolCalls[i-1].Index > c.Index:
			return false
		default:
			d.ToolCalls = append(d.ToolCalls, c)
		}
	}
	if len(old) > 0 {
		return false
	}
	d.goOn(before.OpenToolCall)

	return true
}

// goOn takes from the call that was under way what had come of it.
func (d *Delta) goOn(open *ToolCall) {
	first := d.first()
	if open == nil || first == nil || !first.like(*open) {
		return
	}
	if more, ok := strings.CutPrefix(first.Arguments, open.Arguments); ok {
		cut := *first
		cut.Arguments = more
		d.Continues = true
		d.setFirst(cut)
	}
}

// like reports whether both are the same call, but for its arguments.
func (t ToolCall) like(other ToolCall) bool {
	return t.Index == other.Index && t.ID == other.ID && t.Type == other.Type && t.Name == other.Name && reflect.DeepEqual(t.Extra, other.Extra)
}

// first returns the call that may be the one that was under way; nil if there is none.
func (d *Delta) first() *ToolCall {
	if len(d.ToolCalls) > 0 {
		return &d.ToolCalls[0]
	}

	return d.OpenToolCall
}

func (d *Delta) setFirst(t ToolCall) {
	if len(d.ToolCalls) > 0 {
		d.ToolCalls[0] = t // of the delta's own list
	} else {
		d.OpenToolCall = &t
	}
}

// addExtra adds the keys that are new or changed, and reports false if some have gone.
func (d *Delta) addExtra(before, next map[string]any) bool {
	if (next == nil) != (before == nil) {
		d.Extra = maps.Clone(next)

		return before == nil
	}
	for key := range before {
		if _, ok := next[key]; !ok {
			return false
		}
	}
	for key, v := range next {
		old, ok := before[key]
		if ok && reflect.DeepEqual(old, v) {
			continue
		}
		was, isString := old.(string)
		if now, isToo := v.(string); isString && isToo && strings.HasPrefix(now, was) {
			if d.ExtraMore == nil {
				d.ExtraMore = map[string]string{}
			}
			d.ExtraMore[key] = now[len(was):]

			continue
		}
		if d.Extra == nil {
			d.Extra = map[string]any{}
		}
		d.Extra[key] = v
	}

	return true
}
