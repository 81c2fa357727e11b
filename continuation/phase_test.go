package continuation

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestPhases walks every way through the diagram in doc.go.
func TestPhases(t *testing.T) {
	t.Parallel()
	text, more, stop := fm.Text("Hello "), fm.Text("world"), fm.Finish("stop")
	for name, tt := range map[string]struct {
		scripts []fm.Script
		want    string
	}{
		"nothing breaks":          {[]fm.Script{{text, more, stop}}, "opening streaming ended"},
		"the text is continued":   {[]fm.Script{{text, fm.Reset()}, {more, stop}}, "opening streaming waiting opening joining streaming ended"},
		"the answer was whole":    {[]fm.Script{{text, fm.Reset()}, {stop}}, "opening streaming waiting opening joining streaming ended"},
		"the answer starts over":  {[]fm.Script{{fm.Reasoning("hm"), fm.Reset()}, {text, stop}}, "opening streaming waiting opening streaming ended"},
		"the first open fails":    {[]fm.Script{{fm.OpenFail(fm.ResetError())}, {text, stop}}, "opening waiting opening streaming ended"},
		"the first read fails":    {[]fm.Script{{fm.Reset()}, {text, stop}}, "opening streaming waiting opening streaming ended"},
		"tool calls run":          {[]fm.Script{{fm.Call(0, "c", "f", "{}"), fm.Reset()}}, "opening streaming ended"},
		"it fails for good":       {[]fm.Script{{fm.OpenFail(errors.New("unheard of"))}}, "opening ended"},
		"was it cut? yes":         {[]fm.Script{{text, fm.EOF()}, {more, stop}}, "opening streaming waiting opening probing joining streaming ended"},
		"was it cut? nobody says": {[]fm.Script{{text, fm.EOF()}, {more, fm.EOF()}}, "opening streaming waiting opening probing ended"},
		"a restart is left": {
			[]fm.Script{{fm.Text("The quick brown fox "), fm.Reset()}, {fm.Text("The quick brown bear "), stop}, {fm.Text("jumps."), stop}},
			"opening streaming waiting opening joining waiting opening joining streaming ended",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var phases []string
				c := newCall(t.Context(), Wrap(fm.New(tt.scripts...)).engine, callerRequest([]*schema.Message{schema.UserMessage("hi")}, nil))
				c.trace = func(p phase) { phases = append(phases, p.String()) }
				if c.open() == nil {
					_, _ = fm.Collect(newReader(c.nextMessage, c.closed))
				}
				assert.Equal(t, strings.Fields(tt.want), phases)
			})
		})
	}
}
