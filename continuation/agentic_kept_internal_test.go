package continuation

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// akLayout returns a layout that the consumer has these blocks of, each in a place of its own unless it has an index.
func akLayout(blocks ...*schema.ContentBlock) *layout {
	l := agentic{}.layout()
	l.keep(true)
	for i, b := range blocks {
		at := i
		if b.StreamingMeta != nil {
			at = b.StreamingMeta.Index
		}
		l.put(b, &at)
	}

	return l
}

// akCheckpoint returns a checkpoint of an answer of blocks, and about how many bytes they should take.
func akCheckpoint(t *testing.T, l *layout, text string) (checkpointstore.Checkpoint, int) {
	t.Helper()
	cp := checkpointstore.Checkpoint{RunID: "run", Text: text}
	size, complete := agentic{}.stored(&carry{layout: l}, &cp)
	require.NoError(t, complete(&cp))

	return cp, size
}

// TestBlocksOfAnEditedCheckpoint: where the blocks are not all there or do not hold together, the text and the calls are
// used, each once.
func TestBlocksOfAnEditedCheckpoint(t *testing.T) {
	t.Parallel()
	text := func(s string) *schema.ContentBlock { return schema.NewContentBlock(&schema.AssistantGenText{Text: s}) }
	l := akLayout(
		schema.NewContentBlock(&schema.Reasoning{Text: "Hm.", Signature: "sig"}),
		text("One. "), schema.NewContentBlock(&schema.ServerToolCall{CallID: "a", Name: "search", Arguments: "{}"}),
		schema.NewContentBlock(&schema.ServerToolResult{CallID: "a", Name: "search", Content: "x"}), text("Two."))
	good, _ := akCheckpoint(t, l, "One. Two.")
	good.ToolCalls = []checkpointstore.ToolCall{{ID: "c", Name: "look", Arguments: "{}"}}
	kinds := func(cp checkpointstore.Checkpoint) (out []schema.ContentBlockType, text string) {
		for _, c := range (agentic{}).restored(&cp) {
			b := c.origin.block
			out = append(out, b.Type)
			if b.AssistantGenText != nil {
				text += b.AssistantGenText.Text
			}
		}

		return out, text
	}
	got, _ := kinds(good)
	require.Len(t, got, 6)
	require.Len(t, good.Extra, 7)

	many := make(map[string]any)
	for i := range 1_000_000 {
		many[fmt.Sprint(extraBlock, i)] = `{"block":{"type":"server_tool_call","server_tool_call":{"name":"x"}}}`
	}
	edits := map[string]map[string]any{
		"no count":          {extraBlocks: nil},
		"a count of text":   {extraBlocks: "5"},
		"none":              {extraBlocks: int64(0)},
		"fewer":             {extraBlocks: int64(4)},
		"more":              {extraBlocks: int64(6)},
		"absurdly many":     {extraBlocks: int64(math.MaxInt64)},
		"fewer than none":   {extraBlocks: int64(math.MinInt64)},
		"a missing thought": {extraThought + "0": nil},
		"a number":          {extraBlock + "1": int64(1)},
		"no JSON":           {extraBlock + "1": "{"},
		"nothing":           {extraBlock + "1": "{}"},
		"null":              {extraBlock + "1": "null"},
		"a list":            {extraBlock + "1": "[]"},
		"too little text":   {extraBlock + "4": `{"from":5,"to":8}`},
		"too much text":     {extraBlock + "4": `{"from":5,"to":10}`},
		"a hole":            {extraBlock + "1": `{"to":4}`},
		"twice":             {extraBlock + "4": `{"to":9}`},
		"backwards":         {extraBlock + "4": `{"from":9,"to":5}`},
		"before it":         {extraBlock + "1": `{"from":-1,"to":5}`},
		"beyond it":         {extraBlock + "4": `{"from":5,"to":9223372036854775807}`},
		"text of its own":   {extraBlock + "3": `{"block":{"type":"assistant_gen_text","assistant_gen_text":{"text":"no"}}}`},
		"a call":            {extraBlock + "3": `{"block":{"type":"function_tool_call","function_tool_call":{"name":"no"}}}`},
		"no content":        {extraBlock + "3": `{"block":{"type":"server_tool_result"}}`},
		"another's content": {extraBlock + "3": `{"block":{"type":"server_tool_result","reasoning":{"text":"no"}}}`},
		"no kind":           {extraBlock + "3": `{"block":{}}`},
		"an unknown kind":   {extraBlock + "3": `{"block":{"type":"unheard_of"}}`},
		"a further thought": {extraBlock + "0": `{"block":{"type":"reasoning","reasoning":{"openai_extension":{"content":[{}]}}}}`},
		"a million":         many,
		"a million of them": func() map[string]any { m := maps.Clone(many); m[extraBlocks] = int64(len(many)); return m }(),
	}
	for i := range 5 {
		edits[fmt.Sprint("no block ", i)] = map[string]any{fmt.Sprint(extraBlock, i): nil}
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cp := good
			cp.Extra = maps.Clone(good.Extra)
			for key, v := range edit {
				if v == nil {
					delete(cp.Extra, key)
				} else {
					cp.Extra[key] = v
				}
			}
			got, text := kinds(cp)
			assert.Equal(t, []schema.ContentBlockType{schema.ContentBlockTypeAssistantGenText, schema.ContentBlockTypeFunctionToolCall}, got)
			assert.Equal(t, "One. Two.", text)
		})
	}
}

// TestSizeOfBlocks: how long the blocks are in a checkpoint is known about before they are encoded, so that the writes
// keep to their budget, and well after it.
func TestSizeOfBlocks(t *testing.T) {
	t.Parallel()
	result := func(content any) *schema.ContentBlock {
		return schema.NewContentBlock(&schema.ServerToolResult{CallID: "a", Name: "search", Content: content})
	}
	long := map[string]string{"plain": strings.Repeat("x", 1000), "JSON": strings.Repeat("\t\"key\": \"value\",\n", 60), "HTML": strings.Repeat("<b>&amp;</b>", 80), "control": strings.Repeat("\x1b[0m", 250)}
	for name, s := range long {
		for kind, b := range map[string]*schema.ContentBlock{
			"thought": schema.NewContentBlock(&schema.Reasoning{Text: s, Signature: "sig"}),
			"text":    result(s),
			"nested":  result(map[string]any{"list": []any{s, map[string]any{"s": s, "n": 1.5, "no": nil}}}),
			"bytes":   result(struct{ Data []byte }{[]byte(s)}),
			"pages": result(struct {
				Pages []*struct{ Title, URL string }
			}{[]*struct{ Title, URL string }{{s, s}, nil, {s, ""}}}),
			"short": result("x"),
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				var blocks []*schema.ContentBlock
				for range 20 {
					blocks = append(blocks, b)
				}
				l := akLayout(blocks...)
				cp, about := akCheckpoint(t, l, "")
				with, err := checkpointstore.Encode(cp)
				require.NoError(t, err)
				cp.Extra = nil
				without, err := checkpointstore.Encode(cp)
				require.NoError(t, err)
				size := float64(len(with) - len(without))
				assert.InEpsilon(t, size, float64(about), 0.35)
				_, about = akCheckpoint(t, l, "")
				assert.GreaterOrEqual(t, float64(about), 0.95*size)
			})
		}
	}
}

// akOpaque tells nobody what it holds.
type akOpaque struct{ data string }

func (o akOpaque) MarshalText() ([]byte, error) { return []byte(o.data), nil }

// TestSizeOfOpaqueBlocks: of a block whose length only its own encoding knows, the length is known once it was written.
func TestSizeOfOpaqueBlocks(t *testing.T) {
	t.Parallel()
	l := akLayout(schema.NewContentBlock(&schema.ServerToolResult{Content: akOpaque{strings.Repeat("x", 10_000)}}))
	_, before := akCheckpoint(t, l, "")
	_, after := akCheckpoint(t, l, "")
	assert.Less(t, before, 1000)
	assert.InEpsilon(t, 10_000, after, 0.1)
}

// TestManyBlocks: an answer of more blocks than a checkpoint can be read of is kept without them.
func TestManyBlocks(t *testing.T) {
	t.Parallel()
	blocks := make([]blockView, maxKeptBlocks+1)
	for i := range blocks {
		blocks[i] = blockView{at: i, kind: schema.ContentBlockTypeAssistantGenText, from: i, to: i + 1}
	}
	cp := checkpointstore.Checkpoint{Text: strings.Repeat("x", len(blocks))}
	var k blockKeeper
	require.NoError(t, k.keep(blocks[1:], &cp))
	cp.Extra = nil
	require.ErrorIs(t, k.keep(blocks, &cp), errBlockNotKept)
	assert.Nil(t, cp.Extra)
	require.NoError(t, k.keep(blocks, &cp), "it is told once")
	assert.Nil(t, cp.Extra)
}

// TestFrozen: a copy of a block shares nothing with it that can be written into, and what refers to itself ends.
func TestFrozen(t *testing.T) {
	t.Parallel()
	type page struct {
		Title string
		Links []string
		Next  *page
		Any   any
		In    [1]map[string]int
		own   map[string]int
	}
	data := []byte("d")
	p := &page{Title: "a", Links: []string{"b"}, Any: []any{map[string]any{"c": data}}, In: [1]map[string]int{{"e": 1}}, own: map[string]int{"f": 1}}
	p.Next = p
	self := map[string]any{"list": []any{nil}}
	for i := range 20 {
		self[fmt.Sprint(i)] = self
	}
	b := schema.NewContentBlock(&schema.ServerToolCall{CallID: "a", Name: "search", Arguments: p})
	b.Extra = map[string]any{"self": self, "at": time.Unix(1, 0), "nil": nil, "error": assert.AnError, "func": func() {}}
	c, _ := frozen(b)
	got, ok := c.ServerToolCall.Arguments.(*page)
	require.True(t, ok)
	require.NotSame(t, p, got)
	assert.Same(t, got, got.Next, "it refers to itself as p does")
	assert.Equal(t, time.Unix(1, 0), c.Extra["at"])
	assert.Contains(t, c.Extra, "nil")

	p.Title, p.Links[0], p.In[0]["e"] = "changed", "changed", 2
	data[0]++
	b.ServerToolCall.Name = "changed"
	delete(b.Extra, "at")
	assert.Equal(t, "search", c.ServerToolCall.Name)
	assert.Contains(t, c.Extra, "at")
	assert.Equal(t, "a", got.Title)
	assert.Equal(t, []string{"b"}, got.Links)
	assert.Equal(t, []any{map[string]any{"c": []byte("d")}}, got.Any)
	assert.Equal(t, map[string]int{"e": 1}, got.In[0])
	assert.Equal(t, map[string]int{"f": 1}, got.own)
}
