package continuation

import "github.com/eino-carryon/carryon/snapshot"

// drop takes note of what dropped chunks have cost.
func (c *call) drop(u snapshot.Usage) { c.unseen = c.unseen.Max(u) }

// count takes note of whether the attempt has reported all that it used. A record in its first chunk of content tells of the
// request and at most of the beginning of the answer, unless that is its end.
func (c *call) count(m chunk) {
	content := snapshot.HasContent(m.Message)
	r := m.ResponseMeta
	c.metered = c.metered || !c.carry.later && r != nil && r.Usage != nil
	switch known := r != nil && snapshot.UsageOf(r.Usage).Known; {
	case !known:
		c.reported = c.reported && !content
	case content && c.fresh:
		c.reported = c.profile.usageInEach || snapshot.FinishReason(m.Message) != ""
	default:
		c.reported = true
	}
}

// used returns u, which the attempt has reported, with a note if that is not all.
func (c *call) used(u snapshot.Usage) snapshot.Usage {
	if c.record != nil && !c.fresh && !c.reported {
		u.Unreported = 1
	}

	return u
}

// bill adds to what was billed what the attempt has reported, in chunks that were dropped or are held as well. Records of
// one attempt repeat and outgrow one another, so that they are no sum; and each attempt is billed once.
func (c *call) bill() {
	if !c.paid {
		c.billed = c.billed.Plus(c.used(c.acc.Usage().Max(c.unseen).Max(c.withheld())))
		c.paid = true
	}
}

// withheld returns the usage of the chunks that a join or a probe holds.
func (c *call) withheld() snapshot.Usage {
	var u snapshot.Usage
	if c.seam != nil {
		u = (&stash{chunks: c.seam.held}).usage()
	}
	if c.probe != nil {
		u = u.Max(c.probe.usage())
	}

	return u
}
