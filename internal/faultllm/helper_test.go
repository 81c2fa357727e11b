package faultllm_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// msg is a message of a request, as JSON.
type msg = map[string]any

func system(s string) msg    { return msg{"role": "system", "content": s} }
func user(s string) msg      { return msg{"role": "user", "content": s} }
func assistant(s string) msg { return msg{"role": "assistant", "content": s} }

func calling(id, name, args string) msg {
	return msg{"role": "assistant", "tool_calls": []msg{
		{"id": id, "type": "function", "function": msg{"name": name, "arguments": args}},
	}}
}

func result(id, s string) msg { return msg{"role": "tool", "tool_call_id": id, "content": s} }

// reply is what a client saw of a response.
type reply struct {
	status    int
	header    http.Header
	frames    []string // whole data lines
	raw       string
	text      string
	reasoning string
	signature string // of the reasoning

	callSignature string
	calls         []faultllm.ToolCall
	finish        string
	usage         *usage
	failure       string // type of an error in the stream
	done          bool
	err           error // nil after a clean end
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type chunk struct {
	Choices []struct {
		Delta   body    `json:"delta"`
		Message body    `json:"message"`
		Finish  *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
	Error *struct {
		Type string `json:"type"`
	} `json:"error"`
}

type body struct {
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"`
	Details   []struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
	} `json:"reasoning_details"`
	ToolCalls []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func start(t *testing.T, cfg faultllm.Config) *faultllm.Server {
	t.Helper()
	s, err := faultllm.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// client is a client without connections of other tests.
func client(t *testing.T) *http.Client {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func request(messages []msg, with msg) string {
	r := msg{"model": "carryon-test-1", "stream": true, "messages": messages}
	maps.Copy(r, with)
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func post(ctx context.Context, c *http.Client, s *faultllm.Server, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return c.Do(r)
}

// ask streams one answer.
func ask(t *testing.T, s *faultllm.Server, messages ...msg) reply {
	t.Helper()
	return send(t, s, request(messages, nil))
}

func send(t *testing.T, s *faultllm.Server, body string) reply {
	t.Helper()
	res, err := post(t.Context(), client(t), s, body)
	if err != nil {
		return reply{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	return read(t, res)
}

func read(t *testing.T, res *http.Response) reply {
	t.Helper()
	r := reply{status: res.StatusCode, header: res.Header}
	in := bufio.NewReader(res.Body)
	for {
		line, err := in.ReadString('\n')
		r.raw += line
		if data, ok := strings.CutPrefix(line, "data: "); ok && err == nil {
			r.frame(t, strings.TrimSuffix(data, "\n"))
		}
		if err != nil {
			if err != io.EOF { // a wrapped EOF is no clean end.
				r.err = err
			}
			return r
		}
	}
}

func (r *reply) frame(t *testing.T, data string) {
	t.Helper()
	r.frames = append(r.frames, data)
	if data == "[DONE]" {
		r.done = true
		return
	}
	var c chunk
	if json.Unmarshal([]byte(data), &c) != nil {
		return // a test of malformed frames looks at frames.
	}
	r.add(c)
}

func (r *reply) add(c chunk) {
	if c.Error != nil {
		r.failure = c.Error.Type
	}
	if c.Usage != nil {
		r.usage = c.Usage
	}
	for _, choice := range c.Choices {
		if choice.Finish != nil {
			r.finish = *choice.Finish
		}
		for _, b := range []body{choice.Delta, choice.Message} {
			r.text += b.Content
			r.reasoning += b.Reasoning
			for _, d := range b.Details {
				r.reasoning += d.Text
				r.signature += d.Signature
			}
			for i, tc := range b.ToolCalls {
				if tc.ID != "" {
					r.calls = append(r.calls, faultllm.ToolCall{ID: tc.ID, Name: tc.Function.Name})
				}
				at := tc.Index
				if b.ToolCalls[0].ID != "" && len(b.ToolCalls) > 1 {
					at = i
				}
				r.calls[at].Args += tc.Function.Arguments
			}
		}
	}
}

// whole asks for one answer that is not streamed.
func whole(t *testing.T, s *faultllm.Server, messages ...msg) reply {
	t.Helper()
	res, err := post(t.Context(), client(t), s, request(messages, msg{"stream": false}))
	if err != nil {
		return reply{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	r := reply{status: res.StatusCode, header: res.Header}
	b, err := io.ReadAll(res.Body)
	r.raw, r.err = string(b), err
	var c chunk
	if json.Unmarshal(b, &c) == nil {
		r.add(c)
	}
	return r
}

func record(t *testing.T, s *faultllm.Server, n int) faultllm.Record {
	t.Helper()
	r, err := s.WaitEnded(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}
