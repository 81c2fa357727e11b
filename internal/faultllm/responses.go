package faultllm

import (
	"fmt"
	"net/http"
	"time"
)

// responses is the wire of responses, as Ark speaks it. Its form is that of "Create a model response" and "The response
// object" in Volcengine's documentation of Ark.
type responses struct{ rules rules }

func (responses) key(r *http.Request) string { return bearer(r) }

func (responses) encoder(r Request, n int) encoder {
	return &responsesEncoder{response: responsesObject{
		ID: responseID(n), Object: "response", Created: time.Now().Unix(), Model: r.Model, Previous: optional(r.Previous),
		Status: "in_progress",
	}, n: n, prompt: PromptTokens(r)}
}

type responsesEncoder struct {
	response responsesObject // as it began
	n        int             // of the request
	prompt   int             // tokens
	seq      int             // of the latest frame
	output   []responsesItem // of the whole answer
}

type responsesObject struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	Created    int64             `json:"created_at"`
	Model      string            `json:"model"`
	Previous   *string           `json:"previous_response_id,omitempty"`
	Status     string            `json:"status"`
	Error      *responsesProblem `json:"error,omitempty"`
	Incomplete *responsesReason  `json:"incomplete_details,omitempty"`
	Output     []responsesItem   `json:"output,omitempty"`
	Usage      *responsesUsage   `json:"usage,omitempty"`
}

type responsesProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type responsesReason struct {
	Reason string `json:"reason"`
}

// responsesItem is an item of the output: what was thought, a message, or a call.
type responsesItem struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Role    string          `json:"role,omitempty"`
	Content []responsesPart `json:"content,omitempty"`
	Summary []responsesPart `json:"summary,omitempty"`
	CallID  string          `json:"call_id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Args    *string         `json:"arguments,omitempty"`
}

type responsesPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type responsesUsage struct {
	Input         int                   `json:"input_tokens"`
	Output        int                   `json:"output_tokens"`
	Total         int                   `json:"total_tokens"`
	InputDetails  responsesInputDetail  `json:"input_tokens_details"`
	OutputDetails responsesOutputDetail `json:"output_tokens_details"`
}

type responsesInputDetail struct {
	Cached int `json:"cached_tokens"`
}

type responsesOutputDetail struct {
	Reasoning int `json:"reasoning_tokens"`
}

func toResponsesUsage(u usage) *responsesUsage {
	return &responsesUsage{
		Input: u.prompt, Output: u.completion, Total: u.prompt + u.completion,
		OutputDetails: responsesOutputDetail{Reasoning: u.reasoning},
	}
}

// ends returns the response as it is at its end, and the name of the event that tells it. What is neither whole nor at
// its limit is told as incomplete too, for the reason that the script gives.
func (e *responsesEncoder) ends(ev event) (name string, r responsesObject) {
	r = e.response
	r.Usage, r.Status, r.Output = toResponsesUsage(ev.usage), "completed", e.output
	if ev.finish != "stop" && ev.finish != "tool_calls" {
		r.Status, r.Incomplete = "incomplete", &responsesReason{Reason: ev.finish}
	}
	return "response." + r.Status, r
}

// item returns an item as it is when it begins, or when it has ended.
func (e *responsesEncoder) item(ev event, status string) responsesItem {
	i := responsesItem{ID: ev.item, Status: status}
	done := status == "completed"
	switch ev.of {
	case eventReasoning:
		i.Type = "reasoning"
		if done {
			i.Summary = []responsesPart{{Type: "summary_text", Text: ev.whole}}
		}
	case eventCall:
		i.Type, i.CallID, i.Name, i.Args = "function_call", ev.id, ev.name, &ev.whole
	default:
		i.Type, i.Role = "message", roleAssistant
		if done {
			i.Content = []responsesPart{{Type: "output_text", Text: ev.whole}}
		}
	}
	return i
}

func (e *responsesEncoder) whole(said []event) []byte {
	var end event
	for _, ev := range e.events(said) {
		if ev.kind == eventFinish {
			end = ev
		}
	}
	_, r := e.ends(end)
	return marshal(r)
}

func (e *responsesEncoder) itemID(of eventKind, block int) string {
	prefix := map[eventKind]string{eventReasoning: "rs", eventCall: "fc"}[of]
	if prefix == "" {
		prefix = "msg"
	}
	return fmt.Sprintf("%s_test%06d_%d", prefix, e.n, block)
}
