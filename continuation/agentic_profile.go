package continuation

import "strings"

// form is where a client says how its response ended.
type form int

const (
	formOther form = iota
	formOpenAI
	formClaude
	formGemini
)

// agenticForm returns the form of the clients of a type.
func agenticForm(typ string) form {
	name := strings.ToLower(typ)
	switch {
	case strings.Contains(name, "claude"):
		return formClaude
	case strings.Contains(name, "gemini"):
		return formGemini
	case strings.Contains(name, "openai"):
		return formOpenAI
	default:
		return formOther
	}
}

// agenticProfile returns the profile of an agentic client by its GetType. A thought goes back as the block that it was,
// since the client itself knows what its provider takes.
func agenticProfile(typ string) profile {
	p := profile{typ: typ, resendsReasoning: resendUnsigned}
	switch agenticForm(typ) {
	case formClaude:
		p.known, p.resendsReasoning = true, resendSigned
	case formGemini:
		p.known, p.wholeCalls = true, true
	case formOpenAI:
		p.known = true
	case formOther:
	}

	return p
}
