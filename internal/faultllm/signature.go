package faultllm

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// Sign returns the signature that this provider gives to what was thought: a keyed hash of it, so that a request with a
// signature that does not belong to its thinking can be refused. It is the base64 text that [Anthropic] sends with a
// thinking block, [OpenRouter] with its reasoning details, and [Gemini] with the last part of an answer.
func Sign(thinking string) string { return sign("thinking", thinking) }

// SignCall returns the signature that [Gemini] gives to the first call of an answer. It does not depend on how the
// arguments are spaced.
func SignCall(name, args string) string { return sign("call", name+"\x00"+canonical(args)) }

func sign(kind, text string) string {
	h := hmac.New(sha256.New, []byte("an invented key"))
	h.Write([]byte(kind + "\x00" + text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// canonical returns JSON in its shortest form with sorted keys; what is no JSON stays as it is.
func canonical(doc string) string {
	if doc == "" {
		return "{}"
	}
	var v any
	if json.Unmarshal([]byte(doc), &v) != nil {
		return doc
	}
	return string(marshal(v))
}

// thinksBefore says whether the answer that makes this call thinks.
func (s Script) thinksBefore(call ToolCall) bool {
	for _, t := range s {
		for _, c := range t.Answer.ToolCalls() {
			same := c.Name == call.Name && canonical(c.Args) == canonical(call.Args)
			if call.ID != "" {
				same = c.ID == call.ID
			}
			if same {
				return t.Answer.Reasoning() != ""
			}
		}
	}
	return false
}

// signed says whether the signature was given to the thinking of some answer.
func (s Script) signed(signature string) bool {
	for _, t := range s {
		if r := t.Answer.Reasoning(); r != "" && Sign(r) == signature {
			return true
		}
	}
	return false
}
