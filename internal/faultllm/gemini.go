package faultllm

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini is the wire of generateContent. Its form is that of "Generating content" in the Gemini API reference, of
// "Gemini thinking" and of "Thought Signatures" in the Gemini docs.
type gemini struct{ rules rules }

func (gemini) key(r *http.Request) string {
	if key := r.Header.Get("X-Goog-Api-Key"); key != "" {
		return key
	}
	return r.URL.Query().Get("key")
}

func (gemini) encoder(r Request, n int) encoder {
	return &geminiEncoder{id: fmt.Sprintf("test%06d", n), model: r.Model, usage: usage{prompt: PromptTokens(r)}}
}

type geminiEncoder struct {
	id    string
	model string
	usage usage // so far
}

type geminiResponse struct {
	Candidates []geminiCandidate `json:"candidates,omitempty"`
	Feedback   *geminiFeedback   `json:"promptFeedback,omitempty"`
	Usage      geminiUsage       `json:"usageMetadata"`
	Model      string            `json:"modelVersion"`
	ID         string            `json:"responseId"`
}

type geminiCandidate struct {
	Content geminiContent `json:"content"`
	Finish  string        `json:"finishReason,omitempty"`
	Index   int           `json:"index"`
}

type geminiFeedback struct {
	BlockReason string `json:"blockReason"`
}

type geminiContent struct {
	Parts []geminiPart `json:"parts"`
	Role  string       `json:"role"`
}

type geminiPart struct {
	Text      *string     `json:"text,omitempty"`
	Thought   bool        `json:"thought,omitempty"`
	Call      *geminiCall `json:"functionCall,omitempty"`
	Signature string      `json:"thoughtSignature,omitempty"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"`
	Candidates int `json:"candidatesTokenCount,omitempty"`
	Total      int `json:"totalTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount,omitempty"`
}

func geminiFinish(reason string) string {
	switch reason {
	case "stop", "tool_calls":
		return "STOP"
	case "length":
		return "MAX_TOKENS"
	}
	return reason
}

func (*geminiEncoder) contentType() string { return "text/event-stream" }

// events makes calls whole. The first call of an answer that thinks is signed, also in a continuation; without a call, the last part is: an
// empty text that comes with the finish reason.
func (e *geminiEncoder) events(said []event) []event {
	var out []event
	thought, thinks, called, finish := "", false, false, ""
	for _, ev := range wholeCalls(said) {
		switch ev.kind {
		case eventReasoning:
			thought += ev.text
		case eventCall:
			if !called && thinks {
				ev.signature = SignCall(ev.name, ev.text)
			}
			called = true
		case eventFinish:
			finish = ev.finish
			continue
		case eventDone:
			end := event{kind: eventFinish, finish: finish, usage: ev.usage}
			if !called && thought != "" {
				end.signature = Sign(thought)
			}
			out = append(out, end)
			continue
		case eventRole:
			thinks = ev.thinks
			continue
		case eventUsage:
			continue
		default:
		}
		out = append(out, ev)
	}
	return out
}

func (e *geminiEncoder) part(ev event) geminiPart {
	switch ev.kind {
	case eventReasoning:
		return geminiPart{Text: &ev.text, Thought: true}
	case eventCall:
		args := json.RawMessage(ev.text)
		if !json.Valid(args) {
			args = json.RawMessage("{}") // a call cut by the limit, or without arguments.
		}
		return geminiPart{Call: &geminiCall{Name: ev.name, Args: args}, Signature: ev.signature}
	default:
		return geminiPart{Text: &ev.text, Signature: ev.signature}
	}
}

func (e *geminiEncoder) response(ev event, parts ...geminiPart) geminiResponse {
	n := ev.tokens()
	e.usage.completion += n
	if ev.kind == eventReasoning {
		e.usage.reasoning += n
	}
	c := geminiCandidate{Content: geminiContent{Parts: parts, Role: "model"}, Finish: geminiFinish(ev.finish)}
	return geminiResponse{
		Candidates: []geminiCandidate{c}, Usage: e.usageSoFar(), Model: e.model, ID: e.id,
	}
}

func (e *geminiEncoder) usageSoFar() geminiUsage {
	u := e.usage
	return geminiUsage{
		Prompt: u.prompt, Candidates: u.completion - u.reasoning, Total: u.prompt + u.completion, Thoughts: u.reasoning,
	}
}

func (e *geminiEncoder) frame(ev event) []byte { return geminiSSE(marshal(e.response(ev, e.part(ev)))) }

func (e *geminiEncoder) malformed(ev event) []byte {
	doc := marshal(e.response(ev, e.part(ev)))
	return geminiSSE(doc[:len(doc)/2])
}

// keepAlive is a chunk with an empty text: this wire has neither comments nor pings.
func (e *geminiEncoder) keepAlive() []byte {
	ping := event{kind: eventPing}
	return geminiSSE(marshal(e.response(ping, e.part(ping))))
}

func (e *geminiEncoder) whole(said []event) []byte {
	var parts []geminiPart
	var end event
	for _, ev := range e.events(said) {
		p := e.part(ev)
		last := len(parts) - 1
		switch {
		case ev.kind == eventFinish:
			if last >= 0 && parts[last].Call == nil {
				parts[last].Signature = ev.signature
			}
			end = ev
			continue
		case last >= 0 && p.Text != nil && parts[last].Text != nil && p.Thought == parts[last].Thought:
			parts[last].Text = new(*parts[last].Text + *p.Text)
		default:
			parts = append(parts, p)
		}
		e.response(ev) // counts its tokens.
	}
	return indent(marshal(e.response(end, parts...)))
}

func geminiSSE(doc []byte) []byte { return fmt.Appendf(nil, "data: %s\r\n\r\n", doc) }

// geminiModel returns the model of a path, and whether its answer is streamed.
func geminiModel(path string) (name string, stream, known bool) {
	rest, known := strings.CutPrefix(path, "/v1beta/models/")
	name, method, _ := strings.Cut(rest, ":")
	switch method {
	case "generateContent":
		return name, false, known && name != ""
	case "streamGenerateContent":
		return name, true, known && name != ""
	}
	return "", false, false
}

// sameSignature compares base64 texts of different alphabets and padding.
func sameSignature(a, b string) bool {
	return string(signatureBytes(a)) == string(signatureBytes(b))
}

func signatureBytes(s string) []byte {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return []byte("invalid: " + s)
	}
	return b
}
