package provider

import (
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// reportsInEach says that the provider reports in each chunk what was used so far. All others report at the end, and
// Anthropic a token at the start.
func reportsInEach(c clients.Client) bool { return c.Vendor == faultllm.Gemini }

// longer is an answer that can break twice.
func longer() faultllm.Script {
	return faultllm.Reply(faultllm.Say("We leave ", "at ten, ", "not later, ", "and not ", "before nine."))
}

// calling is an answer that ends with two tool calls.
func calling() faultllm.Script {
	return faultllm.Reply(
		faultllm.Say("Let me ", "see. "), faultllm.Call("c1", "tide", `{"port":`, `"Kiel"}`), faultllm.Call("c2", "tide", `{"port":`, `"Wismar"}`),
	)
}

// TestUsageAgainstTheLedger compares what the message, the last event and the one of the completed continuation say was
// used with what the provider has counted: it is that, or it says that it is less.
func TestUsageAgainstTheLedger(t *testing.T) {
	for _, c := range clients.All() {
		for name, b := range map[string]struct {
			script  faultllm.Script
			think   bool
			faults  []faultllm.Fault
			missing int // attempts that did not report, of most clients
		}{
			"unbroken": {script: longer()},
			"twice": {
				script: longer(), missing: 2,
				faults: []faultllm.Fault{faultllm.Reset(faultllm.InText(2)), faultllm.CleanEnd(faultllm.InText(1))},
			},
			"refused first":  {script: longer(), faults: []faultllm.Fault{faultllm.Refuse(503, faultllm.RetryAfter{})}},
			"with the calls": {script: calling(), missing: 1, faults: []faultllm.Fault{faultllm.CleanEnd(faultllm.InTool(1, 3))}},
			"in mid call":    {script: calling(), missing: 1, faults: []faultllm.Fault{faultllm.CleanEnd(faultllm.InTool(0, 3))}},
			"in mid thought": {
				script: faultllm.Reply(faultllm.Think("I need ", "the table."), faultllm.Say("At ten.")), think: true, missing: 1,
				faults: []faultllm.Fault{faultllm.CleanEnd(faultllm.InReasoning(1))},
			},
		} {
			t.Run(c.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, c, rig.Wiring{Think: b.think}, faultllm.Config{Script: b.script, Plan: faultllm.InOrder(b.faults...)})
				chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question(), model.WithTools([]*schema.ToolInfo{tide()}))
				require.NoError(t, err)
				got := rig.Concat(t, chunks)
				ended := rig.EventsOf[callbacks.Ended](r)[0]
				missing := b.missing
				if reportsInEach(c) {
					missing = min(missing, ended.Billed.Unreported) // but for a call that comes in one piece, or not at all
				}
				assert.Equal(t, missing, ended.Billed.Unreported)
				assert.Equal(t, missing, ended.Answer.Unreported)
				for _, e := range rig.EventsOf[callbacks.Completed](r) {
					assert.Equal(t, ended.Billed, e.Billed)
					assert.Equal(t, ended.Answer, e.Answer)
				}

				counted, prompt := r.Server.Ledger(), 0
				for _, rec := range counted.Records {
					if prompt == 0 {
						prompt = rec.Prompt
					}
				}
				require.Zero(t, counted.Lost, "the ledger counts what nobody can know of")
				u := got.ResponseMeta.Usage
				mark, marked := got.Extra[continuation.ExtraUnreported]
				switch {
				case u == nil: // and not zeros, as Ollama's client puts into each chunk: those are marked
					assert.Equal(t, 1, missing, "nothing is known of one attempt")
					assert.False(t, ended.Billed.Known)
				case missing == 0:
					assert.False(t, marked)
					assert.Equal(t, prompt, u.PromptTokens)
					assert.Equal(t, counted.Completion, u.CompletionTokens)
					assert.Equal(t, counted.Prompt, ended.Billed.Prompt)
					assert.Equal(t, counted.Completion, ended.Billed.Completion)
				default:
					assert.Equal(t, missing, mark)
					assert.LessOrEqual(t, u.CompletionTokens, counted.Completion)
					assert.LessOrEqual(t, ended.Billed.Prompt, counted.Prompt)
					assert.LessOrEqual(t, ended.Billed.Completion, counted.Completion)
					assert.Equal(t, u.PromptTokens+u.CompletionTokens, u.TotalTokens)
				}
			})
		}
	}
}

// TestUsageAfterTwoBreaks pins what the message says after two breaks.
func TestUsageAfterTwoBreaks(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, rig.Wiring{}, faultllm.Config{Script: longer(), Plan: faultllm.InOrder(
				faultllm.Reset(faultllm.InText(2)), faultllm.CleanEnd(faultllm.InText(1)),
			)})
			chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
			require.NoError(t, err)
			got := rig.Concat(t, chunks)
			records := r.Server.Ledger().Records
			require.Len(t, records, 3)
			first, last := records[0], records[2]
			want := &schema.TokenUsage{PromptTokens: last.Prompt, CompletionTokens: last.Completion} // of the one that reported
			flushed := []bool{false, false}
			switch c.Vendor {
			case faultllm.Gemini:
				want.PromptTokens, want.CompletionTokens = first.Prompt, records[0].Completion+records[1].Completion+last.Completion
				flushed = []bool{true, true}
				assert.NotContains(t, got.Extra, continuation.ExtraUnreported)
			case faultllm.Anthropic:
				want.PromptTokens, want.CompletionTokens = first.Prompt, 1+1+last.Completion // a token each at the start
				fallthrough
			default:
				assert.Equal(t, 2, got.Extra[continuation.ExtraUnreported])
			}
			want.TotalTokens = want.PromptTokens + want.CompletionTokens
			assert.Equal(t, want, got.ResponseMeta.Usage)
			for i, e := range rig.EventsOf[callbacks.Interrupted](r) {
				assert.Equal(t, flushed[i], e.UsageFlushed)
			}
		})
	}
}

// TestTheRestOfATokenLimit: a continuation is asked for no more than is left of what the caller allows. Ollama's client
// keeps the option to itself: its limit is in its configuration only.
func TestTheRestOfATokenLimit(t *testing.T) {
	const limit, least = 1000, 256
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, rig.Wiring{}, faultllm.Config{Script: longer(), Plan: faultllm.InOrder(
				faultllm.Reset(faultllm.InText(2)), faultllm.CleanEnd(faultllm.InText(2)),
			)})
			_, err := rig.Stream(t.Context(), r.Bare, rig.Question(), model.WithMaxTokens(limit))
			if err == nil {
				t.Log("the client hides the break")
			}
			bare := r.Server.Ledger().Records[0].Request.MaxTokens

			_, err = rig.Stream(t.Context(), r.Wrap(), rig.Question(), model.WithMaxTokens(limit))
			require.NoError(t, err)
			asked := r.Server.Ledger().Records[1:]
			require.Len(t, asked, 2)
			if c.Vendor == faultllm.Ollama {
				for _, rec := range asked {
					assert.Zero(t, rec.Request.MaxTokens)
				}
				assert.Zero(t, bare, "nor does the client send it by itself")

				return
			}
			assert.Equal(t, limit, bare)
			assert.Equal(t, limit, asked[0].Request.MaxTokens)
			assert.Less(t, asked[1].Request.MaxTokens, limit)
			assert.GreaterOrEqual(t, asked[1].Request.MaxTokens, limit-asked[0].Completion, "no more than was used is taken off")
			assert.Greater(t, asked[1].Request.MaxTokens, least)
		})
	}
}

// TestAWholeDocument: of a document that breaks nothing is shown; it is asked for again, unchanged, and only the whole one
// gets out.
func TestAWholeDocument(t *testing.T) {
	const document = `{"leave":"ten","boats":["Anna","Berta"],"late":false}`
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, rig.Wiring{}, faultllm.Config{
				Script: faultllm.Reply(faultllm.Say(document[:10], document[10:25], document[25:])),
				Plan:   faultllm.InOrder(faultllm.Reset(faultllm.InText(1)), faultllm.CleanEnd(faultllm.InText(2))),
			})
			chunks, err := rig.Stream(t.Context(), r.Wrap(continuation.WithWholeOutput()), rig.Question())
			require.NoError(t, err)
			got := rig.Concat(t, chunks)
			assert.True(t, json.Valid([]byte(got.Content)), got.Content)
			assert.Equal(t, document, got.Content)
			assert.NotEmpty(t, got.ResponseMeta.FinishReason)
			records := r.Server.Ledger().Records
			require.Len(t, records, 3)
			assert.Equal(t, records[0].Request.Messages, records[1].Request.Messages)
			assert.Equal(t, records[0].Request.Messages, records[2].Request.Messages)
		})
	}
}

// tide is a tool that tells the height of the water.
func tide() *schema.ToolInfo {
	return &schema.ToolInfo{Name: "tide", Desc: "Tells the tide.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"port": {Type: schema.String, Desc: "where", Required: true},
	})}
}
