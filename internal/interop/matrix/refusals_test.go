package matrix

import (
	"fmt"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// asked is the wait that refusals ask for.
const asked = 7 * time.Second

// retryForms are the ways to ask for it. They are made when they are needed, as one of them is a date.
func retryForms() []retryForm {
	return []retryForm{
		{"seconds", func() faultllm.RetryAfter { return faultllm.RetryAfterSeconds(int(asked / time.Second)) }},
		{"date", func() faultllm.RetryAfter { return faultllm.RetryAfterDate(time.Now().Add(asked)) }},
		{"milliseconds", func() faultllm.RetryAfter { return faultllm.RetryAfterMillis(int(asked / time.Millisecond)) }},
	}
}

type retryForm struct {
	name string
	make func() faultllm.RetryAfter
}

// statusFaults refuse the first request, and ask for no wait.
func statusFaults() []fault {
	var all []fault
	for _, code := range []int{400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529} {
		all = append(all, fault{
			name: fmt.Sprintf("status %d", code), once: true, permanent: code < 429 && code != 408 && code != 409,
			at: func(faultllm.Position) faultllm.Fault { return faultllm.Refuse(code, faultllm.RetryAfter{}) },
		})
	}
	for name, body := range map[string]string{"no body": "", "a page": "<html><body>Bad gateway</body></html>"} {
		all = append(all, fault{name: "status 503, " + name, once: true, at: func(faultllm.Position) faultllm.Fault {
			return faultllm.Status(503, faultllm.RetryAfter{}, body)
		}})
	}

	return all
}

// waitFaults say when to come back, before the first byte and to the continuation of what broke.
func waitFaults() []fault {
	var all []fault
	for _, code := range []int{429, 500, 502, 503, 504, 529} {
		for _, f := range retryForms() {
			all = append(all, fault{
				name: fmt.Sprintf("status %d, Retry-After in %s", code, f.name), once: true, slow: true, wait: asked,
				at: func(faultllm.Position) faultllm.Fault { return faultllm.Refuse(code, f.make()) },
			})
		}
	}
	for _, f := range retryForms() {
		all = append(all, fault{
			name: "cut, then status 429, Retry-After in " + f.name, slow: true, wait: asked, at: faultllm.CutChunked,
			next: func() faultllm.Fault { return faultllm.Refuse(429, f.make()) },
		})
	}

	return append(all, fault{
		name: "status 429, Retry-After that says nothing", once: true,
		at: func(faultllm.Position) faultllm.Fault { return faultllm.Refuse(429, faultllm.RetryAfterText("soon")) },
	}, fault{
		name: "cut, then status 529", at: faultllm.CutChunked,
		next: func() faultllm.Fault { return faultllm.Refuse(529, faultllm.RetryAfter{}) },
	})
}

// refusalFaults are requests that the provider does not take as they are: the caller's own, or the one that goes on.
func refusalFaults() []fault {
	return []fault{
		{
			name: "invalid history", once: true, permanent: true, ask: invalid,
			at: func(faultllm.Position) faultllm.Fault { return faultllm.None() },
		},
		{
			name: "cut, then status 400", at: faultllm.CutChunked, refuses: true,
			next: func() faultllm.Fault { return faultllm.Refuse(400, faultllm.RetryAfter{}) },
		},
		{name: "cut, then prefill refused", at: faultllm.CutChunked, noPrefill: true},
	}
}

// invalid is a conversation that the vendor refuses and its client does not: a call without its result. Ollama minds
// nothing but a role that it does not know.
func invalid(v faultllm.Vendor) []*schema.Message {
	if v == faultllm.Ollama {
		return append(rig.Question(), &schema.Message{Role: "critic", Content: "That is no question."})
	}

	return append(rig.Question(), &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{
		{ID: "call_0", Type: "function", Function: schema.FunctionCall{Name: "lookup", Arguments: "{}"}},
	}}, schema.UserMessage("And now?"))
}
