package snapshot

import "strings"

// growing is a text that comes in pieces. What view returns shares its memory and never changes: a piece is written
// behind it, or all into new memory. It must not be copied once something was added.
type growing struct{ b strings.Builder }

func (g *growing) add(s string) { g.b.WriteString(s) }

func (g *growing) view() string { return g.b.String() }

func (g *growing) len() int { return g.b.Len() }

// cut keeps the first n bytes.
func (g *growing) cut(n int) {
	if n == g.len() {
		return
	}
	kept := g.view()[:n]
	g.b.Reset()
	g.b.WriteString(kept)
}
