package continuation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
)

// joinPreambles returns what models say before they go on, in many languages.
func joinPreambles() []string {
	return []string{
		"Sure, continuing:", "Sure! Here is the rest:", "Continuing from where I left off:", "Sure, here's the rest of the text:",
		"Sorry for the interruption. Continuing:", "Let me continue from where I left off.", "OK, I'll continue.", "Certainly! Continuing...",
		"Picking up where we left off…", "Klar, hier geht es weiter:", "Natürlich! Hier ist der Rest:", "Bien sûr, voici la suite :",
		"Je reprends là où je m'étais arrêté :", "Claro, continúo:", "Claro, aquí está el resto:", "Continuando de onde parei:",
		"Certo, ecco il resto:", "Natuurlijk, hier is de rest:", "Конечно, продолжаю:", "Продолжаю с того места, где остановился:",
		"好的，继续：", "从上次中断的地方继续：", "はい、続きです：", "네, 이어서 계속하겠습니다:", "بالتأكيد، إليك البقية:", "ज़रूर, आगे जारी है:",
	}
}

// TestJoinCutsAPreamble: wherever a clause breaks, words that only speak of going on are cut, and the text is whole to the
// byte.
func TestJoinCutsAPreamble(t *testing.T) {
	const text = "The harbour was quiet that evening, when two boats came in late and nobody asked where they had been all day."
	for _, preamble := range joinPreambles() {
		t.Run(preamble, func(t *testing.T) {
			joinCuts(text, func(at int, shown string) bool {
				if last := preamble[len(preamble)-1]; last == '.' && !startsWithSpace(text[len(shown):]) {
					return true // then it is not the end of a sentence
				}
				for _, size := range []int{1, 7, 1 << 20} {
					got, j := continueWith(t, text[:at], false, split(preamble+text[len(shown):], size))
					require.Equal(t, text[at:], got, "cut behind %q, pieces of %d", shown, size)
					require.Equal(t, callbacks.JoinPreamble, j.kind)
					got, _ = continueWith(t, text[:at], false, split(preamble+"\n\n"+text[at:], size))
					require.Equal(t, text[at:], got, "cut behind %q, pieces of %d, with line breaks", shown, size)
				}

				return true
			})
		})
	}
}

// TestJoinKeepsWordsThatOnlySoundLikeAPreamble: what the answer itself may say is not cut.
func TestJoinKeepsWordsThatOnlySoundLikeAPreamble(t *testing.T) {
	for _, c := range []struct{ prefix, continuation string }{
		{"I have shown the first part. ", "Here is the rest: three boxes."},
		{"One part is done.\n\n", "Continuing:\n\nthe second part."},
		{"He asked whether I would stay. ", "Of course, I'll continue: as long as you like."},
		{"他问我能不能讲下去。", "当然，继续：从前有一座山。"},
		{"Alice: ", "Sure, here is the rest: three boxes."},
		{"“", "Sure, continuing:” she said."},
		{"We are sure, and ", "continuing: it is late."},
		{"It goes on and on. ", "Continuing from where I left off would be wrong."},
		{"It goes on and on, ", "Sure, continuing is easy."},
		{"It goes on and on. ", "Sure, that is right: continuing."},
		{"It goes on and on, ", "I'll continue the list below."},
		{"好，", "以下是剩余部分：三个箱子。"},
		{"It goes on", " Sure, continuing: no."},
	} {
		for _, size := range []int{1, 6, 1 << 20} {
			got, j := continueWith(t, c.prefix, false, split(c.continuation, size))
			assert.Equal(t, c.continuation, got, "behind %q, pieces of %d", c.prefix, size)
			assert.NotEqual(t, callbacks.JoinPreamble, j.kind)
		}
	}
}

// TestJoinPreambleCanBeKept: the filter is an option, and a dialect that goes on to the byte needs none.
func TestJoinPreambleCanBeKept(t *testing.T) {
	const x = "Sure, continuing: the rest"
	j := newJoiner(delivered("It goes on and on, "), " ", false)
	j.keepPreamble = true
	assert.Zero(t, j.take(x))
	assert.Equal(t, callbacks.JoinPlain, j.kind)
	assert.Equal(t, callbacks.ConfidenceLow, j.confidence, "it is told")
	got, _ := continueWith(t, "It goes on and on, ", true, []string{x})
	assert.Equal(t, x, got)
}

// TestJoinBehindAPreamble: what follows a preamble is joined as if that were not there.
func TestJoinBehindAPreamble(t *testing.T) {
	const text = "The harbour was quiet that evening, when two boats came"
	overlap, restart, low := callbacks.JoinOverlap, callbacks.JoinRestart, callbacks.ConfidenceLow
	runJoinCases(t, []joinCase{
		{"a repetition", text, "Sure, continuing:\n\nwhen two boats came in late.", " in late.", overlap, callbacks.ConfidenceMedium},
		{"a restart", text, "Sure, here is the full answer:\n\n" + text + " in late.", " in late.", restart, callbacks.ConfidenceMedium},
		{"a code block", "Code:\n\n```go\nx := 1 +", "Sure, continuing:\n\n```go\n 2\n```\n", " 2\n```\n", callbacks.JoinPreamble, callbacks.ConfidenceMedium},
		{"nothing", text, "Sure, continuing:", "", callbacks.JoinPreamble, callbacks.ConfidenceMedium},
		{"a sentence where one may speak of the rest", "That was part one. ", "Here is the rest: two.", "Here is the rest: two.", callbacks.JoinPlain, low},
		{"JSON", `{"a": 1, `, "Here is the rest of the JSON:\n\n\"b\": 2}", `"b": 2}`, callbacks.JoinPreamble, callbacks.ConfidenceMedium},
		{"an indent", "def f():\n    x = 1\n", "Sure, continuing:\n\n    return 1\n", "    return 1\n", callbacks.JoinPreamble, callbacks.ConfidenceMedium},
		{"going on behind a sentence", "It is done. ", "Picking up where we left off: then it rained.", "then it rained.", callbacks.JoinPreamble, callbacks.ConfidenceMedium},
		{"a paragraph behind a sentence", "It is done.", "Sure, continuing:\n\nThen it rained.", "\n\nThen it rained.", callbacks.JoinPreamble, callbacks.ConfidenceMedium},
	})
	_, j := continueWith(t, text, false, split("Sure, here is the full answer: "+text[:30]+"# other words", 3))
	assert.Equal(t, joinRejected, j.state)
}
