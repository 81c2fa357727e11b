package callbacks

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/snapshot"
)

func TestStatsBoundsModels(t *testing.T) {
	s := NewStats()
	for i := range 10 * MaxModels {
		for range 2 {
			s.Handle(t.Context(), StreamReset{Call: Call{Provider: "OpenAI", Model: strconv.Itoa(i)}})
		}
	}
	all := s.Models()
	if len(all) != MaxModels+1 {
		t.Errorf("%d models, want %d", len(all), MaxModels+1)
	}
	for _, m := range all {
		want := 2
		if m.Provider == Other && m.Model == Other {
			want = 2 * 9 * MaxModels
		}
		if m.Restarts != want {
			t.Errorf("%s/%s: %d, want %d", m.Provider, m.Model, m.Restarts, want)
		}
	}
	if got := s.Total().Restarts; got != 20*MaxModels {
		t.Errorf("%d in all, want %d", got, 20*MaxModels)
	}
}

func TestStatsBoundsWords(t *testing.T) {
	s := NewStats()
	for i := range 10 * MaxWords {
		s.Handle(t.Context(), OpenRetried{Cause: Cause(strconv.Itoa(i))})
	}
	for _, m := range []ModelStats{s.Models()[0], s.Total()} {
		if len(m.OpenCauses) != MaxWords || m.OpenCauses[Other] != 9*MaxWords+1 {
			t.Errorf("%d causes, %d of them as %q", len(m.OpenCauses), m.OpenCauses[Other], Other)
		}
	}
}

func TestStatsBoundsNames(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	s := counted(
		Exhausted{Call: Call{Provider: long, Model: "\xff" + long}, FinalReason: long},
		Exhausted{Call: Call{Provider: long + "x", Model: "\xff" + long}, FinalReason: long + "x"},
	)
	if n := len(s.Models()); n != 1 {
		t.Fatalf("%d models, want 1: they differ beyond the bound", n)
	}
	m := s.Models()[0]
	if len(m.Provider) != maxWord || len(m.Model) > maxWord || !utf8.ValidString(m.Model) || len(m.FinalReasons) != 1 {
		t.Errorf("names of %d and %d bytes, %d reasons", len(m.Provider), len(m.Model), len(m.FinalReasons))
	}
}

// set gives every number, word and flag of an event the same value of its kind.
func set(t *testing.T, e Event, n int64, word string) Event {
	t.Helper()
	v := reflect.New(reflect.TypeOf(e)).Elem()
	for _, l := range leaves(v.Type()) {
		switch f := v.FieldByIndex(l.index); {
		case f.CanInt():
			f.SetInt(n)
		case f.Kind() == reflect.String:
			f.SetString(word)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		}
	}
	odd, ok := reflect.TypeAssert[Event](v)
	if !ok {
		t.Fatal("a copy is no event")
	}

	return odd
}

func TestStatsOfOddEvents(t *testing.T) {
	s := NewStats()
	s.Handle(t.Context(), nil)
	s.Handle(t.Context(), Started{Call: testCall(), Backoff: -time.Hour, CommittedTextBytes: -1})
	for _, w := range everyEvent() {
		for _, n := range []int64{math.MinInt64, -1, 0, math.MaxInt64, math.MaxInt64} {
			for _, word := range []string{"", "unheard of", "\xff\x00"} {
				s.Handle(t.Context(), set(t, w.event, n, word))
			}
		}
	}
	for _, m := range append(s.Models(), s.Total()) {
		for _, l := range leaves(reflect.TypeOf(m)) {
			v := reflect.ValueOf(m).FieldByIndex(l.index)
			if v.CanInt() && v.Int() < 0 {
				t.Errorf("%q: %s = %d", m.Provider, l.name, v.Int())
			}
		}
	}
	if got := s.Total().KeptTextBytes; got != math.MaxInt {
		t.Errorf("%d bytes kept: the sum is not held at its largest", got)
	}
	if got := counted(Interrupted{Usage: snapshot.Usage{Known: true, Completion: 1, Reasoning: 5}}).Total().KeptTokens; got != 0 {
		t.Errorf("%d tokens kept of a thought", got)
	}
}
