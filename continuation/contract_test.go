package continuation_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// coRun plays scripts to a decorator in a bubble of its own, with all that exStream checks.
func coRun(t *testing.T, typ string, scripts []fm.Script, opts ...continuation.Option) (run exRun) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run = exStream(t, fm.New(scripts...).TypeName(typ), exInput(), opts...) })

	return run
}

// coNull is a chunk with the reason that some servers send beside everything, which is none.
func coNull(m *schema.Message) fm.Step {
	m.ResponseMeta = &schema.ResponseMeta{FinishReason: "null"}

	return fm.Chunk(m)
}

// TestAnswersOfBrokenStreams: each of these streams comes out as one answer, with its text, its calls and its reason, and
// costs no request too many.
func TestAnswersOfBrokenStreams(t *testing.T) {
	t.Parallel()
	const fox, long = "Once there was the quick brown fox", "The harbour was still dark when the first boat came in, and nobody " +
		"had expected it so early. Two men carried the nets up the stairs; a third one counted"
	jumped := fm.Script{fm.Text(" that jumped."), fm.Finish("stop")}
	fine, foxes := fm.Script{fm.Text("And so on."), fm.Finish("stop")}, fm.Script{fm.Text(fox), fm.Reset()}
	empty := exCall(0, "", "", "")
	again := "Let me look at that for you."
	for name, c := range map[string]struct {
		typ, text, reason string
		requests          int
		calls             []string
		scripts           []fm.Script
	}{
		"a repeated tail breaks in its first word": {"OpenAI", fox + " that jumped.", "stop", 3, nil, []fm.Script{foxes, {fm.Text("t"), fm.Reset()}, jumped}},
		"a repeated tail breaks between words":     {"OpenAI", fox + " that jumped.", "stop", 3, nil, []fm.Script{foxes, {fm.Text("the quick"), fm.Reset()}, jumped}},
		"a repeated tail breaks in its last word":  {"OpenAI", fox + " that jumped.", "stop", 3, nil, []fm.Script{foxes, {fm.Text("the quick brown f"), fm.Reset()}, jumped}},
		"a restart breaks":                         {"OpenAI", fox + " that jumped.", "stop", 3, nil, []fm.Script{foxes, {fm.Text("Once the"), fm.Reset()}, jumped}},
		"a filter ends a restart":                  {"OpenAI", long, "content_filter", 2, nil, []fm.Script{{fm.Text(long), fm.Reset()}, {fm.Text(long[:140]), fm.Finish("content_filter")}}},
		"a shorter restart calls a tool": {
			"OpenAI", again + " And then some more.", "tool_calls", 2,
			[]string{"i f {}"},
			[]fm.Script{{fm.Text(again + " And then some more."), fm.Reset()}, {fm.Text(again), fm.Call(0, "i", "f", "{}"), fm.Finish("tool_calls")}},
		},
		"text stands behind an open call": {
			"OpenAI", "A behind end.", "stop", 2, nil,
			[]fm.Script{{fm.Text("A "), fm.Call(0, "i", "f", `{"a`), fm.Text("behind"), fm.Reset()}, {fm.Text(" end."), fm.Finish("stop")}},
		},
		"a reason in disguise makes no call whole": {
			"OpenAI", "I clean up. And so on.", "stop", 2, nil,
			[]fm.Script{{fm.Text("I clean up. "), fm.Call(0, "c1", "delete_files", ""), fm.Finish("error")}, fine},
		},
		"the reason null makes no call whole": {
			"OpenAI", "I clean up. And so on.", "stop", 2, nil,
			[]fm.Script{{coNull(exText("I clean up. ")), coNull(exCall(0, "c1", "delete_files", "")), fm.Reset()}, fine},
		},
		"the reason null decides no join": {
			"OpenAI", fox + " that jumped.", "stop", 2, nil,
			[]fm.Script{foxes, {coNull(exText("the ")), coNull(exText("quick ")), coNull(exText("brown ")), coNull(exText("fox that jumped.")), fm.Finish("stop")}},
		},
		"a reason in disguise behind another": {"OpenAI", "All said.", "stop", 1, nil, []fm.Script{{fm.Text("All said."), fm.Finish("stop"), fm.Finish("error")}, fine}},
		"an empty delta before a failed open": {"OpenAI", "And so on.", "stop", 2, nil, []fm.Script{{fm.Chunk(empty), fm.Reset()}, fine}},
		"a probe longer than may be held":     {"", "Yes.", "", 2, nil, []fm.Script{{fm.Text("Yes.")}, {fm.Text(strings.Repeat("More. ", 100)), fm.Finish("stop")}, fine}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := coRun(t, c.typ, c.scripts, continuation.WithMaxBufferedBytes(256))
			m := run.message(t)
			assert.Equal(t, c.text, m.Content)
			assert.Equal(t, c.reason != "", m.ResponseMeta != nil)
			if m.ResponseMeta != nil {
				assert.Equal(t, c.reason, m.ResponseMeta.FinishReason)
			}
			ctWholeCalls(t, m, c.calls...)
			assert.Len(t, run.requests, c.requests)
		})
	}
}

// TestReasonInDisguiseBeforeContent: an attempt that brought nothing was not opened, whatever it says at its end.
func TestReasonInDisguiseBeforeContent(t *testing.T) {
	t.Parallel()
	r, events, _ := ctRun(t, fm.New(fm.Script{fm.Role(), fm.Finish("error")}, fm.Script{fm.Text("OK"), fm.Finish("stop")}))
	require.NoError(t, r.err)
	assert.Equal(t, "OK", r.text())
	assert.Equal(t, []string{callbacks.OpenRetried{}.Name()}, events.names())
}

// TestOddEndsPass: an answer that is whole, as far as can be known, comes out as the bare model's, and what cannot be known
// is told.
func TestOddEndsPass(t *testing.T) {
	t.Parallel()
	optional := []continuation.Option{continuation.WithFinishReasonRequired(false)}
	image := &schema.Message{Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageOutputImage{}},
	}}
	unproven := []callbacks.NoticeKind{callbacks.NoticeNoFinishReason}
	late := func(end fm.Step) fm.Script {
		return fm.Script{fm.Text("Go. "), fm.Call(0, "c1", "search", `{"q":`), end, fm.Call(0, "", "", `1}`)}
	}
	for name, c := range map[string]struct {
		script   fm.Script
		opts     []continuation.Option
		notices  []callbacks.NoticeKind
		requests int
	}{
		"arguments behind the reason":           {late(fm.Finish("tool_calls")), nil, nil, 1},
		"arguments behind the reason and usage": {late(fm.FinishUsage("tool_calls", 3, 4)), nil, nil, 1},
		"an image":                              {fm.Script{fm.Chunk(image)}, nil, unproven, 1},
		"an image behind text":                  {fm.Script{fm.Text("Here it is:"), fm.Chunk(image)}, nil, unproven, 1},
		"an image, no reason wanted":            {fm.Script{fm.Chunk(image)}, optional, nil, 1},
		"half a rune":                           {fm.Script{fm.Text("Text\xc3")}, nil, unproven, 2},
		"half a rune, no reason wanted":         {fm.Script{fm.Text("Text\xc3")}, optional, nil, 1},
		"a call that nobody can run":            {fm.Script{fm.Text("Text"), fm.Call(0, "c1", "f", `[1]`)}, nil, append(unproven, callbacks.NoticeToolCallPassed), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(c.script, fm.Script{}), append(c.opts, ctNow())...)
			require.NoError(t, r.err)
			assert.Equal(t, c.script.Message(t), r.message(t))
			assert.Equal(t, c.notices, ctNotices(events))
			assert.Len(t, r.requests, c.requests)
		})
	}
}

// TestBilledAttempts: what was billed counts every attempt, also those of which nobody got anything.
func TestBilledAttempts(t *testing.T) {
	t.Parallel()
	const fox = "Once there was the quick brown fox"
	for name, c := range map[string]struct {
		scripts []fm.Script
		failed  []int // tokens of the continuations that failed
		billed  []int // tokens in all, if the last continuation completed
	}{
		"an open that failed": {[]fm.Script{
			{fm.Usage(100, 0), fm.Reset()}, {fm.Usage(100, 0), fm.Text("A"), fm.Usage(100, 1), fm.Reset()}, {fm.Text("B"), fm.FinishUsage("stop", 105, 1)},
		}, nil, []int{100 + 101 + 106}},
		"a probe that broke": {[]fm.Script{
			{fm.Text("One boat"), fm.Usage(10, 2)}, {fm.Text(" le"), fm.Usage(12, 1), fm.Reset()}, {fm.Text(" left."), fm.FinishUsage("stop", 12, 2)},
		}, []int{13}, []int{12 + 13 + 14}},
		"a probe that could not tell": {[]fm.Script{{fm.Text("A"), fm.Usage(100, 1)}, {fm.Text("B"), fm.Usage(101, 7)}}, []int{108}, nil},
		"a restart in other words": {[]fm.Script{
			{fm.Text(fox), fm.Usage(10, 10), fm.Reset()}, {fm.Usage(20, 1), fm.Text("Once there was the quick red fox")}, {fm.Text(" that"), fm.FinishUsage("stop", 30, 2)},
		}, []int{21}, []int{20 + 21 + 32}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(c.scripts...), ctNow())
			require.NoError(t, r.err)
			var failed, billed []int
			for _, e := range ctOf[callbacks.Failed](events) {
				failed = append(failed, e.Usage.Total)
			}
			for _, e := range ctOf[callbacks.Completed](events) {
				billed = append(billed, e.Billed.Total)
			}
			assert.Equal(t, c.failed, failed)
			assert.Equal(t, c.billed, billed)
		})
	}
}

// TestThoughtsAfterARepair: what the message says that it is holds one whole thought, with what belongs to that one.
func TestThoughtsAfterARepair(t *testing.T) {
	t.Parallel()
	const key = "gemini_thought_signature"
	signed := func(text, signature string) fm.Step {
		return fm.Chunk(exExtra(exThought(text), map[string]any{key: []byte(signature)}))
	}
	for name, c := range map[string]struct {
		typ, thought, text string
		signature          any
		usage              *schema.TokenUsage
		scripts            []fm.Script
	}{
		"half a second thought is cut": {"FaultModel", "Whole. ", "AB", nil, nil, []fm.Script{
			{fm.Reasoning("Whole. "), fm.Text("A"), fm.Reasoning("ha"), fm.Reset()}, {fm.Text("B"), fm.Finish("stop")},
		}},
		"a restart brings its signature": {"Gemini", "Thought two.", "Yes.", []byte("s2"), nil, []fm.Script{
			{signed("Thought one", "s1"), fm.Reset()}, {signed("Thought two.", "s2"), fm.Text("Yes."), fm.Finish("stop")},
		}},
		"a restart drops the signature of the half": {"Gemini", "Thought two.", "Yes.", nil, nil, []fm.Script{
			{signed("Thought one", "s1"), fm.Reset()}, {fm.Reasoning("Thought two."), fm.Text("Yes."), fm.Finish("stop")},
		}},
		"an end without a reason says so, too": {"FaultModel", "Thought.", "Yes.", nil, ctUsage(10, 2), []fm.Script{
			{fm.Reasoning("Half a thought"), fm.Reset()}, {fm.Reasoning("Thought."), fm.Text("Yes."), fm.Usage(10, 2)}, {fm.Text(" Really.")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := continuation.Repair(coRun(t, c.typ, c.scripts).message(t))
			assert.Equal(t, c.thought, m.ReasoningContent)
			assert.Equal(t, c.text, m.Content)
			assert.Equal(t, c.signature, m.Extra[key])
			require.NotNil(t, m.ResponseMeta)
			assert.Equal(t, c.usage, m.ResponseMeta.Usage)
		})
	}
}

// TestReasoningDetailsAfterARestart: of a list that a restart brings anew, no element is lost, and those of the half
// thought are marked.
func TestReasoningDetailsAfterARestart(t *testing.T) {
	t.Parallel()
	const key = "openrouter_reasoning_details"
	detail := func(text, of string) fm.Step {
		return fm.Chunk(exExtra(exThought(text), map[string]any{"reasoning-content": text, key: []string{of}}))
	}
	run := coRun(t, "OpenRouter", []fm.Script{
		{detail("half ", "h1"), fm.Reset()}, {detail("who", "w1"), detail("le", "w2"), fm.Text("OK"), fm.Finish("stop")},
	})
	require.NoError(t, run.err)
	var got []string
	for _, chunk := range run.chunks {
		details, _ := chunk.Extra[key].([]string)
		got = append(got, details...)
	}
	assert.Equal(t, []string{"h1", "w1", "w2"}, got)
	assert.Equal(t, 1, run.chunks[len(run.chunks)-1].Extra[continuation.ExtraReasoningSkip+"."+key])
}

// TestDroppedCallIsSpokenOfAgain: the prompt still names a call that was cut off when the attempt after it brought nothing.
func TestDroppedCallIsSpokenOfAgain(t *testing.T) {
	t.Parallel()
	run := coRun(t, "OpenAI", []fm.Script{
		{fm.Text("Let me see. "), fm.Call(0, "c1", "lookup", `{"a":`), fm.Reset()}, {fm.Reset()}, {fm.Text("OK"), fm.Finish("stop")},
	})
	require.NoError(t, run.err)
	require.Len(t, run.requests, 3)
	for _, r := range run.requests[1:] {
		assert.Contains(t, r.Messages[len(r.Messages)-1].Content, "lookup")
	}
}

// TestInterruptionMayBeKept: what a prompt was given does not change when a later interruption drops other calls.
func TestInterruptionMayBeKept(t *testing.T) {
	t.Parallel()
	var kept []continuation.Interruption
	run := coRun(t, "OpenAI", []fm.Script{
		{fm.Text("Let me see. "), fm.Call(0, "c1", "first", `{"a":`), fm.Reset()},
		{fm.Text("Well. "), fm.Call(0, "c2", "second", `{"a":`), fm.Reset()},
		{fm.Text("OK"), fm.Finish("stop")},
	}, continuation.WithPrompt(func(i continuation.Interruption) string {
		kept = append(kept, i)

		return "Go on."
	}))
	require.NoError(t, run.err)
	require.Len(t, kept, 2)
	assert.Equal(t, []string{"first"}, kept[0].DroppedCalls)
	assert.Equal(t, []string{"second"}, kept[1].DroppedCalls)
}

// TestTokenLimitDistrustsAFirstRecord: a record from the beginning of an answer does not say what the answer used of the
// caller's limit.
func TestTokenLimitDistrustsAFirstRecord(t *testing.T) {
	t.Parallel()
	requests, _, _ := ctCallWith(t, fm.New(fm.Script{fm.Usage(100, 1), fm.Text(strings.Repeat("word ", 1200)), fm.Reset()}, ctDone()),
		ctInput(), []model.Option{model.WithMaxTokens(2000)})
	require.Len(t, requests, 2)
	assert.Equal(t, 1000, *requests[1].Options.MaxTokens)
}

// TestProviderFromExtra: a client that does not say who it is, and does so in a chunk, is named in the events.
func TestProviderFromExtra(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hello := fm.Chunk(exExtra(exText("Hello "), map[string]any{"ark-request-id": "r1"}))
		m, events := ctWrap(t, fm.New(fm.Script{hello, fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop")}).Plain())
		require.NoError(t, ctStream(t.Context(), m).err)
		for _, e := range events.list() {
			assert.Equal(t, "Ark", e.Of().Provider, e.Name())
		}
		assert.Len(t, ctOf[callbacks.Interrupted](events), 1)
	})
}
