package continuation

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// Interruption is what a prompt can speak of. See [WithPrompt].
type Interruption struct {
	Plan         snapshot.Plan   // ContinueText or TruncateBeforeTool
	Cause        callbacks.Cause // of the latest interruption
	Err          error           // of the latest interruption; [ErrTruncated] for a clean end without a finish reason
	Continuation int             // counts from 1
	Text         string          // the answer so far; the request carries it without white space at its end
	DroppedCalls []string        // names of the tool calls that were cut off; a nameless one is empty
	Restarted    bool            // the last continuation began the answer anew, so that quoting its end may help
}

// quoteLength is how many bytes of the text the built-in prompt quotes after a continuation that began anew.
const quoteLength = 200

// builtinPrompt asks for the rest. It is an ordinary user message, never a standing instruction, and it allows tools.
func builtinPrompt(i Interruption) string {
	var b strings.Builder
	b.WriteString("The connection broke while you were writing your last message; it stands above as far as it arrived. " +
		"Go on from exactly where it stops, with the very next character. Do not repeat any of it, do not start over, " +
		"do not comment on the interruption. Call tools if you need them.")
	for _, name := range i.DroppedCalls {
		b.WriteString(" " + droppedCallNote(name))
	}
	if i.Restarted {
		b.WriteString(" What arrived ends with:\n\n" + runeTail(i.Text, quoteLength))
		if s := lastWords(i.Text); s != "" {
			b.WriteString("\n\nShould it go on with the words that it begins with, as a refrain does, say these words before " +
				"them, so that the place is known: " + s)
		}
	}

	return b.String()
}

// lastWords returns words at the end of text by which a continuation can show that it does not begin anew, although it begins
// with the same words. They stand in the text once. There are none inside a clause, where no refrain begins.
func lastWords(text string) string {
	trimmed := strings.TrimRightFunc(text, unicode.IsSpace)
	if trimmed == "" || isClause(trimmed) && !hasLineBreak(text[len(trimmed):]) {
		return ""
	}
	for at := len(trimmed); at > 0; {
		at = strings.LastIndexFunc(trimmed[:at], unicode.IsSpace)
		s := trimmed[at+1:]
		if hasLineBreak(s) || len(s) > quoteLength {
			return ""
		}
		if weight(s) < sentenceSure || strings.Count(trimmed, s) > 1 {
			continue
		}
		if round, _ := goesRoundWith(trimmed, s, s); round || goesRound(trimmed[:at+1], s) {
			return "" // it would not be cut
		}

		return s
	}

	return ""
}

// droppedCallNote tells the model that a call it began never ran.
func droppedCallNote(name string) string {
	if name == "" {
		name = "a tool"
	}

	return fmt.Sprintf("The call to %s was cut off by a transport error and has not run; issue it again if it is still needed.", name)
}

// runeTail returns at most n bytes from the end of s, beginning with a whole rune.
func runeTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for i := range s {
		if i > 0 || s[0] < 0x80 || s[0] >= 0xC0 {
			return s[i:]
		}
	}

	return s
}
