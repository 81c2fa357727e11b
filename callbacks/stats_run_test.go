package callbacks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// byCall keeps apart what Stats adds up without looking at the call: it is a second way to the same numbers.
type byCall struct {
	interrupted, recovered, exhausted, cancelled map[string]bool
	discarded                                    int
}

func newByCall() *byCall {
	return &byCall{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, 0}
}

func (b *byCall) Handle(_ context.Context, e callbacks.Event) {
	id := e.Of().CallID
	switch e := e.(type) {
	case callbacks.Interrupted:
		b.interrupted[id] = true
		b.discarded += e.DiscardedPartialToolUses
	case callbacks.Completed:
		b.recovered[id] = true
	case callbacks.Exhausted:
		b.exhausted[id] = true
	case callbacks.Cancelled:
		b.cancelled[id] = true
	}
}

// answer makes up an answer: a thought, text and tool calls, any of which may be missing.
func answer(r *rand.Rand) fm.Script {
	var s fm.Script
	if r.IntN(3) == 0 {
		s = append(s, fm.Reasoning("Think it over, "), fm.Reasoning("then answer."))
	}
	for i := range r.IntN(6) {
		s = append(s, fm.Text(fmt.Sprintf("Sentence %d of this answer, %d. ", i, r.IntN(100))))
	}
	for i := range r.IntN(3) {
		s = append(s, fm.Call(i, fmt.Sprintf("call_%d", i), "search", `{"q": `), fm.Call(i, "", "", `"water"}`))
	}

	return append(s, fm.Finish("stop"))
}

func breaks(r *rand.Rand, chunks int) []fm.Break {
	causes := []fm.Step{
		fm.Reset(), fm.UnexpectedEOF(), fm.EOF(), fm.Stall(), fm.Fail(errors.New("status 503")),
		fm.OpenFail(fm.ResetError()), fm.Fail(errors.New("of no kind")),
	}
	var bs []fm.Break
	for range r.IntN(8) {
		bs = append(bs, fm.BreakAt(r.IntN(chunks+1), causes[r.IntN(len(causes))]))
	}

	return bs
}

// converse makes some calls, of which some are cancelled, and returns the errors that they ended with.
func converse(t *testing.T, r *rand.Rand, handlers ...callbacks.Handler) []error {
	t.Helper()
	opts := []continuation.Option{
		continuation.WithFinishReasonRequired(r.IntN(2) == 0), continuation.WithMaxContinuations(1 + r.IntN(5)),
	}
	for _, h := range handlers {
		opts = append(opts, continuation.WithHandler(h))
	}
	var ends []error
	for i := range 4 {
		a := answer(r)
		m := fm.Continuer(a, breaks(r, a.Chunks())...)
		if r.IntN(2) == 0 {
			m.WithUsage()
		}
		if r.IntN(4) == 0 {
			m.WithTailRepeat(20)
		}
		named := continuation.WithIdentity("OpenAI", fmt.Sprintf("model-%d", i%2))
		chat := continuation.Wrap(m, append(opts, named)...)
		ends = append(ends, ask(t, chat, r.IntN(12)))
		synctest.Wait() // closing a reader ends the call soon after
	}

	return ends
}

// ask reads one answer and closes it after the given number of chunks, if there are so many.
func ask(t *testing.T, chat *continuation.Model, upTo int) error {
	t.Helper()
	reader, err := chat.Stream(t.Context(), []*schema.Message{schema.UserMessage("Go on.")})
	if err != nil {
		return err
	}
	defer reader.Close()
	for range upTo {
		if _, err := reader.Recv(); err != nil {
			return err
		}
	}

	return nil
}

func TestStatsOfRealRuns(t *testing.T) {
	all := callbacks.NewStats()
	for seed := range uint64(150) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // made up, and the same each time
			var log bytes.Buffer
			live, replayed, calls := callbacks.NewStats(), callbacks.NewStats(), newByCall()
			ends := converse(t, r, live, calls, all, callbacks.Slog(slog.New(slog.NewJSONHandler(&log, nil))))

			if got, err := callbacks.Replay(t.Context(), &log, replayed); err != nil || got.BadLines+got.Others > 0 {
				t.Fatalf("seed %d: %+v, %v", seed, got, err)
			}
			if !reflect.DeepEqual(replayed.Models(), live.Models()) {
				t.Fatalf("seed %d: from the log\n%+v\nfrom the events\n%+v", seed, replayed.Models(), live.Models())
			}
			agree(t, live.Total(), calls, ends)
		})
	}
	// What never happened was not tested.
	total := all.Total()
	for what, n := range map[string]int{
		"recovered": total.Recovered, "exhausted": total.Exhausted, "cancelled": total.Cancelled, "open retries": total.OpenRetries,
		"discarded calls": total.DiscardedToolCalls, "restarts": total.Restarts, "overlaps": total.Joins[callbacks.JoinOverlap],
		"billed": total.Billed.Total, "known usage": total.BilledKnown, "unknown usage": total.BilledUnknown, "waits": total.Waits,
	} {
		if n < 10 {
			t.Errorf("%s: only %d in all runs", what, n)
		}
	}
	for plan := range strings.FieldsSeq("ContinueText SynthesizeToolUse TruncateBeforeTool WholeRestart") {
		if total.Plans[plan] < 10 {
			t.Errorf("%s: only %d in all runs", plan, total.Plans[plan])
		}
	}
}

// agree compares the numbers of Stats with those that were counted call by call, and with what the callers saw.
func agree(t *testing.T, got callbacks.ModelStats, want *byCall, ends []error) {
	t.Helper()
	exhausted := 0
	for _, err := range ends {
		if err != nil && err != io.EOF && errors.Is(err, continuation.ErrExhausted) { //nolint:errorlint // the end itself
			exhausted++
		}
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"interrupted", got.Interrupted, len(want.interrupted)},
		{"recovered", got.Recovered, len(want.recovered)},
		{"exhausted", got.Exhausted, len(want.exhausted)},
		{"exhausted, as the callers saw it", got.Exhausted, exhausted},
		{"cancelled", got.Cancelled, len(want.cancelled)},
		{"discarded", got.DiscardedToolCalls, want.discarded},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
}
