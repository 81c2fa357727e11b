package callbacks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/snapshot"
)

// logged returns the line that Slog writes for e as JSON, without its time.
func logged(t *testing.T, e Event) string {
	t.Helper()
	var b bytes.Buffer
	drop := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}

		return a
	}
	h := slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: drop})
	Slog(slog.New(h)).Handle(t.Context(), e)

	return b.String()
}

// keysOf returns the top-level keys of a JSON object in their order, repeated ones included.
func keysOf(t *testing.T, line string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	if _, err := d.Token(); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	var keys []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		keys = append(keys, fmt.Sprint(key))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		t.Fatalf("%q: %v", line, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("%q holds more than one record", line)
	}

	return keys
}

// valuesOf returns the top-level values of a JSON object.
func valuesOf(t *testing.T, line string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatalf("%q: %v", line, err)
	}

	return m
}

func TestRecordHasItsNameLevelAndFields(t *testing.T) {
	for _, w := range everyEvent() {
		t.Run(w.name, func(t *testing.T) {
			if got := w.event.Name(); got != w.name {
				t.Errorf("Name() = %q, want %q", got, w.name)
			}
			line := logged(t, w.event)
			want := slices.Concat([]string{"level", "msg"}, callFields(), w.fields)
			if got := keysOf(t, line); !slices.Equal(got, want) {
				t.Errorf("fields\n got %q\nwant %q", got, want)
			}
			m := valuesOf(t, line)
			if m["msg"] != w.name || m["level"] != w.level {
				t.Errorf("msg %v at level %v, want %s at %s", m["msg"], m["level"], w.name, w.level)
			}
		})
	}
}

// A zero event must not lose a field that is not optional: a query for it would miss the record.
func TestRecordOfZeroEventLacksOptionalFieldsOnly(t *testing.T) {
	for _, w := range everyEvent() {
		t.Run(w.name, func(t *testing.T) {
			zero, ok := reflect.TypeAssert[Event](reflect.Zero(reflect.TypeOf(w.event)))
			if !ok {
				t.Fatal("a zero value is no event")
			}
			want := slices.DeleteFunc(slices.Concat([]string{"level", "msg"}, callFields(), w.fields),
				func(f string) bool { return slices.Contains(optionalFields(w.name), f) })
			if got := keysOf(t, logged(t, zero)); !slices.Equal(got, want) {
				t.Errorf("fields\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestRecordKeepsEveryFieldOfTheEvent(t *testing.T) {
	for _, w := range everyEvent() {
		t.Run(w.name, func(t *testing.T) {
			before := logged(t, w.event)
			for _, path := range leaves(reflect.TypeOf(w.event)) {
				changed := reflect.New(reflect.TypeOf(w.event)).Elem()
				changed.Set(reflect.ValueOf(w.event))
				field := changed.FieldByIndex(path.index)
				if field.IsZero() {
					t.Errorf("%s is zero in the table, which hides it", path.name)
				}
				change(t, field)
				e, ok := reflect.TypeAssert[Event](changed)
				if !ok {
					t.Fatal("a copy is no event")
				}
				if logged(t, e) == before {
					t.Errorf("%s does not reach the record", path.name)
				}
			}
		})
	}
}

type leaf struct {
	name  string
	index []int
}

// leaves returns the fields of typ that are no structs, and those of its structs.
func leaves(typ reflect.Type) []leaf {
	var ls []leaf
	for _, f := range reflect.VisibleFields(typ) {
		switch {
		case f.Anonymous: // its fields are visible themselves
		case f.Type.Kind() == reflect.Struct:
			for _, sub := range leaves(f.Type) {
				ls = append(ls, leaf{f.Name + "." + sub.name, slices.Concat(f.Index, sub.index)})
			}
		default:
			ls = append(ls, leaf{f.Name, f.Index})
		}
	}

	return ls
}

// change gives v another value of its type.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch {
	case v.CanInt():
		v.SetInt(v.Int() - 1)
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "x")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		t.Fatalf("no way to change a %s: teach the test", v.Type())
	}
}

func TestRecordPrintsTheWordsOfTheVocabulary(t *testing.T) {
	m := valuesOf(t, logged(t, Interrupted{
		ErrorKind: KindIdleStall, Cause: CauseIdleStall, Plan: snapshot.SynthesizeToolUse,
	}))
	for key, want := range map[string]string{
		"error_kind": "idle_stall", "cause": "idle_stall", "plan": "SynthesizeToolUse",
	} {
		if m[key] != want {
			t.Errorf("%s = %v, want %s", key, m[key], want)
		}
	}
}

func TestRecordTellsUnknownUsageFromZero(t *testing.T) {
	for _, c := range []struct {
		name  string
		usage snapshot.Usage
		want  string
	}{
		{"unknown", snapshot.Usage{}, `"billed_usage":{"known":false}`},
		{"unknown, of two attempts", snapshot.Usage{Unreported: 2}, `"billed_usage":{"known":false,"unreported":2}`},
		{
			"the least that it was",
			snapshot.Usage{Known: true, Prompt: 10, Completion: 5, Total: 15, Unreported: 1},
			`"billed_usage":{"known":true,"prompt":10,"cached":0,"completion":5,"reasoning":0,"total":15,"unreported":1}`,
		},
		{
			"zero",
			snapshot.Usage{Known: true},
			`"billed_usage":{"known":true,"prompt":0,"cached":0,"completion":0,"reasoning":0,"total":0}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if line := logged(t, Exhausted{Billed: c.usage}); !strings.Contains(line, c.want) {
				t.Errorf("%s lacks %s", line, c.want)
			}
		})
	}
}

func TestRecordBoundsErrorMessages(t *testing.T) {
	long := strings.Repeat("~", 10*MaxErrorMessage)
	for _, e := range []Event{
		Interrupted{ErrorMessage: long},
		Failed{ErrorMessage: long},
		OpenRetried{ErrorMessage: long},
		CheckpointFailed{ErrorMessage: long},
		LateError{ErrorMessage: long},
		Notice{Message: long},
	} {
		if n := strings.Count(logged(t, e), "~"); n != MaxErrorMessage {
			t.Errorf("%s logs %d bytes of the message, want %d", e.Name(), n, MaxErrorMessage)
		}
	}
}
