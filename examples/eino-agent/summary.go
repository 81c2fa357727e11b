package main

import (
	"fmt"
	"strings"
)

// opening says what is about to be seen.
func opening(set settings, c palette) string {
	switch {
	case set.provider == providerOpenAI && set.fault != faultAll:
		return c.faint("A real endpoint breaks when it pleases: --fault is ignored.")
	case set.provider == providerOpenAI:
		return c.faint("A real endpoint: nothing is broken on purpose.")
	case set.plain:
		return c.faint("An Eino agent without carryon. Faults: " + set.fault + ".")
	default:
		return c.faint("An Eino agent, its model wrapped by carryon. Faults: " + set.fault + ".")
	}
}

// summary says in words what the table shows.
func (r report) summary() []string {
	switch {
	case r.unbroken == nil:
		return nil
	case r.plain:
		return r.plainSummary()
	default:
		return r.recoveredSummary()
	}
}

func (r report) plainSummary() []string {
	silent := 0
	for i, t := range r.turns {
		if t.err == nil && !r.isWhole(i) {
			silent++
		}
	}
	whole := fmt.Sprintf("%d of %d answers arrived whole.", r.whole(), len(r.turns))
	if r.whole() == len(r.turns) {
		return []string{r.palette.good("✓ " + whole)}
	}
	lines := []string{r.palette.broken("✗ " + whole)}
	if silent > 0 {
		lines = append(lines, fmt.Sprintf("  %s cut off without an error: a program takes it for the whole one.",
			verb(silent, "was", "were")))
	}

	return lines
}

func (r report) recoveredSummary() []string {
	breaks := 0
	var causes []string
	seen := make(map[string]bool)
	for _, t := range r.turns {
		breaks += t.counts.breaks
		for _, c := range t.counts.causes {
			if !seen[string(c)] {
				seen[string(c)] = true
				causes = append(causes, string(c))
			}
		}
	}
	mark := r.palette.good
	sign := "✓"
	if r.whole() < len(r.turns) {
		mark, sign = r.palette.broken, "✗"
	}
	lines := []string{mark(fmt.Sprintf("%s %s, and %d of %d answers are byte for byte what they are without a break.",
		sign, count(breaks, "break"), r.whole(), len(r.turns)))}
	if breaks == 0 {
		return lines
	}
	k := r.total()

	return append(lines,
		"  Causes: "+strings.Join(causes, ", ")+".",
		"  Billed is what the provider counted. Needed is the same conversation without a break, and restart",
		"  the same breaks when each answer is asked for from its start again, until it comes whole.",
		fmt.Sprintf("  Written beyond need: %s here, %d with restarts. Input is not saved: a continuation sends",
			count(k.billed.out-k.needed.out, "token"), k.restart.out-k.needed.out),
		"  back what stands of the answer. The longer the answers, the more it pays.")
}

func verb(n int, one, many string) string {
	if n == 1 {
		return "One answer " + one
	}

	return fmt.Sprintf("%d answers %s", n, many)
}
