package snapshot

import "github.com/cloudwego/eino/schema"

// Usage counts the tokens of one attempt, or of several that make one answer.
// The zero Usage is the unknown one: no provider reported anything, which is not the same as zero tokens.
//
// Most providers report at the end of an attempt, which never comes when it breaks. How many attempts are missing is told
// by Unreported. If it is not zero, Completion and Reasoning are the least that it was. Prompt of several attempts that
// make one answer may then be that of a later request, which is larger than the original one by the answer's first part.
type Usage struct {
	Known      bool // a provider reported at least one record
	Prompt     int  // tokens of the request
	Cached     int  // the part of Prompt that a cache served
	Completion int  // tokens of the answer, reasoning included where the provider counts it so
	Reasoning  int  // the part of Completion that was reasoning
	Total      int  // as the provider reported it
	Unreported int  // attempts that ended before they had reported all that they used
}

// UsageOf copies a provider's record. A nil record, or one without a single token (some clients attach an empty
// record to every chunk), is the unknown Usage.
func UsageOf(u *schema.TokenUsage) Usage {
	if u == nil || *u == (schema.TokenUsage{}) {
		return Usage{}
	}

	return Usage{
		Known:      true,
		Prompt:     u.PromptTokens,
		Cached:     u.PromptTokenDetails.CachedTokens,
		Completion: u.CompletionTokens,
		Reasoning:  u.CompletionTokensDetails.ReasoningTokens,
		Total:      u.TotalTokens,
	}
}

// TokenUsage returns u as Eino's record; nil if u is unknown.
func (u Usage) TokenUsage() *schema.TokenUsage {
	if !u.Known {
		return nil
	}

	return &schema.TokenUsage{
		PromptTokens:            u.Prompt,
		PromptTokenDetails:      schema.PromptTokenDetails{CachedTokens: u.Cached},
		CompletionTokens:        u.Completion,
		TotalTokens:             u.Total,
		CompletionTokensDetails: schema.CompletionTokensDetails{ReasoningTokens: u.Reasoning},
	}
}

// Max merges two records of one attempt. Providers repeat cumulative records, so each field keeps its largest value;
// Eino concatenates the records of one message in the same way.
func (u Usage) Max(v Usage) Usage {
	return Usage{
		Known:      u.Known || v.Known,
		Prompt:     max(u.Prompt, v.Prompt),
		Cached:     max(u.Cached, v.Cached),
		Completion: max(u.Completion, v.Completion),
		Reasoning:  max(u.Reasoning, v.Reasoning),
		Total:      max(u.Total, v.Total),
		Unreported: max(u.Unreported, v.Unreported),
	}
}

// Then returns the usage of one answer made by the attempts u and, later, v: the prompt is that of the earliest attempt
// that reported one, since later requests repeat it together with the answer's first part; completions add up.
// The total is their sum, which Eino's summarization reads as the size of the context.
func (u Usage) Then(v Usage) Usage {
	w := Usage{
		Known:      u.Known || v.Known,
		Prompt:     u.Prompt,
		Cached:     u.Cached,
		Completion: u.Completion + v.Completion,
		Reasoning:  u.Reasoning + v.Reasoning,
		Unreported: u.Unreported + v.Unreported,
	}
	if w.Prompt == 0 {
		w.Prompt, w.Cached = v.Prompt, v.Cached
	}
	w.Total = w.Prompt + w.Completion

	return w
}

// Plus returns what u and v were billed together.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Known:      u.Known || v.Known,
		Prompt:     u.Prompt + v.Prompt,
		Cached:     u.Cached + v.Cached,
		Completion: u.Completion + v.Completion,
		Reasoning:  u.Reasoning + v.Reasoning,
		Total:      u.Total + v.Total,
		Unreported: u.Unreported + v.Unreported,
	}
}
