package faultllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// ollama is the wire of /api/chat. Its form is that of "Generate a chat completion" in Ollama's docs/api.md, and of its
// docs on thinking and on tool calling.
type ollama struct{ rules rules }

func (ollama) key(r *http.Request) string { return bearer(r) }

func (ollama) encoder(r Request, _ int) encoder {
	return &ollamaEncoder{model: r.Model, created: time.Now().UTC()}
}

type ollamaEncoder struct {
	model   string
	created time.Time
}

type ollamaResponse struct {
	Model   string        `json:"model"`
	Created time.Time     `json:"created_at"`
	Message ollamaMessage `json:"message"`
	Done    bool          `json:"done"`
	Reason  string        `json:"done_reason,omitempty"`
	*ollamaMetrics
}

type ollamaMessage struct {
	Role     string       `json:"role"`
	Content  string       `json:"content"`
	Thinking string       `json:"thinking,omitempty"`
	Calls    []ollamaCall `json:"tool_calls,omitempty"`
}

type ollamaCall struct {
	Function ollamaFunction `json:"function"`
}

type ollamaFunction struct {
	Index int             `json:"index,omitempty"`
	Name  string          `json:"name"`
	Args  json.RawMessage `json:"arguments"`
}

// ollamaMetrics comes with the last line. Times are in nanoseconds.
type ollamaMetrics struct {
	Total      int `json:"total_duration"`
	Load       int `json:"load_duration"`
	Prompt     int `json:"prompt_eval_count"`
	PromptTime int `json:"prompt_eval_duration"`
	Eval       int `json:"eval_count"`
	EvalTime   int `json:"eval_duration"`
}

func (*ollamaEncoder) contentType() string { return "application/x-ndjson" }

// events makes calls whole, and puts the finish reason and the usage into the last line.
func (*ollamaEncoder) events(said []event) []event {
	var out []event
	finish := ""
	for _, ev := range wholeCalls(said) {
		switch ev.kind {
		case eventFinish:
			finish = ev.finish
		case eventDone:
			out = append(out, event{kind: eventFinish, finish: finish, usage: ev.usage})
		case eventRole, eventUsage:
		default:
			out = append(out, ev)
		}
	}
	return out
}

func ollamaFinish(reason string) string {
	if reason == "tool_calls" {
		return "stop"
	}
	return reason
}

func (e *ollamaEncoder) line(ev event) ollamaResponse {
	r := ollamaResponse{Model: e.model, Created: e.created, Message: ollamaMessage{Role: roleAssistant}}
	switch ev.kind {
	case eventReasoning:
		r.Message.Thinking = ev.text
	case eventText:
		r.Message.Content = ev.text
	case eventCall:
		args := json.RawMessage(ev.text)
		if !json.Valid(args) {
			args = json.RawMessage("{}") // a call cut by the limit, or without arguments.
		}
		call := ollamaCall{Function: ollamaFunction{Index: ev.call, Name: ev.name, Args: args}}
		r.Message.Calls = []ollamaCall{call}
	case eventFinish:
		const each = 1_000_000
		r.Done, r.Reason = true, ollamaFinish(ev.finish)
		r.ollamaMetrics = &ollamaMetrics{
			Total: each * (2 + ev.usage.prompt + ev.usage.completion), Load: each,
			Prompt: ev.usage.prompt, PromptTime: each * (1 + ev.usage.prompt),
			Eval: ev.usage.completion, EvalTime: each * ev.usage.completion,
		}
	default: // a line without anything.
	}
	return r
}

func (e *ollamaEncoder) frame(ev event) []byte { return append(marshal(e.line(ev)), '\n') }

func (e *ollamaEncoder) malformed(ev event) []byte {
	doc := marshal(e.line(ev))
	return append(doc[:len(doc)/2], '\n')
}

// keepAlive is a line with an empty text: this wire has neither comments nor pings.
func (e *ollamaEncoder) keepAlive() []byte { return e.frame(event{kind: eventPing}) }

func (*ollamaEncoder) failure(f failure) []byte {
	return append(marshal(ollamaFailure{Error: f.message}), '\n')
}

func (e *ollamaEncoder) whole(said []event) []byte {
	var text, thinking strings.Builder
	var calls []ollamaCall
	var end ollamaResponse
	for _, ev := range e.events(said) {
		l := e.line(ev)
		text.WriteString(l.Message.Content)
		thinking.WriteString(l.Message.Thinking)
		calls = append(calls, l.Message.Calls...)
		end = l
	}
	end.Message = ollamaMessage{Role: roleAssistant, Content: text.String(), Thinking: thinking.String(), Calls: calls}
	return marshal(end)
}

type ollamaFailure struct {
	Error string `json:"error"`
}

func (ollama) refusalBody(r refusal) string { return string(marshal(ollamaFailure{Error: r.message})) }

// problem has no types: an error of Ollama is its text.
func (ollama) problem(code int) refusal {
	r := refusal{status: code, message: strings.ToLower(http.StatusText(code))}
	switch code {
	case http.StatusNotFound:
		r.message = `model "carryon-test" not found, try pulling it first`
	case http.StatusInternalServerError:
		r.message = "llama runner process has terminated: exit status 2"
	case http.StatusServiceUnavailable, statusOverloaded:
		r.message = "server busy, please try again.  maximum pending requests exceeded"
	}
	return r
}

func (w ollama) invalid(format string, args ...any) *refusal {
	r := w.problem(http.StatusBadRequest)
	r.message = fmt.Sprintf(format, args...)
	return &r
}
