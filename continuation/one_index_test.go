package continuation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestCallsOfOneIndex breaks answers whose server gives all calls the index 0, and tells them apart by their ids, or that
// has one id for two calls of different attempts.
func TestCallsOfOneIndex(t *testing.T) {
	t.Parallel()
	whole := func(id, name, args string) fm.Step { return fm.Call(0, id, name, args) }
	more := func(args string) fm.Step { return fm.Call(0, "", "", args) }
	stop := fm.Finish("tool_calls")
	for name, c := range map[string]struct {
		scripts  []fm.Script
		text     string
		calls    []string
		dropped  []string
		requests int
	}{
		"unbroken": {
			[]fm.Script{{whole("a", "f", `{"x":1}`), whole("b", "g", `{"y":2}`), stop}},
			"",
			[]string{`0 a f {"x":1}`, `1 b g {"y":2}`},
			nil, 1,
		},
		"behind both": {
			[]fm.Script{{whole("a", "f", `{"x":1}`), whole("b", "g", `{"y":2}`), fm.Reset()}},
			"",
			[]string{`0 a f {"x":1}`, `1 b g {"y":2}`},
			nil, 1,
		},
		"both in pieces": {
			[]fm.Script{{whole("a", "f", `{"x":`), more(`1}`), whole("b", "g", `{"y"`), more(`:2`), more(`}`), fm.Reset()}},
			"",
			[]string{`0 a f {"x":1}`, `1 b g {"y":2}`},
			nil, 1,
		},
		"in the second": {
			[]fm.Script{{whole("a", "f", `{}`), whole("b", "g", `{"y`), fm.Reset()}},
			"",
			[]string{`0 a f {}`},
			[]string{"g"},
			1,
		},
		"in the second, in pieces": {
			[]fm.Script{{whole("a", "f", `{"x":`), more(`1}`), whole("b", "g", `{"y":`), more(`2`), fm.EOF()}},
			"",
			[]string{`0 a f {"x":1}`},
			[]string{"g"},
			1,
		},
		"the first is still open": {
			[]fm.Script{{whole("a", "f", `{"x":`), whole("b", "g", `{"y":2}`), fm.Reset()}},
			"",
			[]string{`1 b g {"y":2}`},
			[]string{"f"},
			1,
		},
		"both are open": {
			[]fm.Script{
				{fm.Text("Hi. "), whole("a", "f", `{"x":`), whole("b", "g", `{"y`), fm.Reset()},
				{fm.Text("So. "), whole("c", "f", `{"x":1}`), whole("d", "g", `{"y":2}`), stop},
			},
			"Hi. So. ",
			[]string{`0 c f {"x":1}`, `1 d g {"y":2}`},
			[]string{"f", "g"},
			2,
		},
		"R3 and another call of the same id": {
			[]fm.Script{{fm.Text("Hi. "), whole("a", "f", `{"x":`), fm.Reset()}, {fm.Text("So. "), whole("a", "g", `{"y":2}`), stop}},
			"Hi. So. ",
			[]string{`0 a g {"y":2}`},
			[]string{"f"},
			2,
		},
		"R3 and the same call": {
			[]fm.Script{{fm.Text("Hi. "), whole("a", "f", `{"x":`), fm.Reset()}, {fm.Text("So. "), whole("a", "f", `{"x":1}`), stop}},
			"Hi. So. ",
			[]string{`0 a f {"x":1}`},
			[]string{"f"},
			2,
		},
		"R4 and another call of the same id": {
			[]fm.Script{{whole("a", "f", `{"x":`), fm.Reset()}, {whole("a", "g", `{"y":`), more(`2}`), whole("b", "f", `{}`), stop}},
			"",
			[]string{`0 a g {"y":2}`, `1 b f {}`},
			[]string{"f"},
			2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(c.scripts...).TypeName("OpenAI"), ctNow())
			require.NoError(t, r.err)
			m := r.message(t)
			assert.Equal(t, c.text, m.Content)
			var calls, dropped []string
			for _, call := range m.ToolCalls {
				require.NotNil(t, call.Index)
				calls = append(calls, fmt.Sprintf("%d %s %s %s", *call.Index, call.ID, call.Function.Name, call.Function.Arguments))
			}
			assert.Equal(t, c.calls, calls)
			for _, e := range ctOf[callbacks.ToolCallCancel](events) {
				dropped = append(dropped, e.ToolName)
			}
			assert.Equal(t, c.dropped, dropped)
			assert.Len(t, r.requests, c.requests)
		})
	}
}
