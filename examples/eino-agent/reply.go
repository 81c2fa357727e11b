package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// errImpatient ends a turn in which nothing happens any more.
var errImpatient = errors.New("nothing came any more")

// reply is what the agent brought in one turn.
type reply struct {
	messages []*schema.Message // the whole ones, in order, as the history keeps them
	partial  string            // text of the message that broke off
}

// text returns the answer: the text of the last message, or of the one that broke off.
func (r reply) text() string {
	if r.partial != "" || len(r.messages) == 0 {
		return r.partial
	}

	return r.messages[len(r.messages)-1].Content
}

// ask runs one turn. If nothing comes for as long as patience, unless it is 0, the turn is given up.
func ask(ctx context.Context, runner *adk.Runner, history []*schema.Message, patience time.Duration) (reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := func() {}
	if patience > 0 {
		t := time.AfterFunc(patience, func() { cancel(fmt.Errorf("%w for %v, given up", errImpatient, patience)) })
		defer t.Stop()
		alive = func() { t.Reset(patience) }
	}

	var r reply
	var first error
	events := runner.Run(ctx, history)
	for {
		e, ok := events.Next()
		if !ok {
			break
		}
		alive()
		err := e.Err
		if err == nil {
			err = r.take(e, alive)
		}
		if first == nil { // the agent reports a broken stream once more, wrapped
			first = err
		}
	}

	return r, first
}

// take adds the message of an event.
func (r *reply) take(e *adk.AgentEvent, alive func()) error {
	if e.Output == nil || e.Output.MessageOutput == nil {
		return nil
	}
	out := e.Output.MessageOutput
	if !out.IsStreaming {
		r.messages = append(r.messages, out.Message)

		return nil
	}
	defer out.MessageStream.Close()
	var chunks []*schema.Message
	for {
		chunk, err := out.MessageStream.Recv()
		if err == io.EOF { //nolint:errorlint // the end of a stream is io.EOF itself
			break
		}
		if err != nil {
			for _, c := range chunks {
				r.partial += c.Content
			}

			return err
		}
		alive()
		chunks = append(chunks, chunk)
	}
	if len(chunks) == 0 {
		return nil
	}
	m, err := schema.ConcatMessages(chunks)
	if err != nil {
		return err
	}
	r.messages = append(r.messages, m)

	return nil
}
