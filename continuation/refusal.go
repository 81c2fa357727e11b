package continuation

import (
	"context"

	"github.com/eino-carryon/carryon/callbacks"
)

// refused handles a request that the provider refuses for what this decorator added to it. It is sent once more without
// that, at once, and that is no interruption. Each addition is left out once in a call, so that this comes to an end; if
// the request is refused all the same, the first refusal is the one that is told.
func (c *call) refused(err error) bool {
	if !c.fresh || isEOF(err) || same(err, errNilReader) || c.classify(err).Kind != InvalidRequest {
		return false
	}
	switch {
	case c.request.exact && refusesPrefill(err):
		c.engine.learned.refusesPrefill.Store(true)
		c.switchDialect(err)
	case c.unthink(err):
	case c.request.exact:
		// Whatever the words: it differs from what was taken before by its end, or by how that is marked. To ask with a
		// user turn costs one request, and if that is taken as well it was the end.
		c.refuse(err)
		c.switchDialect(err)
	case c.request.hinted:
		c.engine.refuseHint(c.caller, c.emitter(), err)
		c.rebase()
	default:
		return false
	}
	c.outcome(notCounted(err))
	c.carry.reopen()
	c.prepare(c.budget.number)
	c.begin()

	return true
}

// refuse keeps the first refusal.
func (c *call) refuse(err error) {
	if c.refusal == nil {
		c.refusal = err
	}
}

// accepted takes note of a request that the provider has begun to answer.
func (c *call) accepted() {
	if c.switched {
		c.engine.learned.refusesPrefill.Store(true)
	}
	c.refusal = nil
}

// rebase makes the caller's own request anew, after something was learned.
func (c *call) rebase() {
	c.base = c.engine.baseRequest(c.asked)
	if c.thoughtless {
		c.base, _ = c.engine.speech.thoughtless(c.base)
	}
}

// switchDialect asks with a user turn from now on.
func (c *call) switchDialect(err error) {
	c.switched = true
	c.emit(callbacks.Notice{
		Call: c.source(), Kind: callbacks.NoticePrefillRefused, Message: callbacks.BoundMessage(err.Error()),
	})
}

// unthink leaves all reasoning out of the requests of this call, if the provider has refused one for that and it is not
// the caller's alone. What was wrong with one thought says nothing of the next one, so that nothing is learned of it.
func (c *call) unthink(err error) bool {
	if c.thoughtless || c.request.rewrite == rewriteUnchanged && !c.engine.speech.recovered(c.asked) || !refusesThought(err) {
		return false
	}
	if _, some := c.engine.speech.thoughtless(c.request); !some {
		return false
	}
	c.thoughtless = true
	c.refuse(err)
	c.rebase()
	c.engine.tellThought(c.caller, c.emitter(), err)

	return true
}

func (e *engine) tellThought(ctx context.Context, to *emitter, err error) {
	to.emit(ctx, callbacks.Notice{
		Call: to.source(), Kind: callbacks.NoticeThoughtRefused, Message: callbacks.BoundMessage(err.Error()),
	})
}

// refusesPrefill reports whether a provider says that a request must not end with an assistant message, or not so. There
// is no type for it. The words are those of Anthropic and of the servers that follow it, Gemini, DeepSeek, vLLM and
// Transformers, and Mistral.
func refusesPrefill(err error) bool {
	return speaksOf(err, "prefill", "must end with a user", "ends with a user role", "must be a user message",
		"expected last role user", "but found `text`", "the final block in an assistant message cannot be",
		"add_generation_prompt", "continue_final_message")
}

// refusesThought reports whether a provider says that it does not take the reasoning in a request: that it was changed,
// is not signed, or does not belong there. One that wants more of it does not.
func refusesThought(err error) bool {
	return speaksOf(err, "thinking", "redacted_thinking", "signature", "thought_signature", "thoughtsignature",
		"reasoning", "reasoning_content", "reasoning_details") &&
		!speaksOf(err, "must be passed back", "missing", "but found `text`", "must start with a thinking block", "budget_tokens")
}
