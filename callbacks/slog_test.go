package callbacks

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

type traceKey struct{}

// probe is a slog handler that shows what the contexts it gets carry.
type probe struct {
	slog.Handler
	traces []any
}

func (p *probe) Enabled(context.Context, slog.Level) bool { return true }

func (p *probe) Handle(ctx context.Context, r slog.Record) error {
	p.traces = append(p.traces, ctx.Value(traceKey{}))

	return p.Handler.Handle(ctx, r)
}

func TestSlogHandsTheContextOn(t *testing.T) {
	p := &probe{Handler: slog.DiscardHandler}
	Slog(slog.New(p)).Handle(context.WithValue(t.Context(), traceKey{}, "trace-1"), StreamReset{})
	if len(p.traces) != 1 || p.traces[0] != "trace-1" {
		t.Errorf("the logger's handler got contexts with %v, want the call's once", p.traces)
	}
}

func TestSlogLeavesOutLevelsThatAreOff(t *testing.T) {
	for _, c := range []struct {
		level slog.Level
		want  []string
	}{
		{slog.LevelError, []string{"ERROR"}},
		{slog.LevelWarn, []string{"ERROR", "WARN"}},
		{slog.LevelInfo, []string{"ERROR", "INFO", "WARN"}},
		{slog.LevelDebug, []string{"DEBUG", "ERROR", "INFO", "WARN"}},
	} {
		t.Run(c.level.String(), func(t *testing.T) {
			var b bytes.Buffer
			h := Slog(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: c.level})))
			want := 0
			for _, w := range everyEvent() {
				h.Handle(t.Context(), w.event)
				if strings.Contains(strings.Join(c.want, " "), w.level) {
					want++
				}
			}
			if got := strings.Count(b.String(), "\n"); got != want {
				t.Errorf("%d records, want %d:\n%s", got, want, b.String())
			}
		})
	}
}

func TestSlogBuildsNoRecordForALevelThatIsOff(t *testing.T) {
	h := Slog(slog.New(slog.DiscardHandler))
	var e Event = ToolCallProgress{Call: testCall(), ToolName: "search"}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { h.Handle(ctx, e) }); n > 0 {
		t.Errorf("%v allocations for an event that is not logged", n)
	}
}

func TestSlogOfNilUsesTheDefaultOfTheMoment(t *testing.T) {
	h := Slog(nil) // made before the default is set
	old := slog.Default()
	t.Cleanup(func() { slog.SetDefault(old) })
	var b bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	h.Handle(t.Context(), StreamReset{Reason: "restart"})
	if !strings.Contains(b.String(), "msg=stream_reset") {
		t.Errorf("the default logger got %q", b.String())
	}
}

func TestSlogIsSafeForConcurrentUse(t *testing.T) {
	var b bytes.Buffer
	h := Slog(slog.New(slog.NewJSONHandler(&b, nil)))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, w := range otherEvents() {
				h.Handle(t.Context(), w.event)
			}
		})
	}
	wg.Wait()
	if got, want := strings.Count(b.String(), `"call_id":"c-1"`), 8*(len(otherEvents())-1); got != want {
		t.Errorf("%d records, want %d: all but the debug one", got, want)
	}
}

func TestHandlerFuncCallsItself(t *testing.T) {
	var got Event
	HandlerFunc(func(_ context.Context, e Event) { got = e }).Handle(t.Context(), StreamReset{Reason: "restart"})
	if got != (StreamReset{Reason: "restart"}) {
		t.Errorf("got %#v", got)
	}
}
