package continuation

import "strings"

// agenticProfile returns the profile of an agentic client by its GetType. A thought goes back as the block that it was,
// in the form that the client itself wants.
func agenticProfile(typ string) profile {
	p := profile{typ: typ, resendsReasoning: resendUnsigned}
	name := strings.ToLower(typ)
	switch {
	case strings.Contains(name, "claude"):
		p.known, p.resendsReasoning = true, resendSigned
	case strings.Contains(name, "gemini"):
		p.known, p.wholeCalls = true, true
	}

	return p
}
