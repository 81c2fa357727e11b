package faultllm_test

import (
	"encoding/json"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// responsesBody is a conversation in the words of Ark's responses. A last message of the assistant is marked as partial.
func responsesBody(stream bool, turns []turn) msg {
	var input []msg
	for i, t := range turns {
		if t.role == "tool" {
			input = append(input, msg{"type": "function_call_output", "call_id": t.id, "output": t.text})
			continue
		}
		if t.thinking != "" {
			input = append(input, msg{"type": "reasoning", "summary": []msg{{"type": "summary_text", "text": t.thinking}}})
		}
		if t.text != "" || len(t.calls) == 0 {
			m := msg{"type": "message", "role": t.role, "content": []msg{{"type": "input_text", "text": t.text}}}
			if i == len(turns)-1 && t.role == "assistant" {
				m["partial"] = true
			}
			input = append(input, m)
		}
		for _, c := range t.calls {
			input = append(input, msg{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Args})
		}
	}
	return msg{"model": "carryon-test-1", "stream": stream, "input": input}
}

type responsesItem struct {
	Type    string          `json:"type"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Summary []responsesText `json:"summary"`
	Content []responsesText `json:"content"`
}

type responsesText struct {
	Text string `json:"text"`
}

type response struct {
	ID     string          `json:"id"`
	Status string          `json:"status"`
	Output []responsesItem `json:"output"`
	Usage  *struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Error *struct {
		Code string `json:"code"`
	} `json:"error"`
}

// hearResponse reads a response as it is at its end.
func (r *reply) hearResponse(doc []byte) {
	var whole response
	if json.Unmarshal(doc, &whole) != nil {
		return // a test of broken documents looks at raw.
	}
	for _, i := range whole.Output {
		for _, s := range i.Summary {
			r.reasoning += s.Text
		}
		for _, c := range i.Content {
			r.text += c.Text
		}
		if i.Type == "function_call" {
			r.calls = append(r.calls, faultllm.ToolCall{ID: i.CallID, Name: i.Name, Args: i.Args})
		}
	}
	r.endResponse(whole)
}

func (r *reply) endResponse(end response) {
	r.finish = end.Status
	if end.Incomplete != nil {
		r.finish = end.Incomplete.Reason
	}
	if end.Error != nil {
		r.failure = end.Error.Code
	}
	if end.Usage != nil {
		r.usage = &usage{Prompt: end.Usage.Input, Completion: end.Usage.Output, Total: end.Usage.Total}
	}
}

// hearResponses reads one event of a stream.
func (r *reply) hearResponses(data []byte) {
	var e struct {
		Type     string        `json:"type"`
		Delta    string        `json:"delta"`
		Code     string        `json:"code"`
		Item     responsesItem `json:"item"`
		Response response      `json:"response"`
	}
	if string(data) == "[DONE]" {
		r.done = true
	}
	if json.Unmarshal(data, &e) != nil {
		return // a test of malformed frames looks at frames.
	}
	switch e.Type {
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			r.calls = append(r.calls, faultllm.ToolCall{ID: e.Item.CallID, Name: e.Item.Name})
		}
	case "response.output_text.delta":
		r.text += e.Delta
	case "response.reasoning_summary_text.delta":
		r.reasoning += e.Delta
	case "response.function_call_arguments.delta":
		r.calls[len(r.calls)-1].Args += e.Delta
	case "response.completed", "response.incomplete", "response.failed":
		r.endResponse(e.Response)
	case "error":
		r.failure = e.Code
	}
}
