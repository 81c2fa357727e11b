package provider

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestTheDefaultDialect is a user turn everywhere but where a trailing assistant message is known to be continued.
func TestTheDefaultDialect(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r, s := breakOnce(t, c, rig.Wiring{}, faultllm.Reset(faultllm.InText(1)))
			require.NoError(t, s.end)
			records := r.Server.Ledger().Records
			require.Len(t, records, 2)
			messages := records[1].Request.Messages
			want := []string{"system", "user", "assistant", "user"}
			if c.Vendor == faultllm.Ollama {
				want = want[:3]
			}
			assert.Equal(t, want, roles(messages))
			assert.Equal(t, "We leave", messages[2].Text)
			assert.True(t, records[1].Continued)
		})
	}
}

func roles(messages []faultllm.Message) []string {
	var all []string
	for _, m := range messages {
		all = append(all, m.Role)
	}

	return all
}

// TestARefusedPrefillSwitchesOnce asks a provider that refuses it for a prefill. It is asked with a user turn instead, at
// once and from then on. Ollama has no such refusal.
func TestARefusedPrefillSwitchesOnce(t *testing.T) {
	for _, c := range clients.All() {
		if c.Vendor == faultllm.Ollama {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, rig.Wiring{}, faultllm.Config{
				Script: brief(), RefusePrefill: true,
				Plan: faultllm.InOrder(faultllm.Reset(faultllm.InText(1)), faultllm.None(), faultllm.None(), faultllm.Reset(faultllm.InText(2))),
			})
			m := r.Wrap(continuation.WithDialect(continuation.Prefill()))
			for range 2 {
				chunks, err := rig.Stream(t.Context(), m, rig.Question())
				require.NoError(t, err)
				assert.Equal(t, "We leave at ten, not later.", rig.Concat(t, chunks).Content)
			}
			refusals := 0
			for _, rec := range r.Server.Ledger().Records {
				if rec.Status == 400 {
					refusals++
				}
			}
			broken, notices := rig.EventsOf[callbacks.Interrupted](r), rig.EventsOf[callbacks.Notice](r)
			assert.Equal(t, 1, refusals, "it is not asked for a prefill again")
			require.Len(t, notices, 1)
			assert.Equal(t, callbacks.NoticePrefillRefused, notices[0].Kind)
			require.Len(t, broken, 2, "the refusal is no interruption")
			assert.Equal(t, callbacks.CauseConnectionReset, broken[0].Cause)
		})
	}
}

// TestARefusalThatIsNotOfThePrefillKeepsTheFirstError is refused a continuation for another reason.
func TestARefusalThatIsNotOfThePrefillKeepsTheFirstError(t *testing.T) {
	for _, c := range clients.All() {
		for name, d := range map[string]continuation.Dialect{"prefill": continuation.Prefill(), "user turn": continuation.UserTurn()} {
			t.Run(c.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, c, rig.Wiring{}, faultllm.Config{
					Script: brief(), Plan: faultllm.ByAttempt(faultllm.MalformedJSON(faultllm.InText(1)), faultllm.Refuse(401, faultllm.RetryAfter{})),
				})
				chunks, err := rig.Stream(t.Context(), r.Wrap(continuation.WithDialect(d)), rig.Question())
				var exhausted *continuation.ExhaustedError
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, continuation.ReasonRefused, exhausted.Reason)
				assert.Equal(t, continuation.Transient, continuation.DefaultClassifier(exhausted.First).Kind, "%v", exhausted.First)
				assert.Equal(t, continuation.Unauthorized, continuation.DefaultClassifier(exhausted.Last).Kind, "%v", exhausted.Last)
				assert.Equal(t, "We leave ", exhausted.Partial.Content)
				assert.Equal(t, "We leave ", rig.Concat(t, chunks).Content)
				requests := 2
				if (c.Vendor == faultllm.DeepSeek || c.Vendor == faultllm.ArkResponses) && name == "prefill" {
					requests = 3 // they refuse the unmarked prefill before that
				}
				assert.Equal(t, requests, r.Server.Ledger().Requests)
			})
		}
	}
}

// TestWhatWasCutDoesNotComeBackInParts breaks an answer behind a message that the caller begins itself, in Content or in the
// parts that clients send in its place. DeepSeek, Qwen and Ark's responses do not continue an unmarked message.
func TestWhatWasCutDoesNotComeBackInParts(t *testing.T) {
	for _, c := range clients.All() {
		if c.Vendor == faultllm.DeepSeek || c.Vendor == faultllm.Qwen || c.Vendor == faultllm.ArkResponses {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, rig.Wiring{}, faultllm.Config{
				Script: faultllm.Reply(faultllm.Say("We leave ", "at ten, ", "not later.")),
				Plan:   faultllm.InOrder(faultllm.Reset(faultllm.InText(2))),
			})
			begun := &schema.Message{Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{
				{Type: schema.ChatMessagePartTypeText, Text: "We leave"},
			}}
			chunks, err := rig.Stream(t.Context(), r.Wrap(), append(rig.Question(), begun))
			require.NoError(t, err)
			assert.Equal(t, " at ten, not later.", rig.Concat(t, chunks).Content)
			records := r.Server.Ledger().Records
			require.Len(t, records, 2)
			for i, want := range []string{"We leave", "We leave at ten,"} {
				assert.Equal(t, want, records[i].Request.Messages[2].Text, "request %d", i)
			}
			assert.Len(t, begun.AssistantGenMultiContent, 1, "the caller's message was changed")
		})
	}
}
