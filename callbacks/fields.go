package callbacks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/eino-carryon/carryon/snapshot"
)

// fields are those of a record. The first one that cannot be read is kept as err.
type fields struct {
	values map[string]json.RawMessage
	err    error
}

// read decodes a field into v, which stays as it is if there is none.
func (f *fields) read(key string, v any) {
	raw, ok := f.values[key]
	if !ok {
		return
	}
	if err := json.Unmarshal(raw, v); err != nil {
		f.fail(key, err)
	}
}

func (f *fields) fail(key string, err error) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: %w", key, err)
	}
}

func (f *fields) string(key string) (s string) {
	f.read(key, &s)

	return s
}

func (f *fields) int(key string) (n int) {
	f.read(key, &n)

	return n
}

func (f *fields) bool(key string) (b bool) {
	f.read(key, &b)

	return b
}

// duration reads nanoseconds.
func (f *fields) duration(key string) (d time.Duration) {
	f.read(key, &d)

	return d
}

func (f *fields) call() Call {
	return Call{
		CallID:   f.string("call_id"),
		Provider: f.string("provider"),
		Model:    f.string("model"),
		RunID:    f.string("run_id"),
		TurnID:   f.string("turn_id"),
	}
}

// usage reads a group. One that is not known has no numbers.
func (f *fields) usage(key string) snapshot.Usage {
	group := fields{}
	f.read(key, &group.values)
	u := snapshot.Usage{Known: group.bool("known"), Unreported: group.int("unreported")}
	if u.Known {
		u.Prompt = group.int("prompt")
		u.Cached = group.int("cached")
		u.Completion = group.int("completion")
		u.Reasoning = group.int("reasoning")
		u.Total = group.int("total")
	}
	if group.err != nil {
		f.fail(key, group.err)
	}

	return u
}

// plan reads the name of a plan.
func (f *fields) plan(key string) snapshot.Plan {
	name := f.string(key)
	if name == "" {
		return 0
	}
	for p := snapshot.ContinueText; p <= snapshot.WholeRestart; p++ {
		if p.String() == name {
			return p
		}
	}
	n := 0
	if _, err := fmt.Sscanf(name, "Plan(%d)", &n); err != nil || snapshot.Plan(n).String() != name {
		f.fail(key, errors.New("no plan has this name"))
	}

	return snapshot.Plan(n)
}
