package faultllm_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// talk posts a speech and reads the answer, streamed or not.
func talk(t *testing.T, c *http.Client, s *faultllm.Server, v faultllm.Vendor, words speech) reply {
	t.Helper()
	body, err := json.Marshal(words.body)
	if err != nil {
		t.Fatal(err)
	}
	return talkRaw(t, c, s, v, words, body)
}

func talkRaw(t *testing.T, c *http.Client, s *faultllm.Server, v faultllm.Vendor, words speech, body []byte) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, words.url(s, v), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for k, value := range words.header {
		req.Header.Set(k, value)
	}
	res, err := c.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	if words.body["stream"] == true || strings.Contains(words.path, ":stream") {
		return hear(t, v, res)
	}
	r := reply{status: res.StatusCode, header: res.Header}
	doc, err := io.ReadAll(res.Body)
	r.raw, r.err = string(doc), err
	r.hearWhole(v, doc)
	return r
}

// hear reads a stream as the vendor's client does.
func hear(t *testing.T, v faultllm.Vendor, res *http.Response) reply {
	t.Helper()
	if v != faultllm.Anthropic && v != faultllm.Gemini && v != faultllm.Ollama && v != faultllm.ArkResponses {
		return read(t, res)
	}
	r := reply{status: res.StatusCode, header: res.Header}
	in := bufio.NewReader(res.Body)
	for {
		line, err := in.ReadString('\n')
		r.raw += line
		data, ok := strings.CutPrefix(line, "data: ")
		if v == faultllm.Ollama {
			ok = line != "\n"
		}
		if ok && err == nil {
			data = strings.TrimRight(data, "\r\n")
			r.frames = append(r.frames, data)
			r.hearFrame(v, []byte(data))
		}
		if err != nil {
			if err != io.EOF { // a wrapped EOF is no clean end.
				r.err = err
			}
			return r
		}
	}
}

func (r *reply) hearWhole(v faultllm.Vendor, doc []byte) {
	switch v {
	case faultllm.Anthropic:
		var m struct {
			Content    []anthropicBlock `json:"content"`
			StopReason string           `json:"stop_reason"`
			Usage      anthropicUsage   `json:"usage"`
		}
		_ = json.Unmarshal(doc, &m) // a test of broken documents looks at raw.
		r.finish, r.done = m.StopReason, m.StopReason != ""
		r.usage = &usage{Prompt: m.Usage.Input, Completion: m.Usage.Output}
		for _, b := range m.Content {
			r.text += b.Text
			r.reasoning += b.Thinking
			r.signature += b.Signature
			if b.Type == "tool_use" {
				r.calls = append(r.calls, faultllm.ToolCall{ID: b.ID, Name: b.Name, Args: string(b.Input)})
			}
		}
	case faultllm.Gemini, faultllm.Ollama:
		r.hearFrame(v, doc)
	case faultllm.ArkResponses:
		r.hearResponse(doc)
		r.done = r.finish != ""
	case faultllm.OpenAI, faultllm.DeepSeek, faultllm.Qwen, faultllm.OpenRouter, faultllm.Ark:
		var c chunk
		if json.Unmarshal(doc, &c) == nil {
			r.add(c)
			r.done = r.finish != ""
		}
	}
}

func (r *reply) hearFrame(v faultllm.Vendor, data []byte) {
	switch v {
	case faultllm.Anthropic:
		r.hearAnthropic(data)
	case faultllm.Gemini:
		r.hearGemini(data)
	case faultllm.ArkResponses:
		r.hearResponses(data)
	default:
		r.hearOllama(data)
	}
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Partial   string          `json:"partial_json"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`

	StopReason string `json:"stop_reason"`
}

type anthropicUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

func (r *reply) hearAnthropic(data []byte) {
	var e struct {
		Type  string          `json:"type"`
		Block anthropicBlock  `json:"content_block"`
		Delta anthropicBlock  `json:"delta"`
		Usage *anthropicUsage `json:"usage"`
		Error *anthropicBlock `json:"error"`
	}
	if json.Unmarshal(data, &e) != nil {
		return // a test of malformed frames looks at frames.
	}
	if e.Block.Type == "tool_use" {
		r.calls = append(r.calls, faultllm.ToolCall{ID: e.Block.ID, Name: e.Block.Name})
	}
	r.text += e.Delta.Text
	r.reasoning += e.Delta.Thinking
	r.signature += e.Delta.Signature
	if e.Delta.Partial != "" {
		r.calls[len(r.calls)-1].Args += e.Delta.Partial
	}
	if e.Usage != nil {
		r.usage = &usage{Prompt: e.Usage.Input, Completion: e.Usage.Output}
	}
	if e.Error != nil {
		r.failure = e.Error.Type
	}
	r.finish += e.Delta.StopReason
	r.done = r.done || e.Type == "message_stop"
}

func (r *reply) hearGemini(data []byte) {
	var c struct {
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text      string `json:"text"`
					Thought   bool   `json:"thought"`
					Signature string `json:"thoughtSignature"`
					Call      *struct {
						Name string          `json:"name"`
						Args json.RawMessage `json:"args"`
					} `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
			Finish string `json:"finishReason"`
		} `json:"candidates"`
		Usage struct {
			Prompt     int `json:"promptTokenCount"`
			Candidates int `json:"candidatesTokenCount"`
			Thoughts   int `json:"thoughtsTokenCount"`
			Total      int `json:"totalTokenCount"`
		} `json:"usageMetadata"`
	}
	if json.Unmarshal(data, &c) != nil {
		return // a test of malformed frames looks at frames.
	}
	u := c.Usage
	r.usage = &usage{Prompt: u.Prompt, Completion: u.Candidates + u.Thoughts, Total: u.Total}
	for _, candidate := range c.Candidates {
		r.finish += candidate.Finish
		r.done = r.finish != ""
		for _, p := range candidate.Content.Parts {
			switch {
			case p.Call != nil:
				call := faultllm.ToolCall{Name: p.Call.Name, Args: compact(p.Call.Args)}
				r.calls = append(r.calls, call)
				r.callSignature += p.Signature
			case p.Thought:
				r.reasoning += p.Text
			default:
				r.text += p.Text
				r.signature += p.Signature
			}
		}
	}
}

func (r *reply) hearOllama(data []byte) {
	var l struct {
		Message struct {
			Content  string `json:"content"`
			Thinking string `json:"thinking"`
			Calls    []struct {
				Function struct {
					Name string          `json:"name"`
					Args json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
		Done   bool   `json:"done"`
		Reason string `json:"done_reason"`
		Prompt int    `json:"prompt_eval_count"`
		Eval   int    `json:"eval_count"`
		Error  string `json:"error"`
	}
	if json.Unmarshal(data, &l) != nil {
		return // a test of malformed frames looks at frames.
	}
	r.text += l.Message.Content
	r.reasoning += l.Message.Thinking
	for _, c := range l.Message.Calls {
		r.calls = append(r.calls, faultllm.ToolCall{Name: c.Function.Name, Args: compact(c.Function.Args)})
	}
	if l.Done {
		r.done, r.finish = true, l.Reason
		r.usage = &usage{Prompt: l.Prompt, Completion: l.Eval, Total: l.Prompt + l.Eval}
	}
	r.failure += l.Error
}

func compact(doc []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, doc) != nil {
		return string(doc)
	}
	return b.String()
}
