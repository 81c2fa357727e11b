package callbacks

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReplayOfAMixedLog(t *testing.T) {
	log := strings.Join([]string{
		`{"time":"2030-01-02T03:04:05Z","level":"INFO","msg":"started"}`,
		`{"level":"INFO","msg":"stream_reset","provider":"OpenAI","model":"m","reason":"a"}`,
		``,
		`  {"msg":"stream_reset","provider":"OpenAI","model":"m","reason":"b"}` + "\r",
		`panic: out of luck`,
		`{"msg":"stream_reset","reason":7}`,
		strings.Repeat("x", MaxLine+1),
		`{"msg":"stream_reset","reason":"` + strings.Repeat("y", MaxLine/2) + `"}`,
		`{"msg":"stream_reset","reason":"without a line break"}`,
	}, "\n")
	var reasons []string
	h := HandlerFunc(func(_ context.Context, e Event) {
		r, ok := e.(StreamReset)
		if !ok {
			t.Errorf("got %+v", e)
		}
		reasons = append(reasons, r.Reason[:1])
	})
	got, err := Replay(t.Context(), iotest.OneByteReader(strings.NewReader(log)), h)
	if err != nil || got.Events != 4 || got.Others != 1 || got.BadLines != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if strings.Join(reasons, "") != "abyw" {
		t.Errorf("events %q", reasons)
	}
	for i, want := range []struct {
		number int
		says   string
	}{{5, "not a JSON object"}, {6, "stream_reset: reason"}, {7, "longer than 1048576 bytes"}} {
		if b := got.Bad[i]; b.Number != want.number || !strings.Contains(b.Err.Error(), want.says) {
			t.Errorf("line %d: %v; want line %d: %s", b.Number, b.Err, want.number, want.says)
		}
	}
}

func TestReplayCountsAllBadLinesAndNamesSome(t *testing.T) {
	got, err := Replay(t.Context(), strings.NewReader(strings.Repeat("?\n", 5*MaxBadLines)), NewStats())
	if err != nil || got.BadLines != 5*MaxBadLines || len(got.Bad) != MaxBadLines {
		t.Errorf("%d bad lines, %d of them named, %v", got.BadLines, len(got.Bad), err)
	}
}

func TestReplayEndsWithItsReaderAndContext(t *testing.T) {
	line := `{"msg":"stream_reset"}` + "\n"
	broken := errors.New("disk on fire")
	r := iotest.TimeoutReader(strings.NewReader(line))
	if got, err := Replay(t.Context(), iotest.ErrReader(broken), NewStats()); !errors.Is(err, broken) || got.Events != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := Replay(t.Context(), r, NewStats()); !errors.Is(err, iotest.ErrTimeout) || got.Events != 1 {
		t.Errorf("%+v, %v: what came before the error counts", got, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	h := HandlerFunc(func(context.Context, Event) { cancel() })
	if got, err := Replay(ctx, strings.NewReader(line+line), h); !errors.Is(err, context.Canceled) || got.Events != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// random returns an event of any kind whose every field is made up.
func random(t *testing.T, r *rand.Rand) Event {
	t.Helper()
	all := everyEvent()
	v := reflect.New(reflect.TypeOf(all[r.IntN(len(all))].event)).Elem()
	words := []string{"", "OpenAI", "example-model", "truncated", "\xff half \xe2\x82", "<&>\u2028", strings.Repeat("é", 700)}
	for _, l := range leaves(v.Type()) {
		switch f := v.FieldByIndex(l.index); {
		case l.name == "Plan":
			f.SetInt(int64(r.IntN(6) - 1))
		case f.CanInt():
			f.SetInt(r.Int64() >> r.IntN(64) * int64(1-2*r.IntN(2)))
		case f.Kind() == reflect.String:
			f.SetString(words[r.IntN(len(words))] + strconv.Itoa(r.IntN(3)))
		case f.Kind() == reflect.Bool:
			f.SetBool(r.IntN(2) == 0)
		}
	}
	e, ok := reflect.TypeAssert[Event](v)
	if !ok {
		t.Fatal("a copy is no event")
	}

	return e
}

func TestStatsOfALogAreThoseOfItsEvents(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // made up, and the same each time
		var log bytes.Buffer
		handlers := []Handler{NewStats(), Slog(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))}
		n := r.IntN(300)
		for range n {
			e := random(t, r)
			for _, h := range handlers {
				h.Handle(t.Context(), e)
			}
		}
		replayed := NewStats()
		got, err := Replay(t.Context(), &log, replayed)
		if err != nil || got.Events != n || got.BadLines != 0 || got.Others != 0 {
			t.Fatalf("seed %d: %+v, %v; want %d events", seed, got, err, n)
		}
		if live, ok := handlers[0].(*Stats); !ok || !reflect.DeepEqual(replayed.Models(), live.Models()) {
			t.Fatalf("seed %d: from the log\n%+v\nfrom the events\n%+v", seed, replayed.Models(), live.Models())
		}
	}
}

func BenchmarkParseRecord(b *testing.B) {
	var log bytes.Buffer
	Slog(slog.New(slog.NewJSONHandler(&log, nil))).Handle(b.Context(), continuationEvents()[0].event)
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		if _, err := ParseRecord(log.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
