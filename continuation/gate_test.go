package continuation_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestBytesBehindADeliveredCall: what comes behind a call that the consumer has is delivered as it came if the answer ends
// so, and is gone if the stream breaks: it cannot spoil a call that was whole.
func TestBytesBehindADeliveredCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script  fm.Script
		want    string
		notices int
	}{
		"white space, then the end":    {fm.Script{fm.Call(0, "c1", "f", "{}"), fm.Call(0, "", "", " \n"), fm.Finish("tool_calls")}, "{} \n", 0},
		"white space, then a break":    {fm.Script{fm.Call(0, "c1", "f", "{}"), fm.Call(0, "", "", " \n"), fm.Reset()}, "{} \n", 0},
		"another object, then the end": {fm.Script{fm.Call(0, "c1", "f", "{}"), fm.Call(0, "", "", "{}"), fm.Finish("tool_calls")}, "{}{}", 1},
		"another object, then a break": {fm.Script{fm.Call(0, "c1", "f", "{}"), fm.Call(0, "", "", "{}"), fm.Reset()}, "{}", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				notices := 0
				inner := fm.New(c.script)
				m := continuation.Wrap(inner, continuation.WithHandler(callbacks.HandlerFunc(
					func(_ context.Context, e callbacks.Event) {
						if n, ok := e.(callbacks.Notice); ok && n.Kind == callbacks.NoticeToolCallPassed {
							notices++
						}
					})))
				r, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage("hi")})
				require.NoError(t, err)
				chunks, err := fm.Collect(r)
				require.NoError(t, err)
				msg := fm.Concat(t, chunks)
				require.Len(t, msg.ToolCalls, 1)
				assert.Equal(t, c.want, msg.ToolCalls[0].Function.Arguments)
				assert.Equal(t, "tool_calls", msg.ResponseMeta.FinishReason)
				assert.Equal(t, c.notices, notices)
				assert.Len(t, inner.Requests(), 1)
			})
		})
	}
}
