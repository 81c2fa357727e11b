package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

func TestNeededIsWhatTheScriptNeeds(t *testing.T) {
	t.Parallel()
	turns, err := rehearse(t.Context(), toolsOf(t))
	noError(t, err)
	for i, names := range [][]string{
		{answerCauses},
		{answerPolite},
		{answerSilence},
		{answerLookup, answerPrices},
		{answerCompute, answerCost},
		{answerVerdict},
	} {
		var want bill
		for _, name := range names {
			want.out += faultllm.Needed(scripted(t, name))
		}
		for _, r := range turns[i].records {
			want.in += faultllm.PromptTokens(r.Request)
		}
		equal(t, fmt.Sprintf("needed in turn %d", i+1), billed(turns[i].records), want)
		equal(t, "requests", len(turns[i].records), len(names))
	}
	last := turns[5].records[0].Request.Messages // system, three pairs, four with a tool, five with two, the question
	equal(t, "messages in the last request", len(last), 1+3*2+4+5+1)
}

func TestTableIsTheLedger(t *testing.T) {
	t.Parallel()
	for _, kind := range faultNames() {
		if kind == "stall" {
			continue // takes its time, and is part of the story
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r, ledger := recovered(t, kind, 2)
			k := r.total()
			equal(t, "billed", k.billed, bill{out: ledger.Completion, in: ledger.Prompt})
			if k.billed.out < k.needed.out || k.restart.out < k.needed.out {
				t.Errorf("less than needed: %+v", k)
			}
			if kind == faultNone || kind == "rate-limit" {
				equal(t, "billed", k.billed, k.needed)
				equal(t, "restart", k.restart, k.needed)
			}

			var b bytes.Buffer
			r.write(&b)
			var all []string
			for line := range strings.Lines(b.String()) {
				if strings.HasPrefix(line, "all ") {
					all = strings.Fields(line)
				}
			}
			want := fmt.Sprint([]int{k.billed.out, k.needed.out, k.restart.out, k.billed.in, k.needed.in, k.restart.in})
			equal(t, "table", fmt.Sprint(all[len(all)-6:]), want)
		})
	}
}

// TestNothingIsWrittenTwice holds for breaks in text: all that may be paid again is a token of trimmed white space.
func TestNothingIsWrittenTwice(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"reset", "cut", "clean-end", "provider-error"} {
		r, _ := recovered(t, kind, 5)
		for i := range r.turns {
			if k := r.costs(i); k.billed.out > k.needed.out+r.turns[i].counts.breaks {
				t.Errorf("%s, turn %d: %d billed, %d needed", kind, i+1, k.billed.out, k.needed.out)
			}
		}
	}
}

// TestRestartIsWhatARestartCosts compares the computed costs of starting over with those of someone who does.
func TestRestartIsWhatARestartCosts(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"reset", "clean-end", "malformed", "tool-cut", "reasoning-cut", "rate-limit"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r, _ := recovered(t, kind, 4)
			plan, err := newPlan(kind, 4, quick().retryAfter)
			noError(t, err)
			b, err := openEmbedded(t.Context(), faultllm.Config{Plan: plan})
			noError(t, err)
			defer closing(t, b)
			runner, err := newAgent(t.Context(), restarter{b.chat}, toolsOf(t))
			noError(t, err)
			s := session{backend: b, runner: runner, screen: newScreen(io.Discard, newPalette(false)), tally: &tally{}}
			_, err = s.run(t.Context(), questions())
			noError(t, err)
			l := b.server.Ledger()
			equal(t, "restart", r.total().restart, bill{out: l.Completion, in: l.Prompt})
		})
	}
}

// restarter asks again from the start until an answer comes whole.
type restarter struct{ model.BaseChatModel }

func (m restarter) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	for ctx.Err() == nil {
		r, err := m.BaseChatModel.Stream(ctx, in, opts...)
		if err != nil {
			continue
		}
		msg, err := schema.ConcatMessageStream(r)
		if err == nil && msg.ResponseMeta != nil && msg.ResponseMeta.FinishReason != "" {
			return schema.StreamReaderFromArray([]*schema.Message{msg}), nil
		}
	}

	return nil, ctx.Err()
}

func TestRestartBill(t *testing.T) {
	t.Parallel()
	unbroken := []faultllm.Record{{Turn: 0, Prompt: 100, Completion: 50}, {Turn: 1, Prompt: 200, Completion: 10}}
	records := []faultllm.Record{
		{Turn: 0, Prompt: 100, Completion: 20, FaultHit: true},
		{Turn: 0, Prompt: 150, Completion: 15, FaultHit: true, Continued: true},
		{Turn: 0, Prompt: 170, Completion: 15, Continued: true},
		{Turn: 1, FaultHit: true}, // refused
		{Turn: 1, Prompt: 200, Completion: 4, FaultHit: true},
		{Turn: 1, Prompt: 200, Completion: 3, FaultHit: true}, // a restart
		{Turn: 1, Prompt: 200, Completion: 10},
		{Turn: 7, Prompt: 300, Completion: 9, FaultHit: true}, // nobody asks for that unless a call was cut off
	}
	equal(t, "restart", restartBill(records, unbroken), bill{out: 20 + 35 + 50 + 4 + 3 + 10, in: 3*100 + 3*200})
	equal(t, "billed", billed(records), bill{out: 20 + 15 + 15 + 4 + 3 + 10 + 9, in: 100 + 150 + 170 + 600 + 300})
}
