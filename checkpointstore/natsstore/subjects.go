package natsstore

import (
	"fmt"
	"strconv"
	"strings"
)

// subjects are those of a run in the stream of its bucket.
type subjects struct {
	runID string
	// whole is that of the checkpoint, deltas begins those of what was added to it.
	whole, deltas string
	// all matches both, and nothing else.
	all string
}

func subjectsOf(bucket, runID string) subjects {
	run := "$KV." + bucket + "." + keyOf(runID)

	return subjects{runID: runID, whole: run + ".whole", deltas: run + ".add.", all: run + ".>"}
}

// delta is the subject of what leads from one sequence to another.
func (s subjects) delta(after, seq uint64) string {
	return fmt.Sprintf("%s%d.%d", s.deltas, after, seq)
}

// after returns the sequence that the delta under a subject goes on from.
func (s subjects) after(subject string) (uint64, bool) {
	rest, ok := strings.CutPrefix(subject, s.deltas)
	first, _, _ := strings.Cut(rest, ".")
	n, err := strconv.ParseUint(first, 10, 64)

	return n, ok && err == nil
}
