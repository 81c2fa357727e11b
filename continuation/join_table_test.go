package continuation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/eino-carryon/carryon/callbacks"
)

// joinTable returns a table of the given number of rows.
func joinTable(head string, rows int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range rows {
		fmt.Fprintf(&b, "| item %d | %d |\n", i, i*3)
	}

	return b.String()
}

// TestJoinOfATable: the head of the table that the text stops in, said again, is no restart, also where the answer begins
// with it: it is cut however long the head and the table are. All of the table again is swallowed.
func TestJoinOfATable(t *testing.T) {
	for _, intro := range []string{"", "Prices:\n\n", "| an | older |\n|----|-------|\n| table | 1 |\n\n"} {
		for _, rows := range []int{1, 3, 8, 20, 60, 400} {
			for _, wide := range []int{1, 200} {
				head := "| name " + strings.Repeat("x", wide) + " | price |\n|------|-------|\n"
				text := intro + joinTable(head, rows)
				last := text[strings.LastIndex(text, "| item"):]
				for name, c := range map[string]struct{ prefix, continuation, want string }{
					"the head":                      {text, head + "| corn | 1 |\n", "| corn | 1 |\n"},
					"the head, in a row":            {text + "| co", head + "| corn | 1 |\n", "rn | 1 |\n"},
					"the head, behind a row":        {strings.TrimSpace(text), head + "| corn | 1 |\n", "\n| corn | 1 |\n"},
					"the head and the last row":     {text, head + last + "| corn | 1 |\n", "| corn | 1 |\n"},
					"the head and a row like it":    {text, head + last[:6] + "s | 1 |\n", last[:6] + "s | 1 |\n"},
					"the head and half of the rows": {text, head + joinTable("", (rows+1)/2-1) + last + "| corn | 1 |\n", "| corn | 1 |\n"},
					"the table":                     {text, text[len(intro):] + "| corn | 1 |\n", "| corn | 1 |\n"},
					"the answer":                    {text, text + "| corn | 1 |\n", "| corn | 1 |\n"},
				} {
					for _, size := range []int{1, 16, 1 << 20} {
						got, j := continueWith(t, c.prefix, false, split(c.continuation, size))
						if got == "" && name == "the head and half of the rows" && j.state == joinRejected {
							continue // the answer begun anew, and then in other words
						}
						assert.Equal(t, c.want, got, "%s, %d rows behind %q, head of %d, pieces of %d: %s", name, rows, intro, wide, size, j.kind)
						assert.NotEqual(t, callbacks.ConfidenceLow, j.confidence, "%s, %d rows behind %q, head of %d", name, rows, intro, wide)
					}
				}
			}
		}
	}
}

// TestJoinOfATableInOtherRows: a table that begins anew with the rows of the first one, and goes on with others, is a
// restart in other words.
func TestJoinOfATableInOtherRows(t *testing.T) {
	text := joinTable("| name | price |\n|------|-------|\n", 30)
	again := joinTable("| name | price |\n|------|-------|\n", 5) + "| none | of these |\n"
	for _, size := range []int{1, 16, 1 << 20} {
		_, j := continueWith(t, text, false, split(again, size))
		assert.Equal(t, joinRejected, j.state, "pieces of %d", size)
	}
}
