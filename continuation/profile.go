package continuation

// resend says whether a client sends the reasoning of an assistant message of the history back to its provider.
type resend int

const (
	resendNone     resend = iota // it does not, or the provider does not want it
	resendUnsigned               // it does, as it is
	resendSigned                 // it does, but only together with its signature
)

// reasonErrors says which unknown finish reasons are error messages.
type reasonErrors int

const (
	noReason   reasonErrors = iota // none
	freeText                       // those with a space in them
	anyUnknown                     // all
)

// profile is what is known of the clients of one type. It is never changed after it was made; the slice in it is
// shared with no one. The zero profile is that of a type that is not known.
type profile struct {
	// typ is the client's GetType; "" if it is not known.
	typ string
	// known says that every complete answer of this client has a finish reason: an end without one is an interruption.
	known bool
	// usageProvesEnd says that a usage record with tokens comes only at the end of a complete answer.
	usageProvesEnd bool
	// usageInEach says that each chunk reports the usage so far, also the first, where others count a token or none.
	usageInEach bool
	// reasoningKeys are the keys in Message.Extra, and in ToolCall.Extra, that hold reasoning text or signatures.
	reasoningKeys []string
	// resendsReasoning says how reasoning in the history reaches the provider.
	resendsReasoning resend
	// wholeCalls says that tool calls may come in one piece, after a silence as long as it took to write them.
	wholeCalls bool
	// continuesAssistant says that the provider is known to write on from a trailing assistant message.
	continuesAssistant bool
	// reasonIsError says which unknown finish reasons are error messages.
	reasonIsError reasonErrors
}

// Extra keys of the clients.
const (
	extraOpenAIRequestID   = "openai-request-id"
	extraOpenAIReasoning   = "reasoning-content"
	extraClaudeThinking    = "_eino_claude_thinking"
	extraClaudeSignature   = "_eino_claude_thinking_signature"
	extraGeminiSignature   = "gemini_thought_signature"
	extraDeepSeekReasoning = "_eino_deepseek_reasoning_content"
	extraOpenRouterDetails = "openrouter_reasoning_details"
	extraOpenRouterError   = "openrouter_terminated_error"
	extraArkRequestID      = "ark-request-id"
	extraArkModelName      = "ark-model-name"
	extraArkReasoning      = "ark-reasoning-content"
	extraArkContextID      = "ark-context-id"
	extraArkResponseID     = "ark-response-id"
)

// profileOf returns the profile of a client by its GetType.
func profileOf(typ string) profile {
	p := profile{typ: typ, known: true}

	switch typ {
	case "OpenAI", "Qwen":
		p.reasoningKeys = []string{extraOpenAIReasoning}
		p.resendsReasoning = resendUnsigned
	case "OpenRouter":
		p.reasoningKeys = []string{extraOpenAIReasoning, extraOpenRouterDetails}
		p.resendsReasoning = resendUnsigned
	case "DeepSeek":
		p.reasoningKeys = []string{extraDeepSeekReasoning}
		p.resendsReasoning = resendUnsigned
	case "Claude":
		p.reasoningKeys = []string{extraClaudeThinking, extraClaudeSignature}
		p.resendsReasoning = resendSigned
		p.wholeCalls = true
	case "Gemini":
		p.reasoningKeys = []string{extraGeminiSignature}
		p.wholeCalls, p.usageInEach = true, true
	case "Ollama":
		p.resendsReasoning = resendUnsigned
		p.usageProvesEnd, p.wholeCalls, p.continuesAssistant = true, true, true
	case "Ark":
		p.reasoningKeys = []string{extraArkReasoning}
		p.resendsReasoning = resendUnsigned
		p.reasonIsError = freeText
	case "ResponsesAPI":
		p.reasoningKeys = []string{extraArkReasoning}
		p.reasonIsError = anyUnknown
	default:
		return profile{}
	}

	return p
}

// profileByExtra returns the profile of the client that wrote extra, if its keys tell. The keys of a client that is
// built on another's are looked at first.
func profileByExtra(extra map[string]any) (profile, bool) {
	marks := []struct{ key, typ string }{
		{extraOpenRouterDetails, "OpenRouter"},
		{extraOpenRouterError, "OpenRouter"},
		{extraDeepSeekReasoning, "DeepSeek"},
		{extraClaudeThinking, "Claude"},
		{extraClaudeSignature, "Claude"},
		{extraGeminiSignature, "Gemini"},
		{extraArkContextID, "ResponsesAPI"},
		{extraArkResponseID, "ResponsesAPI"},
		{extraArkRequestID, "Ark"},
		{extraArkModelName, "Ark"},
		{extraArkReasoning, "Ark"},
		{extraOpenAIRequestID, "OpenAI"},
	}

	if len(extra) == 0 {
		return profile{}, false
	}

	for _, mark := range marks {
		if _, found := extra[mark.key]; found {
			return profileOf(mark.typ), true
		}
	}

	return profile{}, false
}

// terminatedError returns the error that the OpenRouter client leaves in a chunk's Extra when the provider broke off;
// nil if there is none. [DefaultClassifier] knows it.
func terminatedError(extra map[string]any) error {
	value, found := extra[extraOpenRouterError]
	if !found {
		return nil
	}

	code, message := codeAndMessage(value)

	return &inBandError{Code: code, Message: message}
}
