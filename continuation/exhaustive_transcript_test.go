package continuation_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
)

// exTranscript is what a consumer and a handler see, chunks and events in one order. It is a handler.
type exTranscript struct {
	mu    sync.Mutex
	lines []exLine
	at    []time.Time // when each of the lines came
}

// exLine is a chunk, an event, or the error at the end.
type exLine struct {
	chunk *schema.Message
	event callbacks.Event
	err   error
}

// Handle implements callbacks.Handler.
func (l *exTranscript) Handle(_ context.Context, e callbacks.Event) { l.add(exLine{event: e}) }

func (l *exTranscript) add(line exLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	l.at = append(l.at, time.Now())
}

// isEnd reports whether the line is the event that ends every call. The grammar looks at it, the transcripts are about the
// breaks.
func (line exLine) isEnd() bool {
	_, yes := line.event.(callbacks.Ended)

	return yes
}

func (l *exTranscript) events() []callbacks.Event {
	var out []callbacks.Event
	for _, line := range l.lines {
		if line.event != nil && !line.isEnd() {
			out = append(out, line.event)
		}
	}

	return out
}

// end returns the event that ends every call.
func (l *exTranscript) end() (end callbacks.Ended) {
	for _, line := range l.lines {
		if line.isEnd() {
			end, _ = line.event.(callbacks.Ended)
		}
	}

	return end
}

// exEvents returns the events of one type.
func exEvents[E callbacks.Event](l *exTranscript) []E {
	var out []E
	for _, e := range l.events() {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}

	return out
}

// String writes one line for each chunk and event.
func (l *exTranscript) String() string {
	var b strings.Builder
	for _, line := range l.lines {
		switch {
		case line.isEnd():
			continue
		case line.chunk != nil:
			b.WriteString(exChunkLine(line.chunk))
		case line.event != nil:
			b.WriteString(exEventLine(line.event))
		default:
			b.WriteString("end " + line.err.Error())
		}
		b.WriteByte('\n')
	}

	return b.String()
}

func exChunkLine(m *schema.Message) string {
	words := []string{"chunk"}
	if m.ReasoningContent != "" {
		words = append(words, fmt.Sprintf("thought %q", m.ReasoningContent))
	}
	if m.Content != "" {
		words = append(words, fmt.Sprintf("text %q", m.Content))
	}
	for _, c := range m.ToolCalls {
		words = append(words, fmt.Sprintf("call %d %s %s%s", *c.Index, c.ID, c.Function.Name, c.Function.Arguments))
	}
	if r := m.ResponseMeta; r != nil {
		words = append(words, "finish "+r.FinishReason)
		if r.Usage != nil {
			words = append(words, fmt.Sprintf("usage %d+%d", r.Usage.PromptTokens, r.Usage.CompletionTokens))
		}
	}
	if len(m.Extra) > 0 {
		words = append(words, fmt.Sprint(m.Extra)) // fmt sorts the keys
	}

	return strings.Join(words, " ")
}

// exEventLine names the event and its fields: of an interruption the text blocks that are kept, whether another is open,
// and the calls and thoughts that are lost; of a start the wait, the history and the prompt.
func exEventLine(e callbacks.Event) string {
	switch e := e.(type) {
	case callbacks.Interrupted:
		return fmt.Sprintf("  %s %d by %s (%s): %v, text %d+%v, lost %d+%d",
			e.Name(), e.ContinuationAttempt, e.Cause, e.ErrorKind, e.Plan,
			e.CommittedTextBlocks, e.CommittedPartialText, e.DiscardedPartialToolUses, e.DiscardedReasoningBlocks)
	case callbacks.Started:
		return fmt.Sprintf("  %s %d: %v after %s, %s, prompt %s",
			e.Name(), e.ContinuationAttempt, e.Plan, exNominal(e.Backoff), e.HistoryRewrite, e.Prompt)
	case callbacks.Completed:
		return fmt.Sprintf("  %s %d: %s", e.Name(), e.ContinuationAttempt, e.CompletionReason)
	case callbacks.Failed:
		return fmt.Sprintf("  %s %d: %s", e.Name(), e.ContinuationAttempt, e.Cause)
	case callbacks.Cancelled:
		return fmt.Sprintf("  %s %d: %s", e.Name(), e.ContinuationAttempt, e.Reason)
	case callbacks.Exhausted:
		return fmt.Sprintf("  %s after %d: %s", e.Name(), e.Attempts, e.FinalReason)
	case callbacks.PartialToolUseDiscarded:
		return fmt.Sprintf("  %s %s %d bytes: %s", e.Name(), e.ToolName, e.PartialInputBytes, e.Reason)
	case callbacks.ToolCallCancel:
		return fmt.Sprintf("  %s %s %s: %s", e.Name(), e.ID, e.ToolName, e.Reason)
	case callbacks.Joined:
		return fmt.Sprintf("  %s %d: %s %d, %s", e.Name(), e.ContinuationAttempt, e.Kind, e.Overlap, e.Confidence)
	case callbacks.OpenRetried:
		return fmt.Sprintf("  %s %d after %s by %s", e.Name(), e.Attempt, exNominal(e.Backoff), e.Cause)
	case callbacks.LateError:
		return fmt.Sprintf("  %s %s", e.Name(), e.Cause)
	case callbacks.StreamReset:
		return fmt.Sprintf("  %s: %s", e.Name(), e.Reason)
	default:
		return "  " + e.Name()
	}
}

// exNominal writes a wait as what it was before chance made it longer.
func exNominal(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	for n := range 5 {
		if nominal := time.Second << n; nominal <= d && d <= nominal+nominal/4 {
			return nominal.String()
		}
	}

	return "odd " + d.String()
}
