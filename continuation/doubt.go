package continuation

// An answer that ended cleanly but without a finish reason, of a model that may never send one, is no failure of its
// provider until a probe has shown that it was cut. Until then its slot of the circuit breaker is in doubt.

// doubts keeps the slot of the attempt whose end a probe will ask about.
func (c *call) doubts() {
	c.settleDoubt(notCounted(nil))
	c.doubt, c.slot = c.slot, nil
}

// settleDoubt tells the breaker what the end in doubt was.
func (c *call) settleDoubt(err error) {
	if s := c.doubt; s != nil {
		c.doubt = nil // before it is called: it may panic
		c.giveBack(s, err)
	}
}

// yieldDoubt gives the slot in doubt up and reports whether there was one: a half-open breaker may have no other for the
// probe.
func (c *call) yieldDoubt() bool {
	held := c.doubt != nil
	c.settleDoubt(notCounted(nil))

	return held
}

// provenCut tells the breaker that the end in doubt was a break. If its slot went to the probe, that speaks for both.
func (c *call) provenCut() {
	if c.doubt != nil {
		c.settleDoubt(ErrTruncated)
	} else {
		c.outcome(ErrTruncated)
	}
}

// provenWhole tells the breaker that this is how the model ends its answers, also the probe.
func (c *call) provenWhole() {
	c.settleDoubt(nil)
	c.outcome(nil)
}
