package continuation

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/eino-carryon/carryon/callbacks"
)

// unfaithful is a way in which a model goes on that is not the rest of the text. It returns what comes, or "" if there is no
// such thing at this place. Shown is what the request has of the text.
type unfaithful struct {
	name    string
	atLeast int // of a hundred continuations, so many are joined to the byte or left
	say     func(text, shown string) string
}

func joinUnfaithful() []unfaithful {
	rest := func(text, shown string) string { return text[len(shown):] }
	ways := []unfaithful{
		{"the rest", 100, func(text, shown string) string { return rest(text, shown) }},
		{"the rest without its space", 75, func(text, shown string) string {
			return strings.TrimLeftFunc(rest(text, shown), unicode.IsSpace)
		}},
		{"the rest with a space too many", 0, func(text, shown string) string {
			if !startsWithSpace(rest(text, shown) + "x") {
				return ""
			}

			return " " + rest(text, shown)
		}},
		{"all of it", 95, func(text, _ string) string { return text }},
		{"all of it, behind a line break", 65, func(text, _ string) string { return "\n\n" + text }},
		{"another answer", 0, func(text, _ string) string { return otherWords(text, 0) }},
	}
	for _, k := range []int{4, 8, 12, 15, 16, 20, 40} {
		ways = append(ways, unfaithful{fmt.Sprintf("other words behind %d bytes", k), map[bool]int{true: 75}[k >= 40], func(text, _ string) string { return otherWords(text, k) }})
	}
	for _, k := range []int{1, 2, 3, 5, 8, 11, 12, 16, 25, 50, 90} {
		ways = append(ways, unfaithful{fmt.Sprintf("the last %d bytes again", k), map[bool]int{true: 50}[k >= 16], func(text, shown string) string {
			if len(shown) <= k || !utf8.RuneStart(text[len(shown)-k]) {
				return ""
			}

			return text[len(shown)-k:]
		}}, unfaithful{fmt.Sprintf("the last words again, %d bytes", k), map[bool]int{true: 85}[k >= 16], func(text, shown string) string {
			at := len(shown) - k
			for at > 0 && (startsWithSpace(text[at:]) || !startsWithSpace(text[at-1:])) {
				at--
			}
			if at <= 0 {
				return ""
			}

			return text[at:]
		}})
	}

	return ways
}

// otherWords returns an answer that begins with the first n bytes of text and goes on in other words.
func otherWords(text string, n int) string {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	if n >= len(text) {
		return ""
	}

	return text[:n] + "Xylophones play a tune that nobody has written down so far."
}

// untold is of how many in a hundred continuations of a text that repeats by design the join is wrong and cannot know it.
func (w unfaithful) untold() int {
	switch {
	case w.name == "other words behind 4 bytes":
		return 10 // a letter and a comma
	case strings.Contains(w.name, "space"), strings.Contains(w.name, "line break"):
		return 2
	default:
		return 0
	}
}

// untoldToTheByte is that of a provider that continues to the byte: it is believed, but where a word, or a few bytes of
// the answer's beginning, cannot be told from the rest of a word.
func (w unfaithful) untoldToTheByte() int {
	switch w.name {
	case "other words behind 4 bytes", "other words behind 8 bytes", "other words behind 12 bytes", "the rest without its space":
		return 20
	default:
		return 0
	}
}

// joinOutcomes counts what became of continuations.
type joinOutcomes struct{ all, exact, rejected, low, medium, sure int }

// TestJoinIsNeverWrongAndSure cuts every text at every place and lets a model go on there in ways that are not the rest of
// the text: the join is byte-exact, or it says that it is not sure, or it leaves the attempt. Of texts that repeat by
// design, some joins cannot be told.
func TestJoinIsNeverWrongAndSure(t *testing.T) {
	for _, w := range joinUnfaithful() {
		t.Run(w.name, func(t *testing.T) {
			told, repeating, exact := joinOutcomes{}, joinOutcomes{}, joinOutcomes{}
			for _, text := range append(joinProse(), joinStructured()...) {
				told.cutEverywhere(t, w, text, false)
				exact.cutEverywhere(t, w, text, true)
			}
			for _, text := range joinRepeating() {
				repeating.cutEverywhere(t, w, text, false)
			}
			t.Logf("told apart %+v, repeating %+v, to the byte %+v", told, repeating, exact)
			assert.Zero(t, told.sure)
			assert.LessOrEqual(t, 100*exact.sure, w.untoldToTheByte()*exact.all)
			assert.LessOrEqual(t, 100*repeating.sure, w.untold()*repeating.all)
			assert.Greater(t, told.all, 200)
			if w.atLeast > 0 {
				assert.GreaterOrEqual(t, 100*(told.exact+told.rejected), w.atLeast*told.all)
			}
		})
	}
}

func (o *joinOutcomes) cutEverywhere(t *testing.T, w unfaithful, text joinText, exact bool) {
	t.Helper()
	joinCuts(text.text, func(at int, shown string) bool {
		x := w.say(text.text, shown)
		if x == "" {
			return true
		}
		got, j := continueWith(t, text.text[:at], exact, split(x, 1+at%9))
		want := text.text[at:]
		restart := j.kind == callbacks.JoinRestart && strings.HasSuffix(x, got) && strings.Contains(x, shown)
		space := strings.Contains(text.name, "JSON") && squeezed(got) == squeezed(want) // it makes no difference there
		o.all++
		switch {
		case j.state == joinRejected || j.state == joinSwallowing:
			o.rejected++
		case got == want || restart || space:
			o.exact++
		case j.confidence == callbacks.ConfidenceLow:
			o.low++
		case j.confidence == callbacks.ConfidenceMedium:
			o.medium++
		default:
			if o.sure++; o.sure < 3 {
				t.Logf("%s: %q and %q became %q: %s", text.name, text.text[:at], x, got, j.kind)
			}
		}

		return true
	})
}
