package faultllm_test

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// turn is a message in the form of all wires.
type turn struct {
	role      string
	text      string
	thinking  string
	signature string // of thinking
	calls     []faultllm.ToolCall
	signed    string // signature of the first call
	id        string // of the call that a tool's message answers
}

func says(role, text string) turn { return turn{role: role, text: text} }

// speech is a request in the words of a vendor.
type speech struct {
	path   string
	header map[string]string
	body   msg
}

// speak puts a conversation into a vendor's words. A last message of the assistant is marked to be continued where the
// vendor has a mark for it.
func speak(v faultllm.Vendor, stream bool, turns ...turn) speech {
	switch v {
	case faultllm.Anthropic:
		return speech{
			path: "/v1/messages", header: map[string]string{"Anthropic-Version": "2023-06-01"},
			body: anthropicBody(stream, turns),
		}
	case faultllm.Gemini:
		path := "/v1beta/models/carryon-test-1:generateContent"
		if stream {
			path = "/v1beta/models/carryon-test-1:streamGenerateContent?alt=sse"
		}
		return speech{path: path, body: geminiBody(turns)}
	case faultllm.Ollama:
		return speech{path: "/api/chat", body: ollamaBody(stream, turns)}
	case faultllm.ArkResponses:
		return speech{path: "/responses", body: responsesBody(stream, turns)}
	case faultllm.OpenAI, faultllm.DeepSeek, faultllm.Qwen, faultllm.OpenRouter, faultllm.Ark:
	}
	return openaiSpeech(v, stream, turns)
}

func openaiSpeech(v faultllm.Vendor, stream bool, turns []turn) speech {
	path := "/chat/completions"
	var messages []msg
	for i, t := range turns {
		m := msg{"role": t.role, "content": t.text}
		if t.id != "" {
			m["tool_call_id"] = t.id
		}
		if v == faultllm.OpenRouter && t.thinking != "" {
			m["reasoning_details"] = []msg{
				{"type": "reasoning.text", "text": t.thinking}, {"type": "reasoning.text", "signature": t.signature},
			}
		} else if t.thinking != "" {
			m["reasoning_content"] = t.thinking
		}
		var calls []msg
		for _, c := range t.calls {
			calls = append(calls, msg{"id": c.ID, "type": "function", "function": msg{"name": c.Name, "arguments": c.Args}})
		}
		if calls != nil {
			m["tool_calls"] = calls
		}
		if i == len(turns)-1 && t.role == "assistant" {
			mark := map[faultllm.Vendor]string{faultllm.DeepSeek: "prefix", faultllm.Qwen: "partial"}[v]
			if mark != "" {
				m[mark] = true
			}
			if v == faultllm.DeepSeek {
				path = "/beta/chat/completions"
			}
		}
		messages = append(messages, m)
	}
	return speech{path: path, body: msg{"model": "carryon-test-1", "stream": stream, "messages": messages}}
}

func anthropicBody(stream bool, turns []turn) msg {
	body := msg{"model": "carryon-test-1", "max_tokens": 4096, "stream": stream}
	var messages []msg
	for _, t := range turns {
		var blocks []msg
		if t.thinking != "" {
			blocks = append(blocks, msg{"type": "thinking", "thinking": t.thinking, "signature": t.signature})
		}
		switch {
		case t.role == "system":
			body["system"] = []msg{{"type": "text", "text": t.text}}
			continue
		case t.role == "tool":
			blocks = append(blocks, msg{
				"type": "tool_result", "tool_use_id": t.id, "content": []msg{{"type": "text", "text": t.text}},
			})
		case t.text != "":
			blocks = append(blocks, msg{"type": "text", "text": t.text})
		}
		for _, c := range t.calls {
			blocks = append(blocks, msg{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
		}
		role := map[string]string{"tool": "user"}[t.role]
		if role == "" {
			role = t.role
		}
		messages = append(messages, msg{"role": role, "content": blocks})
	}
	body["messages"] = messages
	return body
}

func geminiBody(turns []turn) msg {
	body := msg{}
	var contents, results []msg
	for i, t := range turns {
		var parts []msg
		if t.thinking != "" {
			parts = append(parts, msg{"text": t.thinking, "thought": true})
		}
		switch {
		case t.role == "system":
			body["systemInstruction"] = msg{"parts": []msg{{"text": t.text}}}
			continue
		case t.role == "tool":
			part := msg{"functionResponse": msg{"name": t.id, "response": msg{"output": t.text}}}
			results = append(results, part)
			if i+1 < len(turns) && turns[i+1].role == "tool" { // the client sends all results in one turn.
				continue
			}
			parts, results = results, nil
		case t.text != "":
			part := msg{"text": t.text}
			if t.signature != "" {
				part["thoughtSignature"] = t.signature
			}
			parts = append(parts, part)
		}
		for j, c := range t.calls {
			part := msg{"functionCall": msg{"name": c.Name, "args": json.RawMessage(c.Args)}}
			if j == 0 && t.signed != "" {
				part["thoughtSignature"] = t.signed
			}
			parts = append(parts, part)
		}
		role := map[string]string{"assistant": "model"}[t.role]
		if role == "" {
			role = "user"
		}
		contents = append(contents, msg{"role": role, "parts": parts})
	}
	body["contents"] = contents
	return body
}

func ollamaBody(stream bool, turns []turn) msg {
	var messages []msg
	for _, t := range turns {
		m := msg{"role": t.role, "content": t.text, "thinking": t.thinking, "tool_name": t.id}
		var calls []msg
		for _, c := range t.calls {
			calls = append(calls, msg{"function": msg{"name": c.Name, "arguments": json.RawMessage(c.Args)}})
		}
		if calls != nil {
			m["tool_calls"] = calls
		}
		messages = append(messages, m)
	}
	return msg{"model": "carryon-test-1", "stream": stream, "messages": messages}
}

func (s speech) with(extra msg) speech {
	s.body = maps.Clone(s.body)
	maps.Copy(s.body, extra)
	return s
}

// url is where the speech is posted.
func (s speech) url(server *faultllm.Server, v faultllm.Vendor) string {
	base := server.BaseURL(v)
	if v == faultllm.Anthropic || v == faultllm.Gemini || v == faultllm.Ollama {
		base = strings.TrimSuffix(base, "/")
	}
	return base + s.path
}
