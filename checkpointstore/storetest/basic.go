package storetest

import (
	"fmt"
	"math"
	"strings"

	"github.com/eino-carryon/carryon/checkpointstore"
)

func basicRules() []rule {
	return []rule{
		{
			name:   "NotFound",
			reason: "a run without a checkpoint is the common case at a call's start, and must not look like a failing store",
			check: func(e *env) {
				e.holdsNothing("nothing")
				e.put(at("other", checkpointstore.Fence{Epoch: 1, Owner: "a"}))
				e.holdsNothing("nothing")
			},
		},
		{
			name:   "EveryFieldRoundTrips",
			reason: "a signature, a call's argument or a count that is lost or changes its type makes the resumed answer another one",
			check: func(e *env) {
				e.put(sample("full"))
				e.holds(sample("full"))
				e.put(checkpointstore.Checkpoint{RunID: "zero"})
				e.holds(checkpointstore.Checkpoint{RunID: "zero"})
				e.put(checkpointstore.Checkpoint{RunID: "nan", Extra: map[string]any{"nan": math.NaN()}})
				if f, ok := e.get("nan").Extra["nan"].(float64); !ok || !math.IsNaN(f) {
					e.broken("NaN came back as %v", e.get("nan").Extra["nan"])
				}
			},
		},
		{
			name:   "ExtraIsNormalized",
			reason: "one value of a foreign type must not cost the whole checkpoint",
			check: func(e *env) {
				c := sample("run")
				c.Extra = map[string]any{"int": 7, "float32": float32(0.5), "chan": make(chan int), "list": []any{1}}
				e.put(c)
				e.holds(c)
			},
		},
		{
			name:   "PutReplaces",
			reason: "a checkpoint is cumulative: what the later one does not have is gone",
			check: func(e *env) {
				e.put(sample("run"))
				later := at("run", checkpointstore.Fence{Epoch: 9, Owner: "b"})
				e.put(later)
				e.holds(later)
			},
		},
		{
			name:   "PutAgain",
			reason: "a writer that got no answer puts the same once more",
			check: func(e *env) {
				e.put(sample("run"))
				e.put(sample("run"))
				e.holds(sample("run"))
			},
		},
		{
			name:   "Delete",
			reason: "a finished run leaves nothing, and a delete is repeated when its answer was lost",
			check: func(e *env) {
				e.is(e.store.Delete(e.Context(), "run"), nil, "Delete of nothing")
				e.put(sample("run"))
				e.put(sample("other"))
				e.is(e.store.Delete(e.Context(), "run"), nil, "Delete")
				e.holdsNothing("run")
				e.is(e.store.Delete(e.Context(), "run"), nil, "the second Delete")
				e.holds(sample("other"))
				e.put(at("run", checkpointstore.Fence{Epoch: 1, Owner: "b"}))
				e.holds(at("run", checkpointstore.Fence{Epoch: 1, Owner: "b"}))
			},
		},
		{
			name:   "NoAliasing",
			reason: "the writer goes on appending to what it has put, and a reader to what it has got",
			check: func(e *env) {
				given := sample("run")
				e.put(given)
				scribble(given)
				e.holds(sample("run"))
				scribble(e.get("run"))
				e.holds(sample("run"))
			},
		},
		{
			name:   "Large",
			reason: "an answer of some megabytes is rare, and the one that costs most to lose",
			check: func(e *env) {
				c := sample("run")
				c.Text = strings.Repeat("0123456789abcde\n", 8<<20/16)
				e.put(c)
				e.holds(c)
				c.Seq, c.Epoch, c.Text = 0, c.Epoch+1, strings.Repeat("é", 100<<10)
				e.put(c)
				e.holds(c)
			},
		},
	}
}

func scribble(c checkpointstore.Checkpoint) {
	c.ToolCalls[0].Name = "scribbled"
	c.OpenToolCall.Arguments = "scribbled"
	c.Dropped[0] = "scribbled"
	scribbleMap(c.Extra)
	scribbleMap(c.ToolCalls[0].Extra)
	scribbleMap(c.OpenToolCall.Extra)
}

func scribbleMap(m map[string]any) {
	for _, v := range m {
		switch v := v.(type) {
		case []byte:
			for i := range v {
				v[i]++
			}
		case []string:
			for i := range v {
				v[i] = "scribbled"
			}
		case map[string]any:
			scribbleMap(v)
		}
	}
	m["scribbled"] = fmt.Sprint(len(m))
}
