package continuation

import (
	"errors"
	"reflect"
	"testing"
)

func TestProfileOf(t *testing.T) {
	t.Parallel()

	want := map[string]profile{
		"OpenAI": {
			known: true, reasoningKeys: []string{"reasoning-content"}, resendsReasoning: resendUnsigned,
		},
		"Qwen": {
			known: true, reasoningKeys: []string{"reasoning-content"}, resendsReasoning: resendUnsigned,
		},
		"OpenRouter": {
			known: true, reasoningKeys: []string{"reasoning-content", "openrouter_reasoning_details"},
			resendsReasoning: resendUnsigned,
		},
		"DeepSeek": {
			known: true, reasoningKeys: []string{"_eino_deepseek_reasoning_content"}, resendsReasoning: resendUnsigned,
		},
		"Claude": {
			known: true, reasoningKeys: []string{"_eino_claude_thinking", "_eino_claude_thinking_signature"},
			resendsReasoning: resendSigned, wholeCalls: true,
		},
		"Gemini": {known: true, reasoningKeys: []string{"gemini_thought_signature"}, wholeCalls: true, usageInEach: true},
		"Ollama": {
			known: true, usageProvesEnd: true, resendsReasoning: resendUnsigned, wholeCalls: true,
			continuesAssistant: true,
		},
		"Ark": {
			known: true, reasoningKeys: []string{"ark-reasoning-content"}, resendsReasoning: resendUnsigned,
			reasonIsError: freeText,
		},
		"ResponsesAPI": {
			known: true, reasoningKeys: []string{"ark-reasoning-content"}, reasonIsError: anyUnknown,
		},
	}

	for typ, p := range want {
		p.typ = typ
		if got := profileOf(typ); !reflect.DeepEqual(got, p) {
			t.Errorf("profileOf(%q) = %+v, want %+v", typ, got, p)
		}
	}

	for _, typ := range []string{"", "Mine", "openai"} {
		if got := profileOf(typ); !reflect.DeepEqual(got, profile{}) {
			t.Errorf("profileOf(%q) = %+v, want the unknown one", typ, got)
		}
	}
}

func TestProfileByExtra(t *testing.T) {
	t.Parallel()

	tests := []struct {
		keys []string
		want string
	}{
		{nil, ""},
		{[]string{"mine"}, ""},
		{[]string{"openai-request-id"}, "OpenAI"},
		{[]string{"openai-request-id", "reasoning-content"}, "OpenAI"},
		{[]string{"openai-request-id", "openrouter_reasoning_details"}, "OpenRouter"},
		{[]string{"openai-request-id", "openrouter_terminated_error"}, "OpenRouter"},
		{[]string{"_eino_deepseek_reasoning_content"}, "DeepSeek"},
		{[]string{"_eino_claude_thinking"}, "Claude"},
		{[]string{"_eino_claude_thinking_signature"}, "Claude"},
		{[]string{"gemini_thought_signature"}, "Gemini"},
		{[]string{"ark-request-id"}, "Ark"},
		{[]string{"ark-model-name"}, "Ark"},
		{[]string{"ark-reasoning-content"}, "Ark"},
		{[]string{"ark-request-id", "ark-context-id"}, "ResponsesAPI"},
		{[]string{"ark-request-id", "ark-response-id"}, "ResponsesAPI"},
	}

	for _, test := range tests {
		extra := map[string]any{}
		for _, key := range test.keys {
			extra[key] = "x"
		}

		got, found := profileByExtra(extra)
		if got.typ != test.want || found != (test.want != "") {
			t.Errorf("profileByExtra(%v) = %q, %v, want %q", test.keys, got.typ, found, test.want)
		}
	}

	if _, found := profileByExtra(nil); found {
		t.Error("a nil map tells a profile")
	}
}

func TestTerminatedError(t *testing.T) {
	t.Parallel()

	if err := terminatedError(map[string]any{"mine": 1}); err != nil {
		t.Errorf("an error from nothing: %v", err)
	}

	type terminated struct{ Code, Message string }

	tests := []struct {
		value any
		want  Kind
		code  string
	}{
		{&terminated{"502", "Provider disconnected"}, Transient, "502"},
		{terminated{"rate_limit_exceeded", "slow down"}, RateLimited, "rate_limit_exceeded"},
		{map[string]any{"code": float64(503), "message": "busy"}, Overloaded, "503"},
		{&struct{ Code any }{401}, Unauthorized, "401"},
		{&terminated{"server_error", "boom"}, Transient, "server_error"},
		{&terminated{"odd", "boom"}, Unknown, "odd"},
		{(*terminated)(nil), Transient, ""},
		{nil, Transient, ""},
		{[]int{1}, Transient, ""},
	}

	for _, test := range tests {
		err := terminatedError(map[string]any{"openrouter_terminated_error": test.value})

		var inBand *inBandError
		if !errors.As(err, &inBand) || inBand.Code != test.code {
			t.Errorf("%v: got %#v", test.value, err)
		}

		got := DefaultClassifier(err)
		if got.Kind != test.want || got.ErrorKind != "provider_error" {
			t.Errorf("%v: got %+v, want %s", test.value, got, test.want)
		}
	}
}
