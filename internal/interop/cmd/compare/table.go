package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// columns are the heads of the table.
func columns() []string {
	return []string{
		"", "answers completed", "tokens written per token needed", "tokens billed per token needed",
		"text shown per text answered", "requests", "time",
	}
}

// table writes the rows in Markdown.
func table(w io.Writer, rows []row) error {
	lines := []string{line(columns()...), "|---|--:|--:|--:|--:|--:|--:|"}
	for _, r := range rows {
		lines = append(lines, line(
			r.name, fmt.Sprintf("%d of %d", r.whole, r.asked), ratio(r.written, r.neededOutput), ratio(r.billed, r.needed),
			ratio(r.shown, r.answered), fmt.Sprint(r.requests), fmt.Sprintf("%.1f s", r.took.Round(100*time.Millisecond).Seconds()),
		))
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))

	return err
}

func line(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

func ratio(a, b int) string { return fmt.Sprintf("%.2f", float64(a)/float64(max(b, 1))) }
