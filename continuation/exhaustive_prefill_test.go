package continuation_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// Where the provider goes on to the byte, the partial answer is the last message and nothing but white space is cut.
func TestExhaustivePrefill(t *testing.T) {
	t.Parallel()
	for _, script := range exScripts() {
		for at := range script.chunks {
			c := exCell{script: script, typ: "OpenAI", at: at}
			got := exRead(script.chunks[:at])
			plan := got.plan()
			if !got.content || plan != snapshot.ContinueText && plan != snapshot.TruncateBeforeTool || got.finished {
				continue
			}
			t.Run(fmt.Sprintf("%s after %d", script.name, at), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := c.model(faultmodel.BreakAt(at, faultmodel.Reset()))
					run := exStream(t, m, exInput(), continuation.WithDialect(continuation.Prefill()))
					bare := exIndexed(faultmodel.Concat(t, c.bare(t)))
					message := run.message(t)
					require.Equal(t, bare.Content, message.Content)
					require.Equal(t, exFilled(bare.ToolCalls), message.ToolCalls)
					require.Len(t, run.requests, 2)
					sent := run.requests[1].Messages
					require.Len(t, sent, len(exInput())+1)
					require.Equal(t, exInput(), sent[:len(exInput())])
					last := sent[len(exInput())]
					require.Equal(t, schema.Assistant, last.Role)
					require.Equal(t, got.trimmed(), last.Content)
					require.Empty(t, last.ToolCalls)
					started := exEvents[callbacks.Started](run.log)
					require.Len(t, started, 1)
					require.Equal(t, "assistant", started[0].HistoryRewrite)
					require.Equal(t, "none", started[0].Prompt)
				})
			})
		}
	}
}
