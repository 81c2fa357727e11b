package checkpointstore

import "time"

// Version is the version of the checkpoints that this package writes.
const Version = 1

// Checkpoint is what one run's current answer has come to: enough for another process to go on with it. It is
// cumulative: each Put holds the whole of it.
//
// Extra and ToolCall.Extra hold values of the types string, bool, int64, float64, []byte, []string and map[string]any
// of these. Every store gives them back with their types and []byte and string byte for byte, be they UTF-8 or not.
// What else becomes of a value, Normalize says.
type Checkpoint struct {
	// Version is that of the format; a store writes Version, whatever is here.
	Version int
	// RunID is the key. See ValidateRunID.
	RunID string
	// Fingerprint is a hash of the request that is being answered.
	Fingerprint string
	// Provider and Model say who answers.
	Provider, Model string
	// Owner is who writes, unique to one call: two writers with one name are one to the fence. At most MaxOwnerBytes.
	Owner string

	// Text and Reasoning are all that came of them, over all attempts.
	Text, Reasoning string
	// ToolCalls are the calls that came whole, in order.
	ToolCalls []ToolCall
	// OpenToolCall is the call that was under way; nil if none was.
	OpenToolCall *ToolCall
	// Dropped are the names of calls that were cut off and given up.
	Dropped []string
	// Extra is what the provider wants back beside text and reasoning, such as signatures.
	Extra map[string]any
	// Usage is what the provider reported so far.
	Usage Usage

	// Done means that the answer is finished, with FinishReason.
	Done         bool
	FinishReason string

	// Interruptions and Takeovers count what this answer went through, in all processes.
	Interruptions, Takeovers int

	// Epoch grows by one each time another writer takes over, Seq with each Put within an epoch. See Fence.
	Epoch, Seq uint64
	// UpdatedAt is when the writer made this checkpoint. It comes back in UTC, to the nanosecond, without a monotonic
	// reading; its year must be in 0 to 9999.
	UpdatedAt time.Time
}

// ToolCall is a tool call as far as it had arrived.
type ToolCall struct {
	Index     int // its place in the answer, from 0
	ID        string
	Type      string
	Name      string
	Arguments string // as they came; JSON only if the call is whole
	Extra     map[string]any
}

// Usage counts tokens. The zero Usage is the unknown one, which is not the same as zero tokens.
type Usage struct {
	Known      bool // a provider reported at least one record
	Prompt     int  // tokens of the request
	Cached     int  // the part of Prompt that a cache served
	Completion int  // tokens of the answer
	Reasoning  int  // the part of Completion that was reasoning
	Total      int  // as the provider reported it
	Unreported int  // attempts that ended before they had reported all that they used
}

// Fence returns the fence of c.
func (c Checkpoint) Fence() Fence { return Fence{Epoch: c.Epoch, Seq: c.Seq, Owner: c.Owner} }
