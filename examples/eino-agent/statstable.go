package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/callbacks"
)

// write writes the numbers as tables.
func (s logStats) write(out io.Writer, c palette) {
	if len(s.models) > 0 {
		for _, t := range []table{s.recoveryTable(), s.costTable(), s.wordTable()} {
			writeTable(out, t, c)
			fmt.Fprintln(out)
		}
	}
	fmt.Fprintf(out, "%s, %s, %s that cannot be read.\n",
		count(s.log.Events, "event"), count(s.log.Others, "other record"), count(s.log.BadLines, "line"))
	for _, b := range s.log.Bad {
		fmt.Fprintln(out, c.broken(fmt.Sprintf("  line %d: %s", b.Number, printable(b.Err.Error()))))
	}
	if more := s.log.BadLines - len(s.log.Bad); more > 0 {
		fmt.Fprintf(out, "  and %d more\n", more)
	}
}

func writeTable(out io.Writer, t table, c palette) {
	for i, line := range t.lines() {
		if i < 2 {
			line = c.faint(line)
		}
		if strings.TrimSpace(line) != "" {
			fmt.Fprintln(out, line)
		}
	}
}

// each adds a row of every model, and one of all if there are several.
func (s logStats) each(t *table, row func(callbacks.ModelStats) []string) {
	for _, m := range s.models {
		t.add(append([]string{printable(m.Provider + "/" + m.Model)}, row(m)...)...)
	}
	if len(s.models) > 1 {
		t.add(append([]string{"all"}, row(s.total)...)...)
	}
}

func (s logStats) recoveryTable() table {
	const calls, further = "calls", "continuations"
	t := table{columns: []column{
		{title: "model", left: true},
		{group: calls, title: "broke"},
		{group: calls, title: "recovered"},
		{group: calls, title: "rate"},
		{group: calls, title: "given up"},
		{group: calls, title: "cancelled"},
		{group: further, title: "started"},
		{group: further, title: "failed"},
		{title: "open retries"},
		{title: "waited"},
	}}
	s.each(&t, func(m callbacks.ModelStats) []string {
		rate, known := m.RecoveryRate()
		percent := "-"
		if known {
			percent = fmt.Sprintf("%.0f %%", 100*rate)
		}

		return []string{
			strconv.Itoa(m.Interrupted), strconv.Itoa(m.Recovered), percent, strconv.Itoa(m.Exhausted), strconv.Itoa(m.Cancelled),
			strconv.Itoa(m.Continuations), strconv.Itoa(m.FailedContinuations), strconv.Itoa(m.OpenRetries), seconds(m.Waited),
		}
	})

	return t
}

func (s logStats) costTable() table {
	const kept, lost, billed, usage = "kept", "tool calls lost", "tokens billed", "usage of broken attempts"
	t := table{columns: []column{
		{title: "model", left: true},
		{group: kept, title: "text bytes"},
		{group: kept, title: "tool calls"},
		{group: lost, title: "calls"},
		{group: lost, title: "bytes"},
		{group: billed, title: "output"},
		{group: billed, title: "input"},
		{group: usage, title: "known"},
		{group: usage, title: "unknown"},
	}}
	s.each(&t, func(m callbacks.ModelStats) []string {
		return []string{
			strconv.Itoa(m.KeptTextBytes), strconv.Itoa(m.KeptToolCalls),
			strconv.Itoa(m.DiscardedToolCalls), strconv.Itoa(m.DiscardedToolBytes),
			strconv.Itoa(m.Billed.Completion), strconv.Itoa(m.Billed.Prompt),
			strconv.Itoa(m.UsageKnown), strconv.Itoa(m.UsageUnknown),
		}
	})

	return t
}

// wordTable tells of all models together how often each word occurs.
func (s logStats) wordTable() table {
	t := table{columns: []column{{title: "what", left: true}, {title: "", left: true}, {title: "times"}}}
	words(&t, "cause of a break", s.total.Causes)
	words(&t, "cause of an open retry", s.total.OpenCauses)
	words(&t, "plan", s.total.Plans)
	words(&t, "join", s.total.Joins)
	words(&t, "confidence of a join", s.total.Confidences)
	words(&t, "given up because", s.total.FinalReasons)
	words(&t, "circuit breaker", s.total.BreakerChanges)
	words(&t, "notice", s.total.Notices)

	return t
}

// words adds a row of each word, the frequent ones first.
func words[W ~string](t *table, what string, times map[W]int) {
	order := slices.SortedFunc(maps.Keys(times), func(a, b W) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	for _, w := range order {
		t.add(what, printable(string(w)), strconv.Itoa(times[w]))
		what = ""
	}
}

// printable returns s without what a log could do to a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}

		return '\uFFFD'
	}, s)
}
