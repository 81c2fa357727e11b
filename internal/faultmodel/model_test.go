package faultmodel

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

var errBoom = errors.New("boom")

func ask(text string) []*schema.Message {
	return []*schema.Message{schema.UserMessage(text)}
}

// read returns the text of one request and the error it ended with.
func read(ctx context.Context, t *testing.T, m model.BaseChatModel, input []*schema.Message) (string, error) {
	t.Helper()
	reader, err := m.Stream(ctx, input)
	if err != nil {
		t.Fatalf("Stream: %v", err)
	}
	chunks, err := Collect(reader)
	return Concat(t, chunks).Content, err
}

func TestRequestsAreAnsweredByTheirScripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(
			Script{Role(), Text("Hel"), Reset()},
			Script{Text("lo"), FinishUsage("stop", 3, 5)},
		)
		if text, err := read(t.Context(), t, m, ask("a")); text != "Hel" || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("request 0: %q, %v", text, err)
		}
		if text, err := read(t.Context(), t, m, ask("b")); text != "lo" || err != nil {
			t.Errorf("request 1: %q, %v", text, err)
		}
		if _, err := m.Stream(t.Context(), ask("c")); !errors.Is(err, ErrScriptEnded) ||
			!strings.Contains(err.Error(), "request 2") {
			t.Errorf("request 2: %v", err)
		}
		synctest.Wait()
		checkRecord(t, m)
	})
}

// checkRecord looks at what the three requests above have left.
func checkRecord(t *testing.T, m *Model) {
	t.Helper()
	requests := m.Requests()
	if len(requests) != 3 || requests[1].Messages[0].Content != "b" || requests[2].OpenErr == nil {
		t.Fatalf("record: %+v", requests)
	}
	if r := requests[0]; r.Sent != 2 || r.CompletionTokens != 3 || r.PromptTokens != 1 || !r.Closed || !r.Finished {
		t.Errorf("record of request 0: %+v", r)
	}
	if prompt, completion := m.Billed(); prompt != 3 || completion != 5 {
		t.Errorf("billed %d, %d", prompt, completion)
	}
	if m.Open() != 0 || m.Unclosed() != 0 {
		t.Errorf("open %d, unclosed %d", m.Open(), m.Unclosed())
	}
}

func TestTheWholeVocabularyAddsUp(t *testing.T) {
	script := Script{
		Role(), Reasoning("hm"), Text("a"), Call(0, "c1", "add", `{"x":`), Call(0, "", "", `1}`),
		CallNoIndex("c2", "now", "{}"), Usage(1, 2), Finish("tool_calls"),
		Chunk(&schema.Message{Role: schema.Assistant, Extra: map[string]any{"k": []string{"v"}}}),
	}
	msg := script.Message(t)
	if msg.ReasoningContent != "hm" || msg.Content != "a" || msg.ResponseMeta.FinishReason != "tool_calls" ||
		msg.ResponseMeta.Usage.TotalTokens != 3 {
		t.Errorf("message: %v", msg)
	}
	if len(msg.ToolCalls) != 2 || msg.ToolCalls[0].Index != nil || msg.ToolCalls[1].Function.Arguments != `{"x":1}` ||
		msg.ToolCalls[1].Type != "function" {
		t.Errorf("calls: %v", msg.ToolCalls)
	}
	got, err := New(script).Generate(t.Context(), ask("q"))
	if err != nil || !reflect.DeepEqual(got, msg) {
		t.Errorf("Generate: %v, %v", got, err)
	}
	if script.Chunks() != 9 || script.Text() != "a" || script.Tokens() != 12 {
		t.Errorf("chunks %d, text %q, tokens %d", script.Chunks(), script.Text(), script.Tokens())
	}
}

func TestGenerateFailsWithItsScript(t *testing.T) {
	m := New(Script{Text("a"), Fail(errBoom)}, Script{OpenFail(errBoom)}, Script{NilReader()})
	for range 2 {
		if msg, err := m.Generate(t.Context(), ask("q")); msg != nil || !errors.Is(err, errBoom) {
			t.Errorf("Generate: %v, %v", msg, err)
		}
	}
	if msg, err := m.Generate(t.Context(), ask("q")); msg != nil || err != nil {
		t.Errorf("nil reader: %v, %v", msg, err)
	}
	if !m.Requests()[0].Generate {
		t.Error("not recorded as Generate")
	}
}

func TestChunksAndRecordsAreCopies(t *testing.T) {
	extra := map[string]any{"k": []int{1}}
	script := Script{Chunk(&schema.Message{Content: "a", Extra: extra}), Call(2, "c", "f", "{}")}
	m := New(script, script)
	input := ask("q")
	input[0].Extra = map[string]any{"id": "1"}
	for i := range 2 {
		reader, err := m.Stream(t.Context(), input)
		if err != nil {
			t.Fatal(err)
		}
		chunks, _ := Collect(reader)
		list, ok := chunks[0].Extra["k"].([]int)
		if !ok || list[0] != 1 || *chunks[1].ToolCalls[0].Index != 2 {
			t.Errorf("request %d saw a change: %v", i, chunks)
		}
		list[0] = 2
		*chunks[1].ToolCalls[0].Index = 7
	}
	input[0].Content, input[0].Extra["id"] = "changed", "2"
	if r := m.Requests()[0]; r.Messages[0].Content != "q" || r.Messages[0].Extra["id"] != "1" {
		t.Errorf("the record changed with the input: %v", r.Messages[0])
	}
}

func TestIdentityToolsAndOptions(t *testing.T) {
	m := New(Script{}, Script{}, Script{}).TypeName("OpenAI").CallbacksEnabled().Buffer(1)
	if m.GetType() != "OpenAI" || !m.IsCallbacksEnabled() {
		t.Errorf("type %q, callbacks %t", m.GetType(), m.IsCallbacksEnabled())
	}
	bound, err := m.WithTools([]*schema.ToolInfo{{Name: "bound"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), t, bound, ask("a")); err != nil {
		t.Error(err)
	}
	given := model.WithTools([]*schema.ToolInfo{{Name: "given"}})
	if _, err := bound.Generate(t.Context(), ask("b"), given, model.WithMaxTokens(9)); err != nil {
		t.Error(err)
	}
	plain := m.Plain()
	if _, ok := plain.(model.ToolCallingChatModel); ok {
		t.Error("a plain model has WithTools")
	}
	if _, err := read(t.Context(), t, plain, ask("c")); err != nil {
		t.Error(err)
	}
	requests := m.Requests()
	if len(requests) != 3 || requests[0].Options.Tools[0].Name != "bound" ||
		requests[1].Options.Tools[0].Name != "given" || *requests[1].Options.MaxTokens != 9 || len(requests[2].Options.Tools) > 0 {
		t.Errorf("record: %+v", requests)
	}
}

func TestRespondChoosesByInput(t *testing.T) {
	m := Respond(func(n int, input []*schema.Message) Script {
		return Script{Text(strings.Repeat(input[0].Content, n+1))}
	})
	for _, want := range []string{"x", "xx"} {
		if text, _ := read(t.Context(), t, m, ask("x")); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}

func TestWaitSeesARequestThatIsNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		m := New(Script{OpenStallIgnoringContext(release), OpenFail(errBoom)})
		ctx, cancel := context.WithCancel(t.Context())
		limited, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		time.AfterFunc(time.Second, func() { _, _ = m.Generate(ctx, ask("q")) })
		if err := m.WaitRequests(limited, 1); err != nil {
			t.Errorf("the request: %v", err)
		}
		time.AfterFunc(time.Second, cancel)
		if err := m.Wait(limited, func(r []Request) bool { return r[0].Cancelled }); err != nil {
			t.Errorf("its cancel: %v", err)
		}
	})
}

func TestWaitSeesChangesAndContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Script{Stall()})
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			reader, _ := m.Stream(ctx, ask("q"))
			cancel(errBoom)
			reader.Close()
		}()
		if err := m.WaitRequests(t.Context(), 1); err != nil {
			t.Error(err)
		}
		cancelled := func(r []Request) bool { return r[0].Cancelled && errors.Is(r[0].Cause, errBoom) }
		if err := m.Wait(t.Context(), cancelled); err != nil {
			t.Error(err)
		}
		if err := m.WaitIdle(t.Context()); err != nil {
			t.Error(err)
		}
		limited, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := m.WaitRequests(limited, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v", err)
		}
	})
}
