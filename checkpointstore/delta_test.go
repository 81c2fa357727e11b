package checkpointstore_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cs "github.com/eino-carryon/carryon/checkpointstore"
)

// steps are the checkpoints of an answer that grows: in text, thought, calls, Extra, one at a time and all at once.
func steps() []cs.Checkpoint {
	base := cs.Checkpoint{Version: cs.Version, RunID: "run-7", Owner: "a", Epoch: 3, Seq: 1, Fingerprint: "f", Provider: "p", Model: "m", Text: "Hel"}
	call := func(index int, id, arguments string) cs.ToolCall {
		return cs.ToolCall{Index: index, ID: id, Name: "f", Arguments: arguments, Extra: map[string]any{"signature": []byte{1}}}
	}
	open := func(c cs.ToolCall) *cs.ToolCall { return &c }
	all := []cs.Checkpoint{base}
	for _, step := range []func(*cs.Checkpoint){
		func(c *cs.Checkpoint) { c.Text += "lo" },
		func(c *cs.Checkpoint) { c.Reasoning += "Hm \xf0\x9f" },
		func(c *cs.Checkpoint) { c.Text, c.Reasoning = c.Text+", \"world\"\x00\n", c.Reasoning+"\x99\x82" },
		func(c *cs.Checkpoint) { c.Extra = map[string]any{} },
		func(c *cs.Checkpoint) {
			c.Extra = map[string]any{"thought": "Hm", "n": int64(1), "bytes": []byte("ab")}
		},
		func(c *cs.Checkpoint) {
			c.Extra = map[string]any{"thought": "Hm, so", "n": int64(2), "bytes": []byte("abc"), "new": []string{"x"}}
		},
		func(c *cs.Checkpoint) {
			c.Extra = map[string]any{"thought": "Hm, so.", "n": "two", "bytes": "abc", "new": []string{"x"}, "": map[string]any{"k": 1.5}}
		},
		func(c *cs.Checkpoint) { c.OpenToolCall = open(call(0, "c0", "")) },
		func(c *cs.Checkpoint) { c.OpenToolCall = open(call(0, "c0", `{"q":`)) },
		func(c *cs.Checkpoint) { c.OpenToolCall = open(call(0, "c0", `{"q":"x`)) },
		func(c *cs.Checkpoint) { // it is whole, and the next two are under way and whole
			c.ToolCalls = []cs.ToolCall{call(0, "c0", `{"q":"x"}`), call(1, "c1", `{}`)}
			c.OpenToolCall = open(call(2, "c2", `{"`))
		},
		func(c *cs.Checkpoint) {
			c.ToolCalls = append(c.ToolCalls, call(2, "c2", `{"a":1}`))
			c.OpenToolCall = nil
		},
		func(c *cs.Checkpoint) { c.OpenToolCall = open(call(3, "c3", `{"half`)) },
		func(c *cs.Checkpoint) { c.OpenToolCall, c.Dropped = open(call(4, "c4", `{"half`)), []string{"c3"} },
		func(c *cs.Checkpoint) { c.OpenToolCall = open(call(4, "c4", `{}`)) }, // other arguments
		func(c *cs.Checkpoint) { c.OpenToolCall, c.Dropped = nil, []string{} },
		func(c *cs.Checkpoint) {
			c.Usage, c.Interruptions, c.Takeovers = cs.Usage{Known: true, Prompt: 1, Unreported: 2}, 3, 4
		},
		func(c *cs.Checkpoint) { c.Done, c.FinishReason, c.Text = true, "stop", c.Text+"!" },
	} {
		next := all[len(all)-1]
		next.ToolCalls, next.Seq = append([]cs.ToolCall(nil), next.ToolCalls...), next.Seq+uint64(len(all))
		next.UpdatedAt = time.Date(2026, 5, 4, 3, 2, len(all), 1, time.UTC)
		step(&next)
		all = append(all, next)
	}

	return all
}

func TestDeltasMakeWhatWasDiffed(t *testing.T) {
	t.Parallel()
	all := steps()
	var deltas []cs.Delta
	for i := range len(all) - 1 {
		d, ok := cs.Diff(all[i], all[i+1])
		require.True(t, ok)
		got, err := cs.Apply(all[i], d)
		require.NoError(t, err)
		assert.Equal(t, all[i+1], got, "step %d", i)
		deltas = append(deltas, d)
	}
	got, err := cs.Apply(all[0], deltas...)
	require.NoError(t, err)
	assert.Equal(t, all[len(all)-1], got)
	assert.Equal(t, steps(), all, "nothing was written to")

	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if d, ok := cs.Diff(all[i], all[j]); ok {
				got, err := cs.Apply(all[i], d)
				require.NoError(t, err)
				assert.Equal(t, all[j], got, "from %d to %d", i, j)
			}
		}
	}
}

// TestADeltaHoldsOnlyWhatIsNew: what was there costs nothing, wherever it is.
func TestADeltaHoldsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	before := cs.Checkpoint{
		RunID: "r", Seq: 1, Text: long, Reasoning: long, ToolCalls: []cs.ToolCall{{Arguments: long}}, OpenToolCall: &cs.ToolCall{Index: 1, Arguments: long},
		Extra: map[string]any{"same": long, "grows": long, "map": map[string]any{"in": long}},
	}
	next := before
	next.Seq, next.Text, next.Reasoning = 2, long+"y", long+"y"
	next.OpenToolCall = &cs.ToolCall{Index: 1, Arguments: long + "y"}
	next.Extra = map[string]any{"same": long, "grows": long + "y", "map": map[string]any{"in": long}, "new": "y"}
	d, ok := cs.Diff(before, next)
	require.True(t, ok)
	data, err := cs.EncodeDelta(d)
	require.NoError(t, err)
	assert.Less(t, len(data), 700)

	next.ToolCalls, next.OpenToolCall = append(before.ToolCalls[:1:1], *next.OpenToolCall), nil
	d, ok = cs.Diff(before, next)
	require.True(t, ok)
	data, err = cs.EncodeDelta(d)
	require.NoError(t, err)
	assert.Less(t, len(data), 700, "a call that was under way and is whole now")
}

func TestDiffOfWhatDoesNotOnlyGrow(t *testing.T) {
	t.Parallel()
	all := steps()
	before := all[len(all)-2]
	for name, change := range map[string]func(*cs.Checkpoint){
		"another run":         func(c *cs.Checkpoint) { c.RunID = "run-8" },
		"another owner":       func(c *cs.Checkpoint) { c.Owner = "b" },
		"another epoch":       func(c *cs.Checkpoint) { c.Epoch++ },
		"the same sequence":   func(c *cs.Checkpoint) { c.Seq = before.Seq },
		"another request":     func(c *cs.Checkpoint) { c.Fingerprint = "g" },
		"another provider":    func(c *cs.Checkpoint) { c.Provider = "q" },
		"another model":       func(c *cs.Checkpoint) { c.Model = "n" },
		"a shorter text":      func(c *cs.Checkpoint) { c.Text = c.Text[1:] },
		"a shorter thought":   func(c *cs.Checkpoint) { c.Reasoning = "" },
		"a call less":         func(c *cs.Checkpoint) { c.ToolCalls = c.ToolCalls[:1] },
		"a call's arguments":  func(c *cs.Checkpoint) { c.ToolCalls[0].Arguments += " " },
		"a call's id":         func(c *cs.Checkpoint) { c.ToolCalls[0].ID = "d" },
		"a call's Extra":      func(c *cs.Checkpoint) { c.ToolCalls[0].Extra = nil },
		"a key less":          func(c *cs.Checkpoint) { c.Extra = map[string]any{"n": "two"} },
		"no Extra":            func(c *cs.Checkpoint) { c.Extra = nil },
		"no calls, then none": func(c *cs.Checkpoint) { c.ToolCalls = []cs.ToolCall{} },
	} {
		next := steps()[len(all)-1]
		change(&next)
		_, ok := cs.Diff(before, next)
		assert.False(t, ok, name)
	}
	_, ok := cs.Diff(cs.Checkpoint{RunID: "r"}, cs.Checkpoint{RunID: "r", Seq: 1, ToolCalls: []cs.ToolCall{}})
	assert.False(t, ok, "a list that is empty is not one that is nil")
}

// TestCallsThatBecomeWholeInAnotherOrder: each stands where its index puts it. What no index puts there is no matter of adding.
func TestCallsThatBecomeWholeInAnotherOrder(t *testing.T) {
	t.Parallel()
	calls := func(indices ...int) (list []cs.ToolCall) {
		for _, i := range indices {
			list = append(list, cs.ToolCall{Index: i, ID: fmt.Sprint("c", i), Arguments: "{}"})
		}

		return list
	}
	at := func(seq uint64, list []cs.ToolCall) cs.Checkpoint {
		return cs.Checkpoint{RunID: "r", Seq: seq, ToolCalls: list}
	}
	for _, test := range []struct {
		before, next []int
		added        int // -1: no delta
	}{
		{[]int{2}, []int{0, 2}, 1},
		{[]int{2}, []int{0, 2, 4}, 2},
		{[]int{2, 6}, []int{0, 2, 4, 6, 8}, 3},
		{[]int{8}, []int{0, 2, 4, 6, 8}, 4},
		{nil, []int{0, 2}, 2},
		{[]int{2}, []int{2, 2}, 1},
		{nil, []int{2, 0}, -1},
		{[]int{2}, []int{2, 0}, -1},
		{[]int{0}, []int{2, 0}, -1},
		{[]int{0, 8}, []int{0, 4, 8, 6}, -1},
		{[]int{8, 0}, []int{8, 0, 4}, 1},
		{[]int{8, 0}, []int{8, 4, 0}, -1},
	} {
		before, next := at(1, calls(test.before...)), at(2, calls(test.next...))
		d, ok := cs.Diff(before, next)
		require.Equal(t, test.added >= 0, ok, "%v to %v", test.before, test.next)
		if !ok {
			continue
		}
		assert.Len(t, d.ToolCalls, test.added)
		got, err := cs.Apply(before, d)
		require.NoError(t, err)
		assert.Equal(t, next, got, "%v to %v", test.before, test.next)
		assert.Equal(t, calls(test.before...), before.ToolCalls, "it was not written to")
	}
}

// TestEveryFieldIsInTheDelta: a field that is new in Checkpoint must not be forgotten.
func TestEveryFieldIsInTheDelta(t *testing.T) {
	t.Parallel()
	before := cs.Checkpoint{Version: cs.Version, RunID: "r", Owner: "o", Epoch: 1, Fingerprint: "f", Provider: "p", Model: "m"}
	next := full()
	next.RunID, next.Owner, next.Epoch, next.Fingerprint, next.Provider, next.Model = "r", "o", 1, "f", "p", "m"
	d, ok := cs.Diff(before, next)
	require.True(t, ok)
	data, err := cs.EncodeDelta(d)
	require.NoError(t, err)
	got, err := cs.DecodeFor("r", append(encode(t, before), data...))
	require.NoError(t, err)
	assert.Equal(t, next, got)
	v := reflect.ValueOf(d)
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Name; name {
		case "After", "Continues", "ExtraMore": // steps has these
		default:
			assert.False(t, v.Field(i).IsZero(), "the test leaves %s out", name)
		}
	}
}

func TestApplyRefusesWhatDoesNotGoOn(t *testing.T) {
	t.Parallel()
	c := cs.Checkpoint{RunID: "r", Owner: "o", Epoch: 2, Seq: 5, Extra: map[string]any{"n": int64(1)}}
	good := cs.Delta{RunID: "r", Owner: "o", Epoch: 2, After: 5, Seq: 6, Text: "x"}
	_, err := cs.Apply(c, good)
	require.NoError(t, err)
	for name, change := range map[string]func(*cs.Delta){
		"another run":                func(d *cs.Delta) { d.RunID = "s" },
		"another owner":              func(d *cs.Delta) { d.Owner = "" },
		"another epoch":              func(d *cs.Delta) { d.Epoch = 3 },
		"an earlier sequence":        func(d *cs.Delta) { d.After = 4 },
		"a later sequence":           func(d *cs.Delta) { d.After, d.Seq = 6, 7 },
		"backwards":                  func(d *cs.Delta) { d.Seq = 5 },
		"a call that is not there":   func(d *cs.Delta) { d.Continues, d.OpenToolCall = true, &cs.ToolCall{} },
		"no call":                    func(d *cs.Delta) { d.Continues = true },
		"more of what is no string":  func(d *cs.Delta) { d.ExtraMore = map[string]string{"n": "x"} },
		"more of what is not there":  func(d *cs.Delta) { d.ExtraMore = map[string]string{"m": "x"} },
		"of a key that it sets, too": func(d *cs.Delta) { d.Extra, d.ExtraMore = map[string]any{"n": true}, map[string]string{"n": "x"} },
	} {
		bad := good
		change(&bad)
		_, err := cs.Apply(c, bad)
		require.ErrorIs(t, err, cs.ErrCorrupt, name)
	}
	_, err = cs.Apply(c, good, good)
	require.ErrorIs(t, err, cs.ErrCorrupt, "twice")
	_, err = cs.EncodeDelta(cs.Delta{RunID: "r", After: 5, Seq: 5})
	require.Error(t, err)
}
