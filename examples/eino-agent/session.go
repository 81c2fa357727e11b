package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// session is one conversation.
type session struct {
	backend  *backend
	runner   *adk.Runner
	screen   *screen
	tally    *tally
	patience time.Duration // see ask
	goOn     bool          // with the next question after one that was not answered
	unbroken []turn        // what is answered when nothing breaks; nil if nobody knows
}

// turn is one question and what came of it.
type turn struct {
	number  int
	reply   reply
	err     error
	counts  counts
	records []faultllm.Record // of the embedded provider
}

// errCutOff is what nobody tells the program.
var errCutOff = errors.New("cut off, and nobody was told")

// isWhole compares with what is answered when nothing breaks. Of a real provider nobody knows what that is.
func (t turn) isWhole(unbroken []turn) bool {
	return t.err == nil && (unbroken == nil || t.reply.text() == unbroken[t.number-1].reply.text())
}

// run asks the questions in order. The error is that of the turn that ended the session, which is the last one returned.
func (s *session) run(ctx context.Context, questions []string) ([]turn, error) {
	var turns []turn
	var history []*schema.Message
	seen := 0
	for i, q := range questions {
		s.screen.question(i+1, q)
		asked := append(history, schema.UserMessage(q)) //nolint:gocritic // the history is never shared
		t := turn{number: i + 1}
		t.reply, t.err = ask(ctx, s.runner, asked, s.patience)
		t.counts = s.tally.take()
		s.screen.end()
		if ctx.Err() != nil {
			return append(turns, t), stopped(t, len(questions))
		}
		records, err := s.backend.requests(ctx)
		if err != nil {
			return turns, err
		}
		t.records, seen = records[seen:], len(records)
		turns = append(turns, t)
		if t.err == nil {
			history = append(asked, t.reply.messages...)
			if !t.isWhole(s.unbroken) {
				s.screen.failed(errCutOff)
			}

			continue
		}
		s.screen.failed(t.err)
		if !s.goOn {
			return turns, fmt.Errorf("turn %d: %w", t.number, t.err)
		}
	}

	return turns, nil
}

// stopped says what is left of a conversation that was interrupted.
func stopped(t turn, of int) error {
	whole := fmt.Sprintf("%d of %d turns are whole", t.number-1, of)
	if t.reply.partial == "" {
		return fmt.Errorf("interrupted in turn %d: %s", t.number, whole)
	}

	return fmt.Errorf("interrupted in turn %d: %s of its answer had come and stand above, %s",
		t.number, count(len(t.reply.partial), "byte"), whole)
}
