package interop

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestAnUnbrokenStreamIsUntouched compares the decorated client with the bare one: the same requests to the byte, the
// same chunks where no tool call is held, the same message in any case, and no event.
func TestAnUnbrokenStreamIsUntouched(t *testing.T) {
	for _, a := range append(answers(), limited()) {
		for _, w := range []wiring{plainTransport, recordingTransport} {
			t.Run(a.name+"/"+w.String(), func(t *testing.T) {
				t.Parallel()
				cfg := faultllm.Config{Script: faultllm.Script{{Answer: a.answer}}}
				bare, decorated := newRig(t, w, cfg), newRig(t, w, cfg)
				want, err := stream(t.Context(), bare.bare, options()...)
				require.NoError(t, err)
				got, err := stream(t.Context(), decorated.wrap(), options()...)
				require.NoError(t, err)

				assert.Equal(t, concat(t, want), concat(t, got))
				if len(a.answer.ToolCalls()) == 0 {
					assert.Equal(t, want, got, "a chunk was changed, merged or split")
				}
				assert.Equal(t, bodies(bare.ledger(t)), bodies(decorated.ledger(t)))
				assert.Len(t, decorated.events.names(), len(eventsOf[callbacks.ToolCallProgress](decorated.events)), "progress alone is told")
			})
		}
	}
}

// TestAnUnbrokenGenerateIsUntouched is the same of Generate.
func TestAnUnbrokenGenerateIsUntouched(t *testing.T) {
	a := toolAnswer()
	cfg := faultllm.Config{Script: faultllm.Script{{Answer: a.answer}}}
	bare, decorated := newRig(t, recordingTransport, cfg), newRig(t, recordingTransport, cfg)
	want, err := bare.bare.Generate(t.Context(), question(), options()...)
	require.NoError(t, err)
	got, err := decorated.wrap().Generate(t.Context(), question(), options()...)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, bodies(bare.ledger(t)), bodies(decorated.ledger(t)))
}

// TestBoundToolsReachTheProvider binds tools to the decorator as react agents do.
func TestBoundToolsReachTheProvider(t *testing.T) {
	r := newRig(t, recordingTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: textAnswer().answer}}, Plan: faultllm.InOrder(faultllm.Reset(faultllm.InText(2))),
	})
	bound, err := r.wrap().WithTools(tools())
	require.NoError(t, err)
	chunks, err := stream(t.Context(), bound)
	require.NoError(t, err)
	assert.Equal(t, textAnswer().answer.Text(), concat(t, chunks).Content)
	for _, rec := range r.ledger(t).Records {
		assert.Equal(t, []string{"lookup", "order"}, rec.Request.Tools)
	}
}

// TestTheFirstChunkIsNotWaitedFor holds the provider back behind its first piece until the consumer has that.
func TestTheFirstChunkIsNotWaitedFor(t *testing.T) {
	release := make(chan struct{})
	r := newRig(t, recordingTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: textAnswer().answer}}, Plan: faultllm.InOrder(faultllm.Hold(faultllm.InText(1), release)),
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reader, err := r.wrap().Stream(ctx, question())
	require.NoError(t, err)
	defer reader.Close()
	first, err := reader.Recv()
	require.NoError(t, err)
	assert.Equal(t, "The tide ", first.Content)
	close(release)
	rest, err := drain(reader)
	require.NoError(t, err)
	assert.Equal(t, textAnswer().answer.Text(), first.Content+concat(t, rest).Content)
}

// limited is an answer that ends at its limit of length, which is no interruption.
func limited() scripted {
	return scripted{name: "length", answer: faultllm.Answer{
		Parts: []faultllm.Part{faultllm.Say("The tide ", "turns at")}, Finish: "length",
	}}
}

func options() []model.Option {
	return []model.Option{
		model.WithTools(tools()), model.WithTemperature(0.5), model.WithMaxTokens(4000), model.WithModel("carryon-test-2"),
	}
}

func tools() []*schema.ToolInfo {
	var infos []*schema.ToolInfo
	for _, name := range []string{"lookup", "order"} {
		infos = append(infos, &schema.ToolInfo{
			Name: name, Desc: fmt.Sprintf("The tool %s.", name),
			ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
				"port": {Type: schema.String, Desc: "a port"},
			}),
		})
	}

	return infos
}

func bodies(l faultllm.Ledger) []string {
	var all []string
	for _, r := range l.Records {
		all = append(all, string(r.Body))
	}

	return all
}
