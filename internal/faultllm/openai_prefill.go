package faultllm

import "net/http"

// deepseekBeta is the path at which DeepSeek continues a message that is marked as a prefix.
const deepseekBeta = "/beta/chat/completions"

// marked says whether the last message carries the mark with which the vendor continues it: prefix of DeepSeek ("Chat
// prefix completion") and Mistral, partial of Qwen and Kimi ("Partial mode"), continue_final_message of vLLM.
func (w openai) marked(r *http.Request, last openaiIncoming, in openaiRequest) bool {
	if last.Role != roleAssistant {
		return false
	}
	switch w.vendor {
	case DeepSeek:
		return last.Prefix && r.URL.Path == deepseekBeta
	case Qwen:
		return last.Partial
	case OpenAI, OpenRouter, Ark, Anthropic, Gemini, Ollama, ArkResponses:
	}
	return last.Prefix || last.Partial || in.ContinueFinal
}

const noPrefillText = "This model does not support assistant message prefill. The conversation must end with a user message."

// refusePrefill refuses a trailing assistant message where the vendor does not continue it.
func (w openai) refusePrefill(r Request, in openaiRequest) *refusal {
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != roleAssistant {
		return nil
	}
	switch {
	case w.vendor == DeepSeek && (!r.Marked || w.rules.noPrefill):
		return badRequest("", "", "The last message of deepseek-reasoner must be a user message, or an assistant message "+
			"with prefix mode on (refer to https://api-docs.deepseek.com/guides/chat_prefix_completion).")
	case w.vendor == Qwen && (w.rules.noPrefill || r.Marked && in.EnableThinking):
		return badRequest("", "", "Assistant response prefill is incompatible with enable_thinking.")
	case w.rules.strict && !r.Marked:
		return badRequest("", orderCode,
			"Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant")
	case w.rules.noPrefill:
		return &refusal{
			status: http.StatusBadRequest, errType: invalidRequest, message: noPrefillText, never: true,
		}
	}
	return nil
}
