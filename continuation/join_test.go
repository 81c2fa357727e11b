package continuation

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// delivered is a prefix for a joiner.
func delivered(text string) *snapshot.Accumulator {
	a := &snapshot.Accumulator{}
	_ = a.Add(&schema.Message{Content: text})

	return a
}

// continueWith feeds a continuation in pieces and returns what the consumer would have got of it.
func continueWith(t *testing.T, prefix string, exact bool, pieces []string) (string, *joiner) {
	t.Helper()
	shown := strings.TrimRightFunc(prefix, unicode.IsSpace)
	j := newJoiner(delivered(prefix), prefix[len(shown):], exact)
	var out, held string
	for _, p := range pieces {
		holding := j.state == joinHolding
		cut := j.take(p)
		switch {
		case j.state == joinRejected:
			require.Empty(t, out, "something was delivered of a restart")

			return "", j
		case j.state == joinHolding:
			held += p
			require.Less(t, len(held), joinWindow+len(p), "held more than the window")
		case holding:
			held += p
			require.LessOrEqual(t, cut, len(held))
			out, held = out+held[cut:], ""
		default:
			require.LessOrEqual(t, cut, len(p))
			out += p[cut:]
		}
	}
	if j.state == joinHolding {
		cut := j.end()
		out += held[cut:]
	}

	return out, j
}

func split(s string, n int) []string {
	var pieces []string
	for len(s) > n {
		k := n
		for k < len(s) && !utf8.RuneStart(s[k]) {
			k++
		}
		pieces = append(pieces, s[:k])
		s = s[k:]
	}

	return append(pieces, s)
}

// corpus returns texts of many kinds; the second half repeats by design.
func corpus() []string {
	return []string{
		"The quick brown fox jumps over the lazy dog, then rests in the shade of the old oak until evening falls.",
		"First paragraph, with a few words.\n\nSecond paragraph:\n\n- one item\n- another item\n- the last item\n\nDone.\n",
		"func main() {\n\tfor i := 0; i < 10; i++ {\n\t\tif i%2 == 0 {\n\t\t\tfmt.Println(i)\n\t\t}\n\t}\n}\n",
		"| name | price |\n|------|-------|\n| tea  | 3     |\n| milk | 2     |\n| corn | 3     |\n",
		`{"items":[{"id":1,"name":"first"},{"id":2,"name":"second"}],"total":2}`,
		"流式推理在中途断开时，已经生成的文字会被放回历史，然后请求模型继续写完剩下的部分。",
		"Überraschend häufig bricht die Verbindung ab; die Antwort geht trotzdem weiter, Wort für Wort.",
		"Emoji 👩‍👩‍👧‍👦 and flags 🇩🇪🇯🇵 stay whole 🎉🎉 even in the middle of a sentence, don't they?",
		"Pi is 3.14159265358979, e is 2.71828182845904, and 1111 is only ones.",
		"ha ha ha ha ha ha ha ha ha ha ha ha ha ha",
		strings.Repeat("|a|b|\n", 12),
		strings.Repeat("All work and no play makes Jack a dull boy. ", 5),
		"})\n\t})\n\t})\n\t})\n})\n})\n",
		strings.Repeat("na ", 8) + "Batman!",
	}
}

// TestJoinOfAFaithfulContinuation: whatever the text and wherever it was cut, a model that goes on where the request stops
// is joined to the byte, in every dialect and however its text comes.
func TestJoinOfAFaithfulContinuation(t *testing.T) {
	for n, text := range corpus() {
		for at := 1; at < len(text); at++ {
			if !utf8.RuneStart(text[at]) || strings.TrimSpace(text[:at]) == "" {
				continue
			}
			shown := strings.TrimRightFunc(text[:at], unicode.IsSpace)
			for _, size := range []int{1, 3, 7, 1 << 20} {
				for _, exact := range []bool{false, true} {
					got, j := continueWith(t, text[:at], exact, split(text[len(shown):], size))
					if !assert.Equal(t, text[at:], got, "text %d cut at %d, pieces of %d, exact %v: %s", n, at, size, exact, j.kind) {
						return
					}
				}
			}
		}
	}
}

// TestJoinOfARepeatedTail: what a model repeats of the end is cut, if it is too much to be an accident.
func TestJoinOfARepeatedTail(t *testing.T) {
	text := corpus()[0]
	for at := 40; at < len(text)-1; at++ {
		shown := strings.TrimRightFunc(text[:at], unicode.IsSpace)
		for repeat := joinOverlap; repeat <= len(shown); repeat++ {
			from := len(shown) - repeat
			if from > 0 && text[from-1] != ' ' { // nobody repeats from the middle of a word on
				continue
			}
			for _, size := range []int{1, 5, 1 << 20} {
				got, j := continueWith(t, text[:at], false, split(text[from:], size))
				require.Equal(t, text[at:], got, "cut at %d, %d bytes repeated, pieces of %d: %s", at, repeat, size, j.kind)
				require.Contains(t, []callbacks.JoinKind{callbacks.JoinOverlap, callbacks.JoinRestart}, j.kind)
			}
		}
	}
}

// TestJoinOfARestart: the whole answer again is swallowed as far as it was delivered, however long that is.
func TestJoinOfARestart(t *testing.T) {
	long := ""
	for i := range 500 {
		long += fmt.Sprintf("Sentence number %d is here. ", i)
	}
	for _, text := range []string{corpus()[0], corpus()[1], corpus()[5], long} {
		for at := 20; at < len(text); at += 1 + len(text)/60 {
			if !utf8.RuneStart(text[at]) {
				continue
			}
			for _, size := range []int{1, 6, 1 << 20} {
				got, j := continueWith(t, text[:at], false, split(text, size))
				require.Equal(t, text[at:], got, "cut at %d, pieces of %d", at, size)
				require.Equal(t, callbacks.JoinRestart, j.kind)
			}
		}
	}
}

// TestJoinOfARestartInOtherWords: an answer that begins like the first one and then goes another way is no continuation.
func TestJoinOfARestartInOtherWords(t *testing.T) {
	prefix := "The quick brown fox jumps over the lazy dog, then rests"
	for at := joinRestart; at < len(prefix); at++ {
		_, j := continueWith(t, prefix, false, split(prefix[:at]+"# something else altogether", 4))
		require.Equal(t, joinRejected, j.state, "different from byte %d on", at)
	}
}

func TestJoinTable(t *testing.T) {
	for _, c := range []struct {
		name, prefix, continuation, want string
		kind                             callbacks.JoinKind
		confidence                       callbacks.Confidence
	}{
		{"boundary space of both sides", "foo ", " bar", "bar", callbacks.JoinSpace, callbacks.ConfidenceHigh},
		{"boundary space of the text only", "foo ", "bar", "bar", callbacks.JoinPlain, callbacks.ConfidenceHigh},
		{"boundary space of the continuation only", "foo", " bar", " bar", callbacks.JoinPlain, callbacks.ConfidenceHigh},
		{"only one of two line breaks is repeated", "foo\n\n", "\nbar", "bar", callbacks.JoinSpace, callbacks.ConfidenceHigh},
		{"a longer indent goes on", "foo\n", "\n\tbar", "\tbar", callbacks.JoinSpace, callbacks.ConfidenceHigh},
		{"part of a word", "the quick bro", "brown fox", "wn fox", callbacks.JoinOverlap, callbacks.ConfidenceMedium},
		{"part of a name", "it calls get_us", "get_user(id)", "er(id)", callbacks.JoinOverlap, callbacks.ConfidenceMedium},
		{"part of a name before its underscore", "it calls get", "get_user(id)", "_user(id)", callbacks.JoinOverlap, callbacks.ConfidenceMedium},
		{"part of a name with a number", "decoded as utf8", "utf8mb4 text", "mb4 text", callbacks.JoinOverlap, callbacks.ConfidenceMedium},
		{"part of a number", "it costs 120", "12000 in all", "12000 in all", callbacks.JoinPlain, callbacks.ConfidenceLow},
		{"a short word is no part", "ha ha ha", "ha ha", "ha ha", callbacks.JoinUndecided, callbacks.ConfidenceLow},
		{"a table again", "A\n|h|h|\n|11|22|", "|h|h|\n|11|22|\n|3|4|", "\n|3|4|", callbacks.JoinOverlap, callbacks.ConfidenceHigh},
		{"a table again, behind a line break", "A\n|h|h|\n|11|22|\n", "|h|h|\n|11|22|\n|3|4|", "|3|4|", callbacks.JoinOverlap, callbacks.ConfidenceHigh},
		{"a closing paragraph again", "Text. In summary X is good.", "In summary X is good. Done.", " Done.", callbacks.JoinOverlap, callbacks.ConfidenceHigh},
		{"a whole short answer again", "Hello", "Hello world", " world", callbacks.JoinRestart, callbacks.ConfidenceMedium},
		{"other words in mid word", "the quick bro", "Here is the answer", "Here is the answer", callbacks.JoinPlain, callbacks.ConfidenceLow},
		{"a preamble", "The list: abc,", "Sure, continuing: def", " def", callbacks.JoinPreamble, callbacks.ConfidenceMedium},
		{"one digit proves nothing", "1", "10 apples, and some more", "10 apples, and some more", callbacks.JoinPlain, callbacks.ConfidenceLow},
		{"nothing came", "The end.", "", "", callbacks.JoinEmpty, callbacks.ConfidenceHigh},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 4, 1 << 20} {
				got, j := continueWith(t, c.prefix, false, split(c.continuation, size))
				assert.Equal(t, c.want, got)
				assert.Equal(t, c.kind, j.kind)
				assert.Equal(t, c.confidence, j.confidence)
			}
		})
	}
}

// TestJoinRunsOut: when time runs out, what is held is joined as it came, and that is said.
func TestJoinRunsOut(t *testing.T) {
	j := newJoiner(delivered("over the lazy dog"), "", false)
	require.Zero(t, j.take("the la"))
	require.Equal(t, joinHolding, j.state)
	require.Zero(t, j.expire())
	assert.Equal(t, joinDone, j.state)
	assert.Equal(t, callbacks.JoinUndecided, j.kind)
	assert.Equal(t, callbacks.ConfidenceLow, j.confidence)
	assert.Zero(t, j.take("zy dog and more"), "it is decided once")
}

func FuzzJoin(f *testing.F) {
	for _, c := range joinCorpus() {
		f.Add(c.text[:len(c.text)/2], c.text[len(c.text)/3:], uint8(3), false)
	}
	for _, p := range joinPreambles() {
		f.Add("The harbour was quiet, and", p+" so was the town.", uint8(5), false)
		f.Add("The harbour was quiet, and", p+" so was the town.", uint8(5), true)
	}
	f.Add(joinTableText+"\n| co", joinTableText[9:60]+"\n| corn | 1 |", uint8(200), false)
	f.Add("A:\n```json\n{\"a\": 1,", "```json\n{\"a\": 1, \"b\": 2}\n```", uint8(200), false)
	f.Fuzz(func(t *testing.T, prefix, continuation string, size uint8, exact bool) {
		if strings.TrimSpace(prefix) == "" || !utf8.ValidString(prefix) {
			return
		}
		got, j := continueWith(t, prefix, exact, split(continuation, int(size)+1))
		if j.state == joinRejected || j.state == joinSwallowing {
			return
		}
		require.True(t, strings.HasSuffix(continuation, got), "%q is no end of %q", got, continuation)
		require.True(t, !utf8.ValidString(continuation) || utf8.ValidString(got), "cut inside a rune: %q of %q", got, continuation)
		// What is cut is a preamble, or stands in the text line by line, white space apart.
		cut := continuation[:len(continuation)-len(got)]
		if j.preamble.preamble > 0 && !exact {
			cut = cut[j.preamble.preamble:]
		}
		for line := range strings.Lines(cut) {
			require.Contains(t, squeezed(prefix), squeezed(line), "cut %q from %q behind %q", cut, continuation, prefix)
		}
		require.True(t, cut == "" || j.kind != callbacks.JoinPlain && j.kind != callbacks.JoinEmpty, "%q was cut in silence", cut)
	})
}

// squeezed returns s without its white space.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
