package faultllm

import "slices"

// geminiValidator walks over the turns of a request.
type geminiValidator struct {
	gemini
	last    string // the role of the turn before
	calls   int    // calls of the turn before, which wait for their results
	results bool   // the turn before was results
}

// validate refuses what the vendor refuses. The texts are its own, as public bug reports quote them.
func (w gemini) validate(in geminiRequest) *refusal {
	if len(in.Contents) == 0 {
		return w.invalid("* GenerateContentRequest.contents: contents is not specified\n")
	}
	v := geminiValidator{gemini: w}
	for i, c := range in.Contents {
		if refused := v.turn(i, c); refused != nil {
			return refused
		}
	}
	if v.calls > 0 {
		return v.count()
	}
	if v.last == "model" && w.rules.noPrefill {
		return w.invalid("Please ensure that multiturn requests ends with a user role or a function response.")
	}
	return w.currentTurn(in.Contents)
}

func (v *geminiValidator) turn(i int, c geminiIncoming) *refusal {
	if c.Role != "" && c.Role != roleUser && c.Role != "model" {
		return v.invalid("Please use a valid role: user, model.")
	}
	if len(c.Parts) == 0 {
		return v.invalid("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", i)
	}
	calls, results := 0, 0
	for j, p := range c.Parts {
		switch {
		case p.Call != nil:
			calls++
		case p.Result != nil:
			results++
		case p.Text == nil && absent(p.InlineData) && absent(p.FileData):
			return v.invalid("* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have "+
				"one initialized field\n", i, j)
		}
	}
	if v.rules.strict && c.Role == v.last {
		return v.invalid("Please ensure that multiturn requests alternate between user and model.")
	}
	if refused := v.order(c.Role, calls, results); refused != nil {
		return refused
	}
	v.last, v.calls, v.results = c.Role, calls, results > 0
	return v.signatures(c)
}

// order refuses calls and results that do not follow each other.
func (v *geminiValidator) order(role string, calls, results int) *refusal {
	switch {
	case results > 0 && v.calls == 0:
		return v.invalid("Please ensure that function response turn comes immediately after a function call turn.")
	case results != v.calls:
		return v.count()
	case calls > 0 && (v.last != roleUser || role != "model"):
		return v.invalid("Please ensure that function call turn comes immediately after a user turn or after a function " +
			"response turn.")
	}
	return nil
}

func (v *geminiValidator) count() *refusal {
	return v.invalid("Please ensure that the number of function response parts is equal to the number of function call " +
		"parts of the function call turn.")
}

// signatures refuses those that do not belong to their call, or to what was thought.
func (v *geminiValidator) signatures(c geminiIncoming) *refusal {
	thought := c.thought()
	for _, p := range c.Parts {
		good := true
		switch {
		case p.Signature == "":
		case p.Call != nil:
			good = sameSignature(p.Signature, SignCall(p.Call.Name, string(p.Call.Args)))
		case thought != "":
			good = sameSignature(p.Signature, Sign(thought))
		default:
			good = v.rules.script.signed(p.Signature)
		}
		if !good {
			return v.invalid("Corrupted thought signature.")
		}
	}
	return nil
}

// currentTurn refuses calls without the signature that they were given, behind the last message of the user.
func (w gemini) currentTurn(contents []geminiIncoming) *refusal {
	for _, c := range slices.Backward(contents) {
		if c.Role != "model" {
			if c.Parts[0].Result == nil {
				return nil
			}
			continue
		}
		for j, p := range c.Parts {
			if p.Call == nil {
				continue
			}
			call := ToolCall{Name: p.Call.Name, Args: string(p.Call.Args)}
			if p.Signature == "" && w.rules.script.thinksBefore(call) {
				return w.invalid("Function call is missing a thought_signature in functionCall parts. This is required for "+
					"tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional "+
					"data, function call `default_api:%s`, position %d. Please refer to "+
					"https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", p.Call.Name, j+1)
			}
			break // only the first one is signed.
		}
	}
	return nil
}
