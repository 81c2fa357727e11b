package matrix

import (
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/eino-carryon/carryon/internal/interop/clients"
)

// grid prints what came out of the cells. It is filled by [TestMatrix] alone.
type grid struct {
	mu   sync.Mutex
	all  []cell
	bad  int
	from map[string]bool
}

func (g *grid) add(c cell, good bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, c)
	if !good {
		g.bad++
		g.from[c.name()] = true
	}
}

// print writes one row for each fault and place, one column for each client. A row's cells are the answers that have that
// place; where they do not agree, all that came out is named.
func (g *grid) print(w io.Writer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	outcomes := map[string]map[string]bool{}
	for _, c := range g.all {
		key := c.fault.name + "|" + c.place.name + "|" + c.client.String()
		if outcomes[key] == nil {
			outcomes[key] = map[string]bool{}
		}
		what := string(c.want())
		if g.from[c.name()] {
			what = "FAIL"
		}
		outcomes[key][what] = true
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	columns := []string{"fault", "place"}
	for _, c := range clients.All() {
		columns = append(columns, c.String())
	}
	rows := []string{strings.Join(columns, "\t")}
	for _, f := range faults() {
		for _, p := range places() {
			row, some := []string{f.name, p}, false
			for _, c := range clients.All() {
				what := slices.Sorted(maps.Keys(outcomes[f.name+"|"+p+"|"+c.String()]))
				some = some || len(what) > 0
				row = append(row, strings.Join(what, " "))
			}
			if some {
				rows = append(rows, strings.Join(row, "\t"))
			}
		}
	}
	if _, err := fmt.Fprintln(t, strings.Join(rows, "\n")); err != nil {
		return err
	}
	if err := t.Flush(); err != nil {
		return err
	}

	return g.sum(w)
}

// sum writes what the words mean, how many cells there are, and the exceptions.
func (g *grid) sum(w io.Writer) error {
	counts := map[remedy]int{}
	reasons := map[string]int{}
	for _, c := range g.all {
		counts[c.want()]++
		if e := c.exception(); e != nil {
			reasons[e.why]++
		}
	}
	lines := []string{
		"", "whole: nothing was lost · again: nothing had come, the request was made again (below: by net/http) · error: refused for good, and said so",
		"R1: text continued · R2: whole tool calls run, no request · R3: continued before the call · R4: started over",
		"partial: the continuation was refused for good: that error, with all that had come, which is never io.EOF", "",
	}
	for _, e := range exceptions() {
		if n := reasons[e.why]; n > 0 {
			lines = append(lines, fmt.Sprintf("%6d cells by exception: %s", n, e.why))
		}
	}
	for _, r := range []remedy{untouched, reopened, below, continued, toolUse, beforeTool, restarted, stopped, givenUp, refused} {
		lines = append(lines, fmt.Sprintf("%6d cells %s", counts[r], r))
	}
	lines = append(lines, fmt.Sprintf("%6d cells in all, %d clients, %d faults; not as the table says: %d",
		len(g.all), len(clients.All()), len(faults()), g.bad))
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))

	return err
}

// TestMain prints the grid where it is asked for, and fails the run if a goroutine outlives it.
func TestMain(m *testing.M) {
	show := flag.Bool("grid", false, "print the grid")
	flag.Parse()
	if *show {
		log.SetOutput(io.Discard) //nolint:forbidigo // a client logs every break there, between the rows
	}
	code := m.Run()
	if *show {
		if err := theGrid.print(os.Stdout); err != nil {
			code = 1
		}
	}
	if left := clients.Leftovers(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left after the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

var theGrid = &grid{from: map[string]bool{}} //nolint:gochecknoglobals // TestMain prints what the tests have found

// TestEveryExceptionNamesACell holds that each of them names a cell.
func TestEveryExceptionNamesACell(t *testing.T) {
	used := map[string]bool{}
	for _, c := range cells() {
		if e := c.exception(); e != nil {
			used[e.why] = true
		}
	}
	for _, e := range exceptions() {
		there := slices.ContainsFunc(clients.All(), func(c clients.Client) bool { return contains(e.vendors, c.Vendor) })
		if there && !used[e.why] {
			t.Errorf("no cell needs the exception %q", e.why)
		}
	}
}
