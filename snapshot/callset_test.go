package snapshot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deltas reads chunks from a transcript: "index id name arguments", with - for what is empty and _ for no index, "&"
// between the deltas of one chunk and "|" between chunks.
func deltas(t *testing.T, text string) [][]schema.ToolCall {
	t.Helper()

	var chunks [][]schema.ToolCall
	for chunk := range strings.SplitSeq(text, " | ") {
		var all []schema.ToolCall
		for piece := range strings.SplitSeq(chunk, " & ") {
			fields := strings.SplitN(piece, " ", 4)
			for i, f := range fields {
				if f == "-" {
					fields[i] = ""
				}
			}
			index := nilIndex
			switch fields[0] {
			case "_":
			case "max":
				index = math.MaxInt
			default:
				n, err := strconv.Atoi(fields[0])
				require.NoError(t, err)
				index = n
			}
			all = append(all, delta(index, fields[1], fields[2], fields[3]))
		}
		chunks = append(chunks, all)
	}

	return chunks
}

func TestCallsAreAssembled(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, chunks string
		ended        bool // a finish reason follows
		want         string
	}{
		{"in pieces", `0 c1 find - | 0 - - {"q" | 0 - - :1}`, false, `0 c1 find {"q":1} whole`},
		{"in one chunk", `0 c1 find {"q" & 0 - - :1}`, false, `0 c1 find {"q":1} whole`},
		{"cut", `0 c1 find {"q":"a}`, false, `0 c1 find {"q":"a} open`},
		{"cut before a finish reason", `0 c1 find {"q":"a}`, true, `0 c1 find {"q":"a} open`},
		{"with white space around", "0 c1 find  { | 0 - - }\n", false, "0 c1 find  {}\n whole"},
		{"empty object", `0 c1 find {}`, false, `0 c1 find {} whole`},
		{"no arguments yet", `0 c1 find -`, false, `0 c1 find  open`},
		{"no arguments at the end", `0 c1 find -`, true, `0 c1 find  whole`},
		{"no arguments but white space at the end", `0 c1 find  `, true, `0 c1 find   whole`},
		{"no arguments and another call", `0 c1 find - | 1 c2 read {`, false, `0 c1 find  whole | 1 c2 read { open`},
		{
			"no arguments, then some after all", `0 c1 find - | 1 c2 read - | 0 - - {`, false,
			`0 c1 find { open | 1 c2 read  open`,
		},
		{"no name and no arguments at the end", `0 c1 - -`, true, `0 c1   nameless`},

		{"malformed", `0 c1 find {"q":}`, true, `0 c1 find {"q":} malformed`},
		{"null", `0 c1 find null`, true, `0 c1 find null malformed`},
		{"array", `0 c1 find []`, true, `0 c1 find [] malformed`},
		{"arguments repeated whole", `0 c1 find {} | 0 - - {}`, false, `0 c1 find {}{} malformed`},

		{"name late", `0 c1 - {"q" | 0 - find :1}`, false, `0 c1 find {"q":1} whole`},
		{"name after the arguments", `0 c1 - {} | 0 - find -`, false, `0 c1 find {} whole`},
		{"name never", `0 c1 - {}`, true, `0 c1  {} nameless`},
		{"name in every delta", `0 c1 find { | 0 c1 find }`, false, `0 c1 find {} whole`},
		{"name repeated after the end", `0 c1 find {} | 0 c1 find -`, false, `0 c1 find {} whole`},
		{"name repeated with white space", `0 c1 find {} | 0 c1 find  `, false, `0 c1 find {}  whole`},
		{"the same id said twice", `0 c1 find {} | 0 c1 find {}`, false, `0 c1 find {}{} malformed`},
		{"name changes", `0 c1 find { | 0 - read }`, true, `0 c1 find {} malformed`},

		{"id late", `0 - find { | 0 c1 - }`, false, `0 c1 find {} whole`},
		{"id never", `0 - find {}`, false, `0  find {} whole`},
		{"id new in every delta", `0 c1 find { | 0 c9 - }`, false, `0 c1 find {} whole`},

		{
			"interleaved", `0 c1 find - | 1 c2 read - | 0 - - { | 1 - - {"p" | 0 - - } | 1 - - :2}`, false,
			`0 c1 find {} whole | 1 c2 read {"p":2} whole`,
		},
		{
			"index does not begin at zero", `3 c1 find {} | 7 c2 read {}`, false,
			`3 c1 find {} whole | 7 c2 read {} whole`,
		},
		{
			"index goes back", `5 c1 find {} | 2 c2 read { | 2 - - } | 6 c3 list {}`, false,
			`5 c1 find {} whole | 6 c2 read {} whole | 7 c3 list {} whole`,
		},
		{
			"two names with one index and no id", `0 - find {} | 0 - read - | 0 - - {`, false,
			`0  find {} whole | 1  read { open`,
		},
		{"index negative", `-1 c1 find { | -1 - - } | -2 c2 read {}`, false, `0 c1 find {} whole | 1 c2 read {} whole`},
		{"index huge", `max c1 find { | max - - } | 0 c2 read {}`, false, `0 c1 find {} whole | 1 c2 read {} whole`},
		{
			"two calls with one index and two ids", `0 c1 find { | 0 c2 read { | 0 - - }`, false,
			`0 c1 find { open | 1 c2 read {} whole`,
		},
		{
			"two calls with one index and no id", `0 - find {} | 0 - find {"q" | 0 - - :1}`, false,
			`0  find {} whole | 1  find {"q":1} whole`,
		},
		{
			"two calls with one index, in one chunk", `0 c1 find {} & 0 c2 find {}`, false,
			`0 c1 find {} whole | 1 c2 find {} whole`,
		},

		{"no index, pieces without a name", `_ c1 find - | _ - - {"a" | _ - - :1}`, false, `0 c1 find {"a":1} whole`},
		{"no index, id in every delta", `_ c1 find - | _ c1 - { | _ c1 - }`, false, `0 c1 find {} whole`},
		{
			"no index, id and name in every delta", `_ c1 find - | _ c1 find { | _ c1 find }`, false,
			`0 c1 find {} whole`,
		},
		{
			"no index, two calls in pieces", `_ c1 find { | _ - - } | _ c2 read { | _ - - }`, false,
			`0 c1 find {} whole | 1 c2 read {} whole`,
		},
		{
			"no index, interleaved by id", `_ c1 find { | _ c2 read { | _ c1 - } | _ c2 - }`, false,
			`0 c1 find {} whole | 1 c2 read {} whole`,
		},
		{"no index, id late", `_ - find { | _ c1 - }`, false, `0 c1 find {} whole`},
		{"no index, an id after the end", `_ - find {} | _ c2 - {`, false, `0  find {} whole | 1 c2  { open`},
		{"no index, name late", `_ c1 - { | _ - find }`, false, `0 c1 find {} whole`},
		{
			"no index, whole calls without ids", `_ - find {} & _ - find {} | _ - read {}`, false,
			`0  find {} whole | 1  find {} whole | 2  read {} whole`,
		},
		{
			"no index, one id for two calls", `_ c1 find {} | _ c1 find {}`, false,
			`0 c1 find {} whole | 1 c1 find {} whole`,
		},
		{
			"no index, one id for two names", `_ c1 find - | _ c1 read {}`, false,
			`0 c1 find  whole | 1 c1 read {} whole`,
		},
		{
			"no index, two calls without arguments", `_ c1 find - | _ c2 read -`, true,
			`0 c1 find  whole | 1 c2 read  whole`,
		},
		{
			"no index after an index", `4 c1 find { | _ - - } | _ c2 read {}`, false,
			`4 c1 find {} whole | 5 c2 read {} whole`,
		},
		{"an index after none", `_ c1 find {} | 0 c2 read {}`, false, `0 c1 find {} whole | 1 c2 read {} whole`},
		{"nothing at all", `_ - - -`, false, `0    open`},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var a Accumulator
			for _, chunk := range deltas(t, tt.chunks) {
				mustAdd(t, &a, schema.AssistantMessage("", chunk))
			}
			if tt.ended {
				mustAdd(t, &a, finish("tool_calls"))
			}
			got := a.Snapshot().ToolCalls
			assert.Equal(t, tt.want, strings.Join(transcript(got), " | "))
			assert.Equal(t, len(got), a.Calls())
			for n := range a.Calls() {
				c := a.Call(n, tt.ended)
				assert.Equal(t, got[n], c)
				assert.Equal(t, c.State, a.CallState(n, tt.ended))
				assert.Equal(t, len(c.Arguments), a.CallSize(n))
			}
		})
	}
}

func TestCallEmpty(t *testing.T) {
	t.Parallel()

	for args, want := range map[string]bool{"": true, " \n": true, "{": false, "{}": false, "x": false} {
		var a Accumulator
		mustAdd(t, &a, schema.AssistantMessage("", calls(delta(0, "c1", "find", args))))
		if got := a.CallEmpty(0); got != want {
			t.Errorf("arguments %q: empty is %t", args, got)
		}
	}
}

func TestTouchedNamesOneCallForEachDelta(t *testing.T) {
	t.Parallel()

	var a Accumulator
	assert.Empty(t, a.Touched())
	for _, step := range []struct {
		chunk *schema.Message
		want  []int
	}{
		{schema.AssistantMessage("", calls(delta(0, "c1", "find", ""))), []int{0}},
		{schema.AssistantMessage("", deltas(t, `0 - - { & 2 c2 read - & 0 - - }`)[0]), []int{0, 1, 0}},
		{schema.AssistantMessage("", calls(delta(2, "", "", "{}"))), []int{1}},
		{schema.AssistantMessage("text", nil), []int{}},
		{schema.AssistantMessage("", calls(delta(0, "c3", "list", ""))), []int{2}},
	} {
		mustAdd(t, &a, step.chunk)
		assert.Equal(t, step.want, append([]int{}, a.Touched()...))
	}
	a.Interrupt()
	assert.Empty(t, a.Touched())
}

func TestCallKeepsTheExtraOfItsFirstDelta(t *testing.T) {
	t.Parallel()

	first, second := delta(0, "c1", "find", "{"), delta(0, "", "", "}")
	first.Extra = map[string]any{"signature": []byte{0, 0xff, '"', 0x80}, "n": 1}
	second.Extra = map[string]any{"signature": []byte("other"), "more": true}
	var a Accumulator
	mustAdd(t, &a, schema.AssistantMessage("", calls(first)), schema.AssistantMessage("", calls(second)))

	want := map[string]any{"signature": []byte{0, 0xff, '"', 0x80}, "n": 1}
	assert.Equal(t, want, a.Call(0, false).Extra)
	assert.Equal(t, want, a.Snapshot().ToolCalls[0].Extra)
	assert.Nil(t, func() map[string]any {
		var b Accumulator
		mustAdd(t, &b, schema.AssistantMessage("", calls(delta(0, "c1", "find", "{}"))))

		return b.Call(0, false).Extra
	}(), "a call without Extra gets none")
}

func TestToolCallAsEinoWritesIt(t *testing.T) {
	t.Parallel()

	extra := map[string]any{"k": "v"}
	c := ToolCall{Index: 3, ID: "c1", Type: "function", Name: "find", Arguments: "{}", Extra: extra}
	index := 3
	want := schema.ToolCall{
		Index: &index, ID: "c1", Type: "function",
		Function: schema.FunctionCall{Name: "find", Arguments: "{}"}, Extra: map[string]any{"k": "v"},
	}
	assert.Equal(t, want, c.Schema())
	assert.NotSame(t, c.Schema().Index, c.Schema().Index, "each has an index of its own")
}

// However the provider numbers its calls, the consumer sees indices that rise.
func TestIndicesRiseForEveryOrderOfTheProviders(t *testing.T) {
	t.Parallel()

	numbers := []int{nilIndex, -1, 0, 1, 5, math.MaxInt32 - 1, math.MaxInt32, math.MaxInt, math.MinInt}
	for _, i := range numbers {
		for _, j := range numbers {
			for _, k := range numbers {
				var a Accumulator
				for n, index := range []int{i, j, k} {
					mustAdd(t, &a, schema.AssistantMessage("", calls(delta(index, fmt.Sprint("c", n), "find", "{}"))))
				}
				got := a.Snapshot().ToolCalls
				if len(got) != 3 {
					t.Fatalf("indices %d, %d, %d: %d calls", i, j, k, len(got))
				}
				if got[0].Index < 0 || got[1].Index <= got[0].Index || got[2].Index <= got[1].Index {
					t.Errorf("indices %d, %d, %d became %d, %d, %d", i, j, k, got[0].Index, got[1].Index, got[2].Index)
				}
			}
		}
	}
}

// TestSealedCallStaysWhole: what the consumer has cannot become another call by what comes behind it.
func TestSealedCallStaysWhole(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, schema.AssistantMessage("", calls(delta(0, "c1", "find", `{"q":1}`))))
	a.Seal(0)
	mustAdd(t, &a, schema.AssistantMessage("", calls(delta(0, "", "", `}garbage`))))
	assert.Equal(t, CallWhole, a.CallState(0, false))
	assert.Equal(t, `{"q":1}`, a.Call(0, true).Arguments, "as it was delivered")
	assert.Equal(t, SynthesizeToolUse, Decide(a.Snapshot()))

	a = Accumulator{}
	mustAdd(t, &a, schema.AssistantMessage("", calls(delta(0, "c1", "find", `{"q":1}}garbage`))))
	assert.Equal(t, CallMalformed, a.CallState(0, false), "not sealed, it is malformed")
}
