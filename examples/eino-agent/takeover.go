package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

const takeoverQuestion = "What happens to an answer when its process dies?"

// takeoverAnswer is what the embedded provider answers, in whatever process it runs: what it says is a function of the
// request alone, and a request that carries the beginning is answered with the rest.
func takeoverAnswer() faultllm.Answer {
	return faultllm.Answer{Name: "takeover", Parts: []faultllm.Part{faultllm.Say(
		"Without a store it dies too: what was written is paid for, and gone. With one it is written down a few times a " +
			"second while it is streamed, beside the stream, so that a slow store delays nothing. The next process that is " +
			"asked the same under the same run id finds it there, shows it again, and asks the provider for the rest only. " +
			"What came since the last write is lost and asked for again: a quarter of a second, unless you say otherwise.",
	)}}
}

// showTakeover asks one question under a run id. It may be told to die in mid answer; the next process with the same run
// id goes on.
func (p program) showTakeover(ctx context.Context, set settings, log *recordLog) (err error) {
	store, closeStore, err := p.openStore(ctx, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	b, err := openEmbedded(ctx, faultllm.Config{
		Script: faultllm.Script{{Says: takeoverQuestion, Answer: takeoverAnswer()}}, Pace: p.tempo.pace,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }() //nolint:contextcheck // closing does not wait for long
	colours := newPalette(!set.noColour && hasColours(p.out, p.getenv))
	view := newScreen(p.out, colours)
	runner, err := p.takingOver(ctx, set, b, store, view, log)
	if err != nil {
		return err
	}

	view.note(colours.faint("An Eino agent whose unfinished answers are kept (" + set.checkpoint + "). Run id: " + set.runID + "."))
	view.question(1, takeoverQuestion)
	ctx = continuation.ContextWithRunID(ctx, set.runID)
	got, err := ask(ctx, runner, []*schema.Message{schema.UserMessage(takeoverQuestion)}, 0)
	view.end()
	if err != nil {
		return err
	}
	records, err := b.requests(ctx)
	if err != nil {
		return err
	}

	return billTakeover(view, colours, got.text(), records)
}

// takingOver returns an agent whose answers outlive it. Of the handlers the first is the outermost: it sees what the user
// sees.
func (p program) takingOver(
	ctx context.Context, set settings, b *backend, store checkpointstore.Store, view *screen, log *recordLog,
) (*adk.Runner, error) {
	opts := []continuation.Option{
		continuation.WithCheckpoints(store, continuation.StartTimeout(storeTimeout)), continuation.WithBackoff(p.tempo.wait), b.identity(), continuation.WithHandler(view),
	}
	for _, h := range log.handlers() {
		opts = append(opts, continuation.WithHandler(h))
	}
	carryOn, err := continuation.NewMiddleware(opts...)
	if err != nil {
		return nil, err
	}

	return newAgent(ctx, b.chat, nil, newMortal(set.crashAfter, view, p.die), newViewer(view), carryOn)
}

// billTakeover says what this process's request has cost, and what another process had paid already.
func billTakeover(view *screen, c palette, text string, records []faultllm.Record) error {
	whole := takeoverAnswer()
	if text != whole.Text() {
		return errIncomplete
	}
	needed, written := faultllm.Needed(whole), billed(records).out
	view.note("")
	view.note(c.good("✓ The answer is byte for byte what it is without a crash."))
	view.note(fmt.Sprintf("  It takes %s. This process has paid for %d of them, and not again for %d.",
		count(needed, "token"), written, needed-written))

	return nil
}

// mortal is an agent's middleware that ends the process behind a number of delivered chunks, without a chance to tidy up.
type mortal struct {
	*adk.BaseChatModelAgentMiddleware
	view *screen
	die  func()

	mu    sync.Mutex
	left  int // chunks; 0 from the start is no crash
	bytes int
	of    int
}

func newMortal(after int, view *screen, die func()) *mortal {
	return &mortal{BaseChatModelAgentMiddleware: &adk.BaseChatModelAgentMiddleware{}, view: view, die: die, left: after, of: after}
}

// WrapModel counts the chunks of m.
func (m *mortal) WrapModel(_ context.Context, chat model.BaseChatModel, _ *adk.ModelContext) (model.BaseChatModel, error) {
	return heardModel{BaseChatModel: chat, hear: m.count}, nil
}

func (m *mortal) count(chunk *schema.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes += len(chunk.Content)
	if m.left == 0 || chunk.Content == "" {
		return
	}
	if m.left--; m.left == 0 {
		m.view.end()
		m.view.died(m.of, m.bytes)
		m.die()
	}
}

// killed ends this process at once, as the kernel does when memory is short.
func killed() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		os.Exit(exitKilled)
	}
	select {} // the signal is on its way
}
