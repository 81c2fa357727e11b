package callbacks

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// parsedBack returns what a log gives back of e.
func parsedBack(t *testing.T, e Event) Event {
	t.Helper()
	line := logged(t, e)
	got, err := ParseRecord([]byte(line))
	if err != nil {
		t.Fatalf("%v\n%s", err, line)
	}

	return got
}

func TestRecordGivesTheEventBack(t *testing.T) {
	for _, w := range everyEvent() {
		t.Run(w.name, func(t *testing.T) {
			if got := parsedBack(t, w.event); !reflect.DeepEqual(got, w.event) {
				t.Errorf("got\n%+v\nwant\n%+v", got, w.event)
			}
			zero := reflect.Zero(reflect.TypeOf(w.event)).Interface()
			if got := parsedBack(t, zero.(Event)); !reflect.DeepEqual(got, zero) { //nolint:errcheck // it panics
				t.Errorf("got\n%+v\nwant\n%+v", got, zero)
			}
			for _, n := range []int64{math.MinInt64, -1, 7, math.MaxInt64} {
				odd := set(t, w.event, n, "a \"quoted\"\n<word>\u2028")
				if got := parsedBack(t, odd); !reflect.DeepEqual(got, odd) {
					t.Errorf("got\n%+v\nwant\n%+v", got, odd)
				}
			}
		})
	}
}

func TestParseRecordPassesOver(t *testing.T) {
	for _, line := range []string{
		`{}`,
		`null`,
		`{"msg":"hello"}`,
		`{"msg":7}`,
		`{"time":"2030-01-02T03:04:05Z","level":"INFO","msg":"GET /","call_id":"c-1"}`,
	} {
		if e, err := ParseRecord([]byte(line)); !errors.Is(err, ErrNotARecord) || e != nil {
			t.Errorf("%s: %v, %v", line, e, err)
		}
	}
}

func TestParseRecordNamesWhatIsWrong(t *testing.T) {
	for line, want := range map[string]string{
		``:                                    "not a JSON object",
		`level=INFO msg=x`:                    "not a JSON object",
		`[]`:                                  "not a JSON object",
		`{"msg":"stream_reset"`:               "not a JSON object",
		`{"msg":"stream_reset"}{}`:            "not a JSON object",
		`{"msg":"stream_reset","reason":7}`:   "stream_reset: reason",
		`{"msg":"stream_reset","call_id":{}}`: "stream_reset: call_id",
		`{"msg":"llm_stream_joined","overlap":1.5}`:                                       "llm_stream_joined: overlap",
		`{"msg":"llm_stream_joined","overlap":9223372036854775808}`:                       "llm_stream_joined: overlap",
		`{"msg":"llm_stream_continuation_started","backoff":"1s"}`:                        "started: backoff",
		`{"msg":"llm_stream_continuation_started","plan":"GuessTheRest"}`:                 "started: plan",
		`{"msg":"llm_stream_continuation_started","plan":"Plan(7"}`:                       "started: plan",
		`{"msg":"llm_stream_interrupted","usage_flushed":"yes"}`:                          "interrupted: usage_flushed",
		`{"msg":"llm_stream_interrupted","usage":3}`:                                      "interrupted: usage",
		`{"msg":"llm_stream_interrupted","usage":{"known":true,"prompt":"many"}}`:         "interrupted: usage: prompt",
		`{"msg":"llm_stream_continuation_exhausted","attempts":true,"final_reason":null}`: "exhausted: attempts",
	} {
		if e, err := ParseRecord([]byte(line)); err == nil || !strings.Contains(err.Error(), want) || e != nil {
			t.Errorf("%s: %v, %v; want an error about %q", line, e, err, want)
		}
	}
}

// A field that somebody put before the handler's own, with With, does not stand for it.
func TestParseRecordTakesTheHandlersOwnField(t *testing.T) {
	e, err := ParseRecord([]byte(`{"provider":"mine","msg":"stream_reset","provider":"OpenAI","service":"chat"}`))
	if want := (StreamReset{Call: Call{Provider: "OpenAI"}}); err != nil || e != want {
		t.Errorf("%+v, %v", e, err)
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, w := range everyEvent() {
		f.Add([]byte(`{"msg":"` + w.name + `","plan":"Plan(9)","usage":{"known":true}}`))
	}
	f.Add([]byte(`{"msg":"notice","detail":"x"}`))
	s := NewStats()
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := ParseRecord(line)
		if (e == nil) == (err == nil) {
			t.Fatalf("%q: %v, %v", line, e, err)
		}
		if err != nil {
			return
		}
		s.Handle(t.Context(), e)
		// Error messages are cut in a record: the first one is what the second gives back.
		once := parsedBack(t, e)
		if again := parsedBack(t, once); !reflect.DeepEqual(once, again) {
			t.Fatalf("%+v became %+v", once, again)
		}
	})
}
