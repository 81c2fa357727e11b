package continuation_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cloudwego/eino/schema"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func chChance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// chPieces cuts s into pieces of 1 to most bytes, also inside runes.
func chPieces(r *rand.Rand, s string, most int) []string {
	var out []string
	for len(s) > 0 {
		n := min(len(s), 1+r.IntN(most))
		out, s = append(out, s[:n]), s[n:]
	}

	return out
}

// chText is a text in which no piece stands twice, so that every repetition is one, with white space of all kinds.
func chText(r *rand.Rand, words int, next *int) string {
	var b strings.Builder
	for range words {
		*next++
		b.WriteString([]string{"word", "é", "文", "😀", "Line"}[r.IntN(5)])
		fmt.Fprint(&b, *next)
		b.WriteString([]string{" ", " ", " ", "\n", "\n\n  ", ", ", ""}[r.IntN(7)])
	}

	return b.String()
}

// chAnswer is one honest answer: a thought, text, calls with text between them, a finish reason. Some chunks are merged,
// so that one brings everything at once.
func chAnswer(r *rand.Rand) fm.Script {
	var chunks []*schema.Message
	word, calls := 0, 0
	if chChance(r, 40) {
		for _, s := range chPieces(r, "I think, therefore I write.", 9) {
			chunks = append(chunks, exThought(s))
		}
	}
	most := []int{3, 12, 60, 700}[r.IntN(4)]
	for _, s := range chPieces(r, chText(r, r.IntN(40), &word), most) {
		chunks = append(chunks, exText(s))
	}
	for range max(0, r.IntN(5)-2) {
		args := fmt.Sprintf(`{"n":%d,"s":"}{\"","o":{"a":[1,"é"]}}`, calls)
		pieces := chPieces(r, args, 30)
		if chChance(r, 15) {
			pieces = []string{"{}"}
		}
		chunks = append(chunks, exCall(calls, fmt.Sprintf("call_%d", calls), "search", ""))
		for _, s := range pieces {
			if chChance(r, 10) {
				chunks = append(chunks, exText(chText(r, 1, &word)))
			}
			chunks = append(chunks, exCall(calls, "", "", s))
		}
		calls++
	}
	reason := "stop"
	if calls > 0 {
		reason = "tool_calls"
	} else if word == 0 {
		chunks = append(chunks, exText("Yes."))
	}

	return exSteps(chMerge(r, append(chunks, exFinish(reason)))...)
}

// chMerge makes one chunk of some that follow each other.
func chMerge(r *rand.Rand, chunks []*schema.Message) []*schema.Message {
	percent := []int{0, 10, 60}[r.IntN(3)]
	out := []*schema.Message{exExtra(exText(""), map[string]any{"_eino_msg_id": "id", "trace": "t"})}
	for _, m := range chunks {
		last := out[len(out)-1]
		thought := m.ReasoningContent != "" && last.Content != "" // a thought is the first thing in its chunk
		if !chChance(r, percent) || thought || last.ResponseMeta != nil || len(last.ToolCalls) > 0 && m.Content != "" {
			out = append(out, m)

			continue
		}
		last.Content += m.Content
		last.ReasoningContent += m.ReasoningContent
		last.ToolCalls = append(last.ToolCalls, m.ToolCalls...)
		last.ResponseMeta = m.ResponseMeta
	}

	return out
}

// chFault is a way to break. With reader it is one that a reader meets, else also one that Stream does.
func chFault(r *rand.Rand, reader bool) []fm.Step {
	faults := []fm.Step{
		fm.Reset(), fm.UnexpectedEOF(), fm.EOF(), fm.Stall(), fm.Fail(ctStatus(503)), fm.Fail(ctStatus(429)), fm.Finish("error"),
		fm.Reset(), fm.UnexpectedEOF(), fm.Idle(7 * time.Minute),
		fm.OpenFail(ctStatus(502)), fm.OpenStall(), fm.OpenFail(fm.ResetError()), fm.OpenIdle(6 * time.Minute),
	}
	if reader {
		faults = faults[:10]
	}

	return []fm.Step{faults[r.IntN(len(faults))], fm.Reset()}
}

func chBreaks(r *rand.Rand, chunks int) []fm.Break {
	var out []fm.Break
	for range r.IntN(5) {
		n := r.IntN(chunks + 1)
		out = append(out, fm.BreakAt(n, chFault(r, n > 0)...))
	}

	return out
}

// chWildChunk is a chunk in which anything may stand. Extra holds what adds up only.
func chWildChunk(r *rand.Rand) *schema.Message {
	m := &schema.Message{}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	m.Role = schema.RoleType(pick("assistant", "assistant", "", "user"))
	if chChance(r, 50) {
		m.Content = pick("ha ", "ha", " ", "\n", "The same long line of text again. ", "\xe6", "\x96\x87", "é", "{", "}")
	}
	if chChance(r, 15) {
		m.ReasoningContent = pick("Hm. ", "So ")
	}
	if chChance(r, 10) {
		m.AssistantGenMultiContent = []schema.MessageOutputPart{
			{Type: schema.ChatMessagePartTypeText, Text: pick(m.Content, "part ")},
			{Type: schema.ChatMessagePartTypeReasoning, Reasoning: &schema.MessageOutputReasoning{Text: "Hm. "}},
		}
	}
	for range max(0, r.IntN(6)-3) {
		c := schema.ToolCall{ID: pick("", "", "a", "b"), Function: schema.FunctionCall{
			Name: pick("", "", "search", "weather"), Arguments: pick("", `{`, `"q":1`, `}`, `{}`, `{"q":[1]}`, " ", "null", "]"),
		}}
		if i := r.IntN(4); i < 3 {
			c.Index = &i
		}
		m.ToolCalls = append(m.ToolCalls, c)
	}
	if chChance(r, 10) {
		m.Extra = map[string]any{pick("trace", "_eino_msg_id", "reasoning-content", "openai-request-id"): pick("x", "y")}
	}
	if chChance(r, 8) {
		m.ResponseMeta = &schema.ResponseMeta{FinishReason: pick("", "null", "stop", "tool_calls", "length", "error", "content_filter")}
		if chChance(r, 30) {
			m.ResponseMeta.Usage = &schema.TokenUsage{PromptTokens: r.IntN(9), CompletionTokens: r.IntN(9), TotalTokens: 9}
		}
	}

	return m
}

func chWildScript(r *rand.Rand) fm.Script {
	var script fm.Script
	for range r.IntN(12) {
		switch r.IntN(40) {
		case 0:
			script = append(script, fm.Nil())
		case 1:
			script = append(script, fm.Idle(time.Duration(r.IntN(400))*time.Millisecond))
		case 2:
			script = append(script, fm.Panic("wild"))
		default:
			script = append(script, fm.Chunk(chWildChunk(r)))
		}
	}
	more := []fm.Step{
		fm.EOF(), fm.Fail(ctStatus(400)), fm.Fail(ctStatus(401)), fm.NilReader(), fm.OpenPanic("wild"),
		fm.OpenFail(ctStatus(400)), fm.Fail(io.ErrNoProgress), fm.Chunk(exFinish("stop")),
	}
	if chChance(r, 50) {
		return append(script, more[r.IntN(len(more))])
	}

	return append(script, chFault(r, false)...)
}
