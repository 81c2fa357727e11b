package provider

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestAThoughtThatIsRefused: a continuation that a provider refuses for its thought is made once more without, by every
// client that sends one; those that send none get the refusal.
func TestAThoughtThatIsRefused(t *testing.T) {
	const refusal = `{"error":{"type":"invalid_request_error","code":"invalid_request_error","message":"Invalid signature in thinking block"}}`
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			refusal := refusal
			if c.Vendor == faultllm.Ollama {
				refusal = `{"error":"Invalid signature in thinking block"}`
			}
			r := newRig(t, c, rig.Wiring{Think: true}, faultllm.Config{
				Script: faultllm.Reply(faultllm.Think("I need ", "the table."), faultllm.Say("We leave ", "at ten.")),
				Plan:   faultllm.InOrder(faultllm.Reset(faultllm.InText(1)), faultllm.Status(400, faultllm.RetryAfter{}, refusal)),
			})
			chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
			records := r.Server.Ledger().Records
			sent := func(n int) string {
				for _, m := range records[n].Request.Messages {
					if m.Role == "assistant" && (m.Reasoning != "" || m.Signature != "") {
						return m.Reasoning + m.Signature
					}
				}

				return ""
			}
			none := c.Vendor == faultllm.Gemini || c.Vendor == faultllm.ArkResponses
			require.Equal(t, none, sent(1) == "", "what goes along has changed")
			if none {
				var exhausted *continuation.ExhaustedError
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, continuation.ReasonRefused, exhausted.Reason)
				assert.Len(t, records, 2)

				return
			}
			require.NoError(t, err)
			assert.Equal(t, "We leave at ten.", rig.Concat(t, chunks).Content)
			require.Len(t, records, 3)
			assert.Empty(t, sent(2))
			notices := rig.EventsOf[callbacks.Notice](r)
			require.Len(t, notices, 1)
			assert.Equal(t, callbacks.NoticeThoughtRefused, notices[0].Kind)
			assert.Contains(t, notices[0].Message, "Invalid signature")
		})
	}
}

// TestARefusalInWordsThatNobodyKnows: a prefill that is refused is asked for with a user turn whatever is said, and that is
// remembered.
func TestARefusalInWordsThatNobodyKnows(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			no := faultllm.Status(400, faultllm.RetryAfter{}, `{"error":{"type":"invalid_request_error","code":"x","message":"No, thank you."}}`)
			r := newRig(t, c, rig.Wiring{}, faultllm.Config{Script: brief(), Plan: faultllm.InOrder(
				faultllm.Reset(faultllm.InText(1)), no, faultllm.None(), faultllm.Reset(faultllm.InText(1)),
			)})
			m := r.Wrap(continuation.WithDialect(continuation.Prefill()))
			for range 2 {
				chunks, err := rig.Stream(t.Context(), m, rig.Question())
				require.NoError(t, err)
				assert.Equal(t, whole, rig.Concat(t, chunks).Content)
			}
			require.Len(t, r.Server.Ledger().Records, 5)
			assert.Len(t, rig.EventsOf[callbacks.Interrupted](r), 2)
		})
	}
}
