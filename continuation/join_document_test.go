package continuation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// joinDocuments returns JSON values.
func joinDocuments() []string {
	return []string{
		joinStructured()[6].text, joinStructured()[7].text, joinStructured()[8].text, joinStructured()[9].text,
		`{"a":1}`, `{"name":"Ada","note":"said \"hi\\\" é \u00e9\n","n":-0.5e+10,"t":true,"f":false,"z":null,"e":{},"l":[]}`,
		"[\n  {\"id\": 1},\n  {\"id\": 2}\n]\n",
	}
}

// decided feeds a continuation until its join is decided, and returns what of the bytes read so far is delivered.
func decided(prefix string, pieces []string) (string, *joiner) {
	shown := strings.TrimRight(prefix, " \n")
	j := newJoiner(delivered(prefix), prefix[len(shown):], false)
	held := ""
	for _, p := range pieces {
		held += p
		if cut := j.take(p); j.state != joinHolding {
			return held[min(cut, len(held)):], j
		}
	}

	return held[j.end():], j
}

// TestJoinKeepsJSONValid: wherever the model begins again, what is joined is still the beginning of a JSON value; or the
// join says that it is not sure, or the attempt is left.
func TestJoinKeepsJSONValid(t *testing.T) {
	for _, text := range joinDocuments() {
		joinCuts(text, func(at int, shown string) bool {
			for from := range len(shown) {
				for _, size := range []int{1 + 4*(from%3), 1 << 20} {
					got, j := decided(text[:at], split(text[from:], size))
					if j.state == joinRejected || j.confidence == callbacks.ConfidenceLow {
						continue
					}
					s := &snapshot.JSONScanner{}
					s.Write(text[:at] + got)
					if !assert.NotEqual(t, snapshot.JSONBroken, s.State(), "behind %s came %s: %s, %s", text[:at], text[from:], j.kind, j.confidence) {
						return false
					}
				}
			}

			return true
		})
	}
}

// TestJoinOfADocumentAgain: the whole document again is never delivered twice by a join that is sure.
func TestJoinOfADocumentAgain(t *testing.T) {
	for _, text := range joinDocuments() {
		joinCuts(text, func(at int, _ string) bool {
			got, j := continueWith(t, text[:at], false, split(text, 5))

			return got == text[at:] || j.confidence == callbacks.ConfidenceLow || !strings.Contains(text[:at], ":") ||
				assert.Equal(t, text[at:], got, "behind %s came the whole: %s, %s", text[:at], j.kind, j.confidence)
		})
	}
}

// TestJoinOfJSON: what opens the document anew is a restart; what repeats a part of it is cut if the value needs that.
func TestJoinOfJSON(t *testing.T) {
	plain, overlap, restart := callbacks.JoinPlain, callbacks.JoinOverlap, callbacks.JoinRestart
	low, medium, high := callbacks.ConfidenceLow, callbacks.ConfidenceMedium, callbacks.ConfidenceHigh
	runJoinCases(t, []joinCase{
		{"the document again, where a value may stand", `{"a":`, `{"a":1}`, `1}`, restart, low},
		{"the document again, where none may stand", `{"a":1,"b":"x`, `{"a":1,"b":"xyz"}`, `yz"}`, restart, high},
		{"a key again", `{"a":1,"name`, `"name":2}`, `":2}`, overlap, medium},
		{"a short key again", `{"a":1,"na`, `"na":2}`, `":2}`, overlap, medium},
		{"a colon again", `{"a": 1, "name":`, `"name": 2}`, ` 2}`, overlap, medium},
		{"an object of the list again", `[{"id":1},{"id":2,"v":"twelve"},`, `{"id":2,"v":"twelve"},{"id":3}]`, `{"id":3}]`, overlap, medium},
		{"an equal value beside", `{"l":["the very same",`, `"the very same","b"]}`, `"the very same","b"]}`, plain, low},
		{"text in a string again", `{"t":"the quick brown fox`, `the quick brown fox jumps"}`, ` jumps"}`, overlap, high},
		{"an object inside", `{"list":[{"id":1},`, `{"id":2},{"id":3}]}`, `{"id":2},{"id":3}]}`, plain, high},
		{"the same type inside", `{"type":"node","value":1,"children":[`, `{"type":"node","value":2}]}`, `{"type":"node","value":2}]}`, plain, high},
		{"prose in a document", `{"a":1,`, `The rest is "b".`, `The rest is "b".`, callbacks.JoinUndecided, low},
		{"a fence behind a document that is open", "```json\n{\"a\":1,", "\n```\n", "\n```\n", callbacks.JoinUndecided, low},
		{"a document that ends", "```json\n{\"a\":1", "}\n```\nDone.", "}\n```\nDone.", plain, high},
		{"an array that begins a prose text", "[1", "] says so.", "] says so.", plain, high},
		{"a fence in a string", `{"text":"`, "```json\\n{}\\n```\"}", "```json\\n{}\\n```\"}", plain, callbacks.ConfidenceMedium},
		{"the document again, in its first key", `{"größe`, `{"größe": 1}`, `": 1}`, restart, medium},
		{"the document again, behind its first key", `{"größe"`, `{"größe": 1}`, `: 1}`, restart, medium},
		{"the document again, behind a key of one letter", `{"a"`, `{"a":1}`, `:1}`, restart, medium},
		{"the document again, behind its brace", "{", `{"größe": 1}`, `"größe": 1}`, restart, medium},
		{"the document again, behind its brace and a line break", "{\n", "{\n  \"a\": 1}", `  "a": 1}`, restart, medium},
		{"a template", "{", "{name}} said", "{name}} said", callbacks.JoinUndecided, low},
	})
}

// TestJoinOfJSONInOtherWords: a document that begins anew with something else is no continuation.
func TestJoinOfJSONInOtherWords(t *testing.T) {
	for _, c := range []struct{ prefix, continuation string }{
		{`{"a":1,"b":"x`, `{"result":{"a":1,"b":"xyz"}}`},
		{`{"a":1,`, `{"a":2,"b":3}`},
		{`["a","b`, `["c","b"]`},
		{`{"a":1,`, "```json\n{\"a\":1,\"b\":2}\n```"},
		{`{"a":"x`, "```\n{\"a\":\"xy\"}\n```"},
		{`["a",`, "~~~json\n\n[\"a\",\"b\"]\n~~~"},
		{"Config:\n\n```json\n{\"port\": 80,", "```json\n{\"host\": \"x\", \"port\": 80}\n```"},
		{"Config:\n\n```json\n{\"port\": 80,", "{\"host\": \"x\", \"port\": 80}\n```"},
	} {
		for _, size := range []int{1, 6, 1 << 20} {
			_, j := continueWith(t, c.prefix, false, split(c.continuation, size))
			assert.Equal(t, joinRejected, j.state, "%s behind %s, pieces of %d", c.continuation, c.prefix, size)
		}
	}
}

// TestJoinOfAFinishedDocument: a whole document where a value may stand is the answer anew if the answer ends there.
func TestJoinOfAFinishedDocument(t *testing.T) {
	for _, finished := range []bool{true, false} {
		j := newJoiner(delivered(`{"a":`), "", false)
		require.Zero(t, j.take(`{"b":1,"a":2}`))
		require.Equal(t, joinHolding, j.state)
		j.finished = finished
		require.Zero(t, j.end())
		assert.Equal(t, finished, j.state == joinRejected)
	}
}

// TestJoinOfACodeBlock: a fence that opens anew the block that the text stops in is cut.
func TestJoinOfACodeBlock(t *testing.T) {
	overlap, plain := callbacks.JoinOverlap, callbacks.JoinPlain
	medium := callbacks.ConfidenceMedium
	const block = "Config:\n\n```json\n{\"port\": 80,"
	const code = "Code:\n\n```go\nfunc add(a, b int) int {\n\treturn a"
	runJoinCases(t, []joinCase{
		{"and the document goes on", block, "```json\n \"host\": \"x\"}\n```", " \"host\": \"x\"}\n```", overlap, medium},
		{"and the document comes again", block, "```json\n{\"port\": 80, \"host\": \"x\"}\n```", " \"host\": \"x\"}\n```", overlap, medium},
		{"without its language", block, "```\n{\"port\": 80, \"host\": \"x\"}\n```", " \"host\": \"x\"}\n```", overlap, medium},
		{"and the code goes on", code, "```go\n + b\n}\n```\n", " + b\n}\n```\n", overlap, medium},
		{"and the code comes again", code, code[7:] + " + b\n}\n```\n", " + b\n}\n```\n", overlap, medium},
		{"of another language in Markdown", "```markdown\nText:\n\n", "```json\n{}\n```\n", "```json\n{}\n```\n", plain, medium},
		{"of the same language in Markdown", "```markdown\nText:\n\n", "```markdown\nMore.\n```\n", "```markdown\nMore.\n```\n", plain, callbacks.ConfidenceLow},
		{"of another language", "```go\nx := 1\n", "```sql\nselect 1\n```\n", "```sql\nselect 1\n```\n", plain, medium},
		{"that closes the block", "Code:\n\n```go\nx := 1\n", "```\nDone.", "```\nDone.", plain, medium},
		{"behind a closed block", "Code:\n\n```go\nx := 1\n```\n", "```go\ny := 2\n```\n", "```go\ny := 2\n```\n", plain, callbacks.ConfidenceLow},
		{"of four marks", "````go\nx := 1\n", "````go\ny := 2\n````\n", "y := 2\n````\n", overlap, medium},
	})
	_, j := continueWith(t, code, false, split("```go\nfunc add(a, b int) float64 {", 4))
	assert.Equal(t, joinRejected, j.state, "code in other words")
	assert.False(t, openFence("```go\nx\n```\n").is())
	assert.Equal(t, fence{mark: '~', n: 4, info: "js", body: strings.Index("a\n  ~~~~ js\nx", "x")}, openFence("a\n  ~~~~ js\nx"))
}
