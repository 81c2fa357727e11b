package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ckQuestion is all that a caller can ask with.
type ckQuestion struct {
	in   []*schema.Message
	opts []model.Option
	bind []*schema.ToolInfo
}

func ckTool(name, desc, param string) *schema.ToolInfo {
	return &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{param: {Type: schema.String}})}
}

// ckFull returns a question in which everything that can be set is.
func ckFull() *ckQuestion {
	part := func(text string) schema.MessageInputPart {
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: text, Extra: map[string]any{"callback": func() {}}}
	}
	url := "https://example.com/a.png"
	image := schema.MessageInputPart{
		Type: schema.ChatMessagePartTypeImageURL, Extra: map[string]any{"callback": func() {}},
		Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}},
	}

	return &ckQuestion{
		in: []*schema.Message{
			{Role: schema.System, Content: "You are kind."},
			{Role: schema.User, Name: "ann", UserInputMultiContent: []schema.MessageInputPart{part("What is 1+1?"), image}},
			{
				Role: schema.Assistant, Content: "Let me look.", ReasoningContent: "I must look.",
				AssistantGenMultiContent: []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText, Text: "Let me look."}},
				ToolCalls:                []schema.ToolCall{{ID: "c1", Function: schema.FunctionCall{Name: "look", Arguments: `{"a":1}`}}},
			},
			{Role: schema.Tool, ToolCallID: "c1", ToolName: "look", Content: "blue"},
			{Role: schema.User, MultiContent: []schema.ChatMessagePart{{Type: schema.ChatMessagePartTypeText, Text: "And now?"}}}, //nolint:staticcheck // callers still use it
		},
		opts: []model.Option{
			model.WithModel("m1"), model.WithToolChoice(schema.ToolChoiceAllowed, "look"), model.WithTemperature(0.5),
			model.WithDeferredTools([]*schema.ToolInfo{ckTool("late", "comes late", "a")}), model.WithToolSearchTool(ckTool("find", "finds", "a")),
		},
		bind: []*schema.ToolInfo{ckTool("look", "looks", "a"), ckTool("see", "sees", "a")},
	}
}

// TestFingerprint: an answer is gone on with if the same is asked. Each thing that counts makes another question of it when
// it alone is changed, and each that does not makes none.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	type change = func(*ckQuestion)
	option := func(o model.Option) change { return func(q *ckQuestion) { q.opts = append(q.opts, o) } }
	other := map[string]change{
		"a message more":          func(q *ckQuestion) { q.in = append(q.in, schema.UserMessage("Please.")) },
		"the order of messages":   func(q *ckQuestion) { q.in[0], q.in[1] = q.in[1], q.in[0] },
		"a role":                  func(q *ckQuestion) { q.in[0].Role = schema.User },
		"content":                 func(q *ckQuestion) { q.in[0].Content = "You are terse." },
		"a name":                  func(q *ckQuestion) { q.in[1].Name = "bob" },
		"a part's text":           func(q *ckQuestion) { q.in[1].UserInputMultiContent[0].Text = "What is 2+2?" },
		"a part's image":          func(q *ckQuestion) { b := "https://example.com/b.png"; q.in[1].UserInputMultiContent[1].Image.URL = &b },
		"a part's JSON of Extra":  func(q *ckQuestion) { q.in[1].UserInputMultiContent[0].Extra["n"] = 1 },
		"reasoning":               func(q *ckQuestion) { q.in[2].ReasoningContent = "I need not." },
		"a part of an answer":     func(q *ckQuestion) { q.in[2].AssistantGenMultiContent[0].Text = "Let me see." },
		"a call's id":             func(q *ckQuestion) { q.in[2].ToolCalls[0].ID = "c2" },
		"a call's name":           func(q *ckQuestion) { q.in[2].ToolCalls[0].Function.Name = "see" },
		"a call's arguments":      func(q *ckQuestion) { q.in[2].ToolCalls[0].Function.Arguments = `{"a":2}` },
		"no call":                 func(q *ckQuestion) { q.in[2].ToolCalls = nil },
		"a result's id":           func(q *ckQuestion) { q.in[3].ToolCallID = "c2" },
		"a result's tool":         func(q *ckQuestion) { q.in[3].ToolName = "see" },
		"a result":                func(q *ckQuestion) { q.in[3].Content = "red" },
		"a part of the old kind":  func(q *ckQuestion) { q.in[4].MultiContent[0].Text = "And then?" },
		"the model":               option(model.WithModel("m2")),
		"tools of the call":       option(model.WithTools([]*schema.ToolInfo{ckTool("hear", "hears", "a")})),
		"a bound tool's name":     func(q *ckQuestion) { q.bind[0].Name = "hear" },
		"what a bound tool does":  func(q *ckQuestion) { q.bind[0].Desc = "hears" },
		"a bound tool's argument": func(q *ckQuestion) { q.bind[0] = ckTool("look", "looks", "b") },
		"a bound tool less":       func(q *ckQuestion) { q.bind = q.bind[:1] },
		"a deferred tool":         option(model.WithDeferredTools([]*schema.ToolInfo{ckTool("late", "comes late", "b")})),
		"the tool that searches":  option(model.WithToolSearchTool(ckTool("find", "finds", "b"))),
		"the tool choice":         option(model.WithToolChoice(schema.ToolChoiceForced, "look")),
		"the allowed tools":       option(model.WithToolChoice(schema.ToolChoiceAllowed, "see")),
		"the agentic tool choice": option(model.WithAgenticToolChoice(&schema.AgenticToolChoice{Type: schema.ToolChoiceForced})),
	}
	same := map[string]change{
		"nothing":                func(*ckQuestion) {},
		"a message's Extra":      func(q *ckQuestion) { q.in[0].Extra = map[string]any{"id": "a"} },
		"a function in Extra":    func(q *ckQuestion) { q.in[1].UserInputMultiContent[0].Extra["callback"] = make(chan int) },
		"temperature":            option(model.WithTemperature(1)),
		"top p":                  option(model.WithTopP(1)),
		"a limit":                option(model.WithMaxTokens(5)),
		"stop words":             option(model.WithStop([]string{"a"})),
		"the order of tools":     func(q *ckQuestion) { q.bind[0], q.bind[1] = q.bind[1], q.bind[0] },
		"a nil message":          func(q *ckQuestion) { q.in = append(q.in, nil) },
		"an option of a client":  option(model.WrapImplSpecificOptFn(func(*struct{}) {})),
		"a tool's Extra":         func(q *ckQuestion) { q.bind[0].Extra = map[string]any{"id": "a"} },
		"the name of a response": func(q *ckQuestion) { q.in[2].ResponseMeta = &schema.ResponseMeta{FinishReason: "stop"} },
	}
	ask := func(t *testing.T, store *memstore.Store, q *ckQuestion, answer string) string {
		t.Helper()
		m, err := continuation.Wrap(fm.New(fm.Script{fm.Text(answer), fm.Finish("stop")}), continuation.WithCheckpoints(store, continuation.KeepUntilCommit())).WithTools(q.bind)
		require.NoError(t, err)
		r := ctStreamOf(ckContext(t), m, q.in, q.opts...)
		require.NoError(t, r.err)

		return r.text()
	}
	for want, changes := range map[string]map[string]change{"the first": same, "the second": other} {
		for name, change := range changes {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					store := memstore.New()
					ask(t, store, ckFull(), "the first")
					q := ckFull()
					change(q)
					assert.Equal(t, want, ask(t, store, q, "the second"))
				})
			})
		}
	}
}

// TestAgenticFingerprint is TestFingerprint for blocks.
func TestAgenticFingerprint(t *testing.T) {
	t.Parallel()
	full := func() []*schema.AgenticMessage {
		ask := schema.UserAgenticMessage("What is 1+1?")
		ask.ContentBlocks[0].Extra = map[string]any{"callback": func() {}}
		odd := schema.NewContentBlock(&schema.AssistantGenText{Text: "Two.", Extension: func() {}})

		return []*schema.AgenticMessage{ask, {Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{odd}}, schema.UserAgenticMessage("And now?")}
	}
	for name, tt := range map[string]struct {
		change func([]*schema.AgenticMessage)
		want   string
	}{
		"nothing":            {func([]*schema.AgenticMessage) {}, "the first"},
		"a block's Extra":    {func(in []*schema.AgenticMessage) { in[0].ContentBlocks[0].Extra = nil }, "the first"},
		"a text":             {func(in []*schema.AgenticMessage) { in[0].ContentBlocks[0].UserInputText.Text = "What is 2+2?" }, "the second"},
		"a text that is odd": {func(in []*schema.AgenticMessage) { in[1].ContentBlocks[0].AssistantGenText.Text = "Four." }, "the second"},
		"a role":             {func(in []*schema.AgenticMessage) { in[2].Role = schema.AgenticRoleTypeSystem }, "the second"},
		"a block less":       {func(in []*schema.AgenticMessage) { in[1].ContentBlocks = nil }, "the second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New()
				ask := func(in []*schema.AgenticMessage, answer string) string {
					inner := fm.NewAgentic(fm.Script{fm.BlockText(0, answer), fm.StopReason("end_turn", 1, 1)})
					r, err := typed(t, inner, continuation.WithCheckpoints(store, continuation.KeepUntilCommit())).Stream(ckContext(t), in)
					require.NoError(t, err)
					chunks, err := fm.CollectAny(r)
					require.NoError(t, err)

					return fm.ConcatAgentic(t, chunks).ContentBlocks[0].AssistantGenText.Text
				}
				ask(full(), "the first")
				in := full()
				tt.change(in)
				assert.Equal(t, tt.want, ask(in, "the second"))
			})
		})
	}
}
