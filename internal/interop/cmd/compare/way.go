package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
)

const (
	// wait is the back-off of both that wait: what they do differently is not how long they wait.
	wait = 10 * time.Millisecond
	// pace is the time that the model takes for a piece of its answer.
	pace = 200 * time.Microsecond
	// tries is how often both may ask again.
	tries = 5
)

// way is one way to use a client in an agent.
type way struct {
	name  string
	model func(bare model.BaseChatModel) model.BaseChatModel
	retry *adk.ModelRetryConfig
}

func ways() []way {
	same := func(m model.BaseChatModel) model.BaseChatModel { return m }

	return []way{
		{name: "bare client", model: same},
		{name: "Eino's ModelRetryConfig", model: same, retry: &adk.ModelRetryConfig{
			MaxRetries: tries, BackoffFunc: func(context.Context, int) time.Duration { return wait },
		}},
		{name: "carryon", model: func(m model.BaseChatModel) model.BaseChatModel {
			return continuation.Wrap(
				m, continuation.WithMaxContinuations(tries), continuation.WithOpenRetries(tries),
				continuation.WithBackoff(func(int) time.Duration { return wait }),
			)
		}},
	}
}

// row is what came of all answers.
type row struct {
	name                  string
	asked, whole          int
	neededOutput, written int // tokens of the answers
	needed, billed        int // the same with those of the prompts, which hold the partial answers of continuations
	answered, shown       int // bytes of the answers, and of all text that the consumer got
	requests              int
	took                  time.Duration
}

// measure asks all questions, one after the other.
func measure(ctx context.Context, w way, cases []sample) (out row, err error) {
	out = row{name: w.name, asked: len(cases)}
	server, err := faultllm.Start(config(cases)) //nolint:contextcheck // the server ends with Close
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, server.Close()) }() //nolint:contextcheck // as above
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	agent, err := newAgent(ctx, w, server, transport)
	if err != nil {
		return out, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	began := time.Now()
	for _, c := range cases {
		last, shown := ask(runner.Run(ctx, []adk.Message{schema.UserMessage(c.question)}))
		out.shown += shown
		out.answered += len(c.answer.Text())
		if last == c.answer.Text() {
			out.whole++
		}
	}
	out.took = time.Since(began)
	if err := server.WaitIdle(ctx); err != nil {
		return out, err
	}
	l := server.Ledger()
	out.requests, out.written, out.billed = l.Requests, l.Completion, l.Billed()
	out.neededOutput, out.needed = needed(cases, l)

	return out, nil
}

func config(cases []sample) faultllm.Config {
	faults := make(map[string][]faultllm.Fault, len(cases))
	var script faultllm.Script
	for _, c := range cases {
		script = append(script, faultllm.Turn{Says: c.question, Answer: c.answer})
		faults[c.answer.Name] = c.faults
	}

	return faultllm.Config{Script: script, Plan: faultllm.ByAnswer(faults), PieceSize: 4 * tokensPerPiece, Pace: pace}
}

func newAgent(ctx context.Context, w way, server *faultllm.Server, transport http.RoundTripper) (adk.Agent, error) {
	client, found := clients.Of(faultllm.OpenAI)
	if !found {
		return nil, errors.New("there is no client")
	}
	bare, err := client.New(ctx, clients.Settings{BaseURL: server.URL(), HTTP: &http.Client{Transport: transport}})
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "sailor", Description: "Knows the tides.", Instruction: "You help sailors.",
		Model: w.model(bare), ModelRetryConfig: w.retry,
	})
	if err != nil {
		return nil, fmt.Errorf("make an agent: %w", err)
	}

	return agent, nil
}

// ask reads a run to its end. It returns the text of its last answer, empty if that broke, and how much text was shown in
// all.
func ask(events *adk.AsyncIterator[*adk.AgentEvent]) (last string, shown int) {
	for {
		e, ok := events.Next()
		if !ok {
			return last, shown
		}
		last = ""
		if e.Output == nil || e.Output.MessageOutput == nil {
			continue
		}
		text, n, err := read(e.Output.MessageOutput)
		shown += n
		if err == nil && e.Err == nil {
			last = text
		}
	}
}

func read(v *adk.MessageVariant) (string, int, error) {
	if !v.IsStreaming {
		return v.Message.Content, len(v.Message.Content), nil
	}
	defer v.MessageStream.Close()
	text := ""
	for {
		m, err := v.MessageStream.Recv()
		if err == io.EOF { //nolint:errorlint // a wrapped io.EOF is an error, not the end
			return text, len(text), nil
		}
		if err != nil {
			return "", len(text), err
		}
		text += m.Content
	}
}

// needed is what all answers cost if nothing breaks: their own tokens, and with them those of one prompt each.
func needed(cases []sample, l faultllm.Ledger) (output, all int) {
	for _, c := range cases {
		output += faultllm.Needed(c.answer)
	}
	all = output
	seen := map[int]bool{}
	for _, r := range l.Records {
		if r.Turn >= 0 && r.Attempt == 0 && !seen[r.Turn] {
			seen[r.Turn] = true
			all += faultllm.PromptTokens(r.Request)
		}
	}

	return output, all
}
