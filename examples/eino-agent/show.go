package main

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// show holds the conversation that the settings ask for, and draws it.
func (p program) show(ctx context.Context, set settings, log *recordLog) (err error) {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	files := openLibrary(dir)
	defer func() { err = errors.Join(err, files.Close()) }()
	tools, err := newTools(files)
	if err != nil {
		return err
	}
	var unbroken []turn
	if set.provider == providerEmbedded {
		if unbroken, err = rehearse(ctx, tools); err != nil {
			return err
		}
	}
	b, err := p.open(ctx, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }() //nolint:contextcheck // closing does not wait for long

	r, err := p.perform(ctx, set, b, tools, unbroken, log.handlers()...)
	if err != nil {
		return err
	}
	r.write(p.out)

	return r.err()
}

func (p program) open(ctx context.Context, set settings) (*backend, error) {
	if set.provider == providerOpenAI {
		return openReal(ctx, p.getenv)
	}
	plan, err := newPlan(set.fault, set.seed, p.tempo.retryAfter)
	if err != nil {
		return nil, err
	}

	return openEmbedded(ctx, faultllm.Config{Plan: plan, Pace: p.tempo.pace})
}

// rehearse holds the conversation without a break and out of sight: that is what it needs, and what it should say.
func rehearse(ctx context.Context, tools []tool.BaseTool) (turns []turn, err error) {
	b, err := openEmbedded(ctx, faultllm.Config{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }() //nolint:contextcheck // closing does not wait for long
	runner, err := newAgent(ctx, b.chat, tools)
	if err != nil {
		return nil, err
	}
	s := session{backend: b, runner: runner, screen: newScreen(io.Discard, newPalette(false)), tally: &tally{}}

	return s.run(ctx, questions())
}

// perform holds the conversation in front of the user. More handlers get the events before the screen.
func (p program) perform(
	ctx context.Context, set settings, b *backend, tools []tool.BaseTool, unbroken []turn, more ...callbacks.Handler,
) (report, error) {
	colours := newPalette(!set.noColour && hasColours(p.out, p.getenv))
	s := session{backend: b, screen: newScreen(p.out, colours), tally: &tally{}, unbroken: unbroken}
	chat := b.chat
	if set.plain {
		s.patience, s.goOn = p.tempo.patience, b.server != nil
	} else {
		chat = p.recovering(b, slices.Concat(more, []callbacks.Handler{s.screen, s.tally})...)
	}
	runner, err := newAgent(ctx, chat, tools, newViewer(s.screen))
	if err != nil {
		return report{}, err
	}
	s.runner = runner
	s.screen.note(opening(set, colours))
	turns, err := s.run(ctx, questions())
	if err != nil {
		return report{}, err
	}

	return report{palette: colours, turns: turns, unbroken: unbroken, plain: set.plain}, nil
}

// recovering returns the backend's model with streams that heal. Nothing of the options is needed for that: the waits are
// short for the audience, and the handlers and the model's name are for those who watch. Without them the line is
// continuation.Wrap(b.chat).
func (p program) recovering(b *backend, handlers ...callbacks.Handler) model.BaseChatModel {
	opts := []continuation.Option{
		continuation.WithBackoff(p.tempo.wait), continuation.WithIdleTimeout(p.tempo.idle), b.identity(),
	}
	for _, h := range handlers {
		opts = append(opts, continuation.WithHandler(h))
	}

	return continuation.Wrap(b.chat, opts...)
}
