package continuation_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// TestAgenticRemote tells what becomes of what the provider runs by itself when the stream breaks: what is answered is
// kept and goes along, what is not is dropped and told.
func TestAgenticRemote(t *testing.T) {
	t.Parallel()
	const (
		text   = schema.ContentBlockTypeAssistantGenText
		call   = schema.ContentBlockTypeServerToolCall
		result = schema.ContentBlockTypeServerToolResult
	)
	approval := fm.Block(1, schema.NewContentBlock(&schema.MCPToolApprovalRequest{ID: "a1", Name: "read", Arguments: `{}`}))
	list := fm.Block(0, schema.NewContentBlock(&schema.MCPListToolsResult{ServerLabel: "files"}))
	a, b := fm.BlockServerCall(1, "a", "search", "1"), fm.BlockServerCall(2, "b", "fetch", "2")
	ra, rb := fm.BlockServerResult(3, "a", "search", "x"), fm.BlockServerResult(4, "b", "fetch", "y")
	one := fm.BlockText(0, "One. ")
	for name, c := range map[string]struct {
		script  fm.Script
		carried []schema.ContentBlockType // in the request that follows
		plan    snapshot.Plan
		dropped []string
	}{
		"a call without a result":          {fm.Script{one, a}, []schema.ContentBlockType{text}, snapshot.TruncateBeforeTool, []string{"search"}},
		"a result with nothing behind it":  {fm.Script{one, a, ra}, []schema.ContentBlockType{text}, snapshot.TruncateBeforeTool, []string{"search"}},
		"a result with text behind it":     {fm.Script{one, a, ra, fm.BlockText(5, "Two")}, []schema.ContentBlockType{text, call, result, text}, snapshot.ContinueText, nil},
		"two calls, one result":            {fm.Script{one, a, b, ra}, []schema.ContentBlockType{text}, snapshot.TruncateBeforeTool, []string{"search", "fetch"}},
		"two calls, the second half done":  {fm.Script{one, a, b, ra, rb}, []schema.ContentBlockType{text, call, result}, snapshot.TruncateBeforeTool, []string{"fetch"}},
		"two calls, both answered":         {fm.Script{one, a, b, ra, rb, fm.BlockText(5, "Two")}, []schema.ContentBlockType{text, call, call, result, result, text}, snapshot.ContinueText, nil},
		"one behind the other":             {fm.Script{one, a, ra, b}, []schema.ContentBlockType{text, call, result}, snapshot.TruncateBeforeTool, []string{"fetch"}},
		"a request for approval":           {fm.Script{one, approval}, []schema.ContentBlockType{text}, snapshot.TruncateBeforeTool, []string{"read"}},
		"a list of tools, then a call":     {fm.Script{list, a}, []schema.ContentBlockType{schema.ContentBlockTypeMCPListToolsResult}, snapshot.TruncateBeforeTool, []string{"search"}},
		"answered, and no text":            {fm.Script{a, ra, b}, []schema.ContentBlockType{call, result}, snapshot.TruncateBeforeTool, []string{"fetch"}},
		"unanswered, and no text":          {fm.Script{a}, nil, snapshot.WholeRestart, []string{"search"}},
		"unanswered, but the text goes on": {fm.Script{a, fm.BlockText(5, "Two")}, []schema.ContentBlockType{call, text}, snapshot.ContinueText, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.NewAgentic(append(c.script, fm.Reset()), fm.Script{fm.BlockText(0, "three."), fm.StopReason("end_turn", 1, 1)})
				handler, events := agEvents()
				chunks, err := agAsk(t, typed(t, inner, handler))
				require.NoError(t, err)
				msg := fm.ConcatAgentic(t, chunks)

				asked := inner.Requests()[1].Agentic()
				if c.carried == nil {
					assert.Len(t, asked, 1)
				} else {
					require.Len(t, asked, 3)
					assert.Equal(t, c.carried, agKinds(asked[1]))
				}
				assert.True(t, strings.HasSuffix(agText(msg), "three."))
				var dropped []string
				for _, e := range events() {
					switch e := e.(type) {
					case callbacks.Interrupted:
						assert.Equal(t, c.plan, e.Plan)
					case callbacks.ToolCallCancel:
						dropped = append(dropped, e.ToolName)
					}
				}
				assert.Equal(t, c.dropped, dropped)
			})
		})
	}
}

// TestAgenticRemoteIsHeld: nothing of a call is seen before its result is whole, and then it is there before what follows.
func TestAgenticRemoteIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reached, release := make(chan struct{}), make(chan struct{})
		inner := fm.NewAgentic(fm.Script{
			fm.BlockText(0, "One. "), fm.BlockServerCall(1, "a", "search", "1"), fm.BlockServerResult(2, "a", "search", "x"),
			fm.Gate(reached, release), fm.BlockText(3, "Two."), fm.StopReason("end_turn", 1, 1),
		})
		r, err := typed(t, inner).Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
		require.NoError(t, err)
		defer r.Close()
		first, err := r.Recv()
		require.NoError(t, err)
		assert.Equal(t, "One. ", agText(first))

		next := make(chan *schema.AgenticMessage)
		go func() {
			m, _ := r.Recv()
			next <- m
		}()
		<-reached
		synctest.Wait()
		select {
		case m := <-next:
			t.Fatalf("seen before it was answered: %v", m)
		default:
		}
		close(release)
		assert.Equal(t, []schema.ContentBlockType{schema.ContentBlockTypeServerToolCall}, agKinds(<-next))
	})
}

// TestAgenticRemoteIsBounded: what is held for a provider's call counts as that for a tool's.
func TestAgenticRemoteIsBounded(t *testing.T) {
	t.Parallel()
	inner := fm.NewAgentic(fm.Script{
		fm.BlockText(0, "One. "), fm.BlockServerCall(1, "a", "search", "1"),
		fm.BlockServerResult(2, "a", "search", strings.Repeat("x", 2000)), fm.BlockText(3, "Two."), fm.StopReason("end_turn", 1, 1),
	})
	chunks, err := agAsk(t, typed(t, inner, continuation.WithMaxBufferedBytes(1000)))
	exhausted := (*continuation.ExhaustedError)(nil)
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, continuation.ReasonMaxBufferedBytes, exhausted.Reason)
	assert.Equal(t, "One. ", exhausted.Partial.Content)
	buffer := (*continuation.BufferError)(nil)
	require.ErrorAs(t, err, &buffer)
	assert.Equal(t, "search", buffer.Tool)
	assert.Equal(t, "One. ", agText(fm.ConcatAgentic(t, chunks)))
}

// TestAgenticRemoteExtra: what a chunk says beside a call that is dropped is not lost: clients know by it what they wrote.
func TestAgenticRemoteExtra(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		extra := map[string]any{"generated": true}
		search := schema.NewContentBlock(&schema.ServerToolCall{Name: "search", CallID: "a"})
		search.StreamingMeta = &schema.StreamingMeta{Index: 0}
		text := schema.NewContentBlock(&schema.AssistantGenText{Text: "Hello."})
		text.StreamingMeta = &schema.StreamingMeta{Index: 0}
		msg := agRun(t, fm.Script{agChunk(nil, extra, search), fm.Reset()},
			fm.Script{agChunk(nil, extra, text), fm.StopReason("end_turn", 1, 1)})
		assert.Equal(t, "Hello.", agText(msg))
		assert.Equal(t, true, msg.Extra["generated"])
	})
}
