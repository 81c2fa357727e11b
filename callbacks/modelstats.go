package callbacks

import (
	"maps"
	"time"
)

// ModelStats counts what happened to the calls of one model. The numbers are sums since the [Stats] was made; none is
// negative, and none wraps around. The maps are nil or hold positive numbers, and each has at most [MaxWords] keys.
type ModelStats struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`

	// Calls.
	Calls       int `json:"calls"`             // ended, whether they broke or not
	Interrupted int `json:"interrupted_calls"` // broke at least once after content had come
	Recovered   int `json:"recovered_calls"`   // brought to their end by a continuation or by the tool calls that were whole
	Exhausted   int `json:"exhausted_calls"`   // given up: the caller got an error and the partial answer
	Cancelled   int `json:"cancelled_calls"`   // ended by the caller while a continuation was due or under way

	// Breaks.
	Causes       map[Cause]int  `json:"causes"`        // interruptions, by what broke the attempt
	Plans        map[string]int `json:"plans"`         // interruptions, by what was planned, see snapshot.Plan
	FinalReasons map[string]int `json:"final_reasons"` // exhausted calls, by the reason
	Restarts     int            `json:"restarts"`      // answers that started over: a consumer forgot what it had shown
	LateErrors   int            `json:"late_errors"`   // errors behind a whole answer

	// Continuations and requests.
	Continuations       int           `json:"continuations"`        // started; those that make no request are among them
	FailedContinuations int           `json:"failed_continuations"` // could not be opened, were refused, or broke
	OpenRetries         int           `json:"open_retries"`         // requests repeated that failed before any content
	OpenCauses          map[Cause]int `json:"open_causes"`          // open retries, by what failed the request
	Waits               int           `json:"waits"`                // before a continuation or an open retry
	Waited              time.Duration `json:"waited_ns"`            // sum of these, as announced: a cancelled wait counts whole

	// Joins.
	Joins        map[JoinKind]int   `json:"joins"`
	Confidences  map[Confidence]int `json:"confidences"`   // joins, by how sure they are
	OverlapBytes int                `json:"overlap_bytes"` // of continuations, cut because they stood already

	// What was kept: what would have been written, and paid for, once more if each break had been answered by starting
	// over, breaking at the same places.
	KeptTextBytes int `json:"kept_text_bytes"` // text that stood when a continuation was started, added up over them
	KeptToolCalls int `json:"kept_tool_calls"` // whole tool calls, likewise
	KeptTokens    int `json:"kept_tokens"`     // at least: completion less reasoning, of broken attempts that reported a usage

	// What was lost.
	DiscardedToolCalls int `json:"discarded_tool_calls"` // had not arrived whole
	DiscardedToolBytes int `json:"discarded_tool_bytes"` // of their arguments
	DiscardedThoughts  int `json:"discarded_thoughts"`   // had not arrived whole

	// Usage. Most providers report it at the end of an attempt, so that broken ones have none.
	Billed        Tokens `json:"billed"`         // of all attempts of recovered, exhausted and ended calls, as far as reported
	BilledKnown   int    `json:"billed_known"`   // calls of which some usage was reported
	BilledPartly  int    `json:"billed_partly"`  // of these, calls with attempts that ended before they had: Billed is the least
	BilledUnknown int    `json:"billed_unknown"` // calls that made a request, of which none was
	UsageKnown    int    `json:"usage_known"`    // interruptions of an attempt that had reported all its usage
	UsageUnknown  int    `json:"usage_unknown"`  // interruptions of one that had not

	// The rest.
	BreakerChanges     map[string]int     `json:"breaker_changes"` // by the new state
	CheckpointFailures int                `json:"checkpoint_failures"`
	HandlersStalled    int                `json:"handlers_stalled"`
	Notices            map[NoticeKind]int `json:"notices"`
}

// Tokens are sums of tokens that providers reported. What they did not report is not in them.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached"` // part of Prompt
	Completion int `json:"completion"`
	Reasoning  int `json:"reasoning"` // part of Completion
	Total      int `json:"total"`
}

func (t *Tokens) merge(u Tokens) {
	add(&t.Prompt, u.Prompt)
	add(&t.Cached, u.Cached)
	add(&t.Completion, u.Completion)
	add(&t.Reasoning, u.Reasoning)
	add(&t.Total, u.Total)
}

// RecoveryRate returns Recovered by Interrupted, from 0 to 1; it is not known before a call broke. A call that its
// caller cancelled while it was being recovered is not recovered, and neither is one that still runs. A log that lacks
// the first break of a call may hold more recovered calls than interrupted ones; the rate is 1 then.
func (m ModelStats) RecoveryRate() (rate float64, known bool) {
	if m.Interrupted <= 0 {
		return 0, false
	}

	return min(1, float64(m.Recovered)/float64(m.Interrupted)), true
}

// clone returns a copy that shares nothing with m.
func (m ModelStats) clone() ModelStats {
	m.Causes = maps.Clone(m.Causes)
	m.Plans = maps.Clone(m.Plans)
	m.FinalReasons = maps.Clone(m.FinalReasons)
	m.OpenCauses = maps.Clone(m.OpenCauses)
	m.Joins = maps.Clone(m.Joins)
	m.Confidences = maps.Clone(m.Confidences)
	m.BreakerChanges = maps.Clone(m.BreakerChanges)
	m.Notices = maps.Clone(m.Notices)

	return m
}

// merge adds what n counted.
func (m *ModelStats) merge(n ModelStats) {
	for _, pair := range [][2]*int{
		{&m.Calls, &n.Calls},
		{&m.Interrupted, &n.Interrupted},
		{&m.Recovered, &n.Recovered},
		{&m.Exhausted, &n.Exhausted},
		{&m.Cancelled, &n.Cancelled},
		{&m.Restarts, &n.Restarts},
		{&m.LateErrors, &n.LateErrors},
		{&m.Continuations, &n.Continuations},
		{&m.FailedContinuations, &n.FailedContinuations},
		{&m.OpenRetries, &n.OpenRetries},
		{&m.Waits, &n.Waits},
		{&m.OverlapBytes, &n.OverlapBytes},
		{&m.KeptTextBytes, &n.KeptTextBytes},
		{&m.KeptToolCalls, &n.KeptToolCalls},
		{&m.KeptTokens, &n.KeptTokens},
		{&m.DiscardedToolCalls, &n.DiscardedToolCalls},
		{&m.DiscardedToolBytes, &n.DiscardedToolBytes},
		{&m.DiscardedThoughts, &n.DiscardedThoughts},
		{&m.BilledKnown, &n.BilledKnown},
		{&m.BilledPartly, &n.BilledPartly},
		{&m.BilledUnknown, &n.BilledUnknown},
		{&m.UsageKnown, &n.UsageKnown},
		{&m.UsageUnknown, &n.UsageUnknown},
		{&m.CheckpointFailures, &n.CheckpointFailures},
		{&m.HandlersStalled, &n.HandlersStalled},
	} {
		add(pair[0], *pair[1])
	}
	m.waited(n.Waited)
	m.Billed.merge(n.Billed)
	mergeWords(&m.Causes, n.Causes)
	mergeWords(&m.Plans, n.Plans)
	mergeWords(&m.FinalReasons, n.FinalReasons)
	mergeWords(&m.OpenCauses, n.OpenCauses)
	mergeWords(&m.Joins, n.Joins)
	mergeWords(&m.Confidences, n.Confidences)
	mergeWords(&m.BreakerChanges, n.BreakerChanges)
	mergeWords(&m.Notices, n.Notices)
}
