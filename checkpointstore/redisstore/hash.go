package redisstore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// deltaField begins the name of a field that holds a delta; the digits of its sequence follow.
const deltaField = "d:"

// digits writes n so that texts order as numbers do.
func digits(n uint64) string { return fmt.Sprintf("%020d", n) }

// parse returns what the hash of a run holds. Fields that are not ours are nothing to it.
func parse(runID string, fields map[string]string) (checkpointstore.Checkpoint, error) {
	data, found := join(fields)
	for _, name := range []string{"epoch", "seq", "owner"} {
		_, ok := fields[name]
		found = found || ok
	}
	if !found {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}
	var hash checkpointstore.Fence
	epoch, err1 := strconv.ParseUint(fields["epoch"], 10, 64)
	seq, err2 := strconv.ParseUint(fields["seq"], 10, 64)
	if err1 == nil && err2 == nil {
		hash = checkpointstore.Fence{Epoch: epoch, Seq: seq, Owner: fields["owner"]}
	}
	c, err := checkpointstore.DecodeFor(runID, data)
	if err == nil && c.Fence() != hash {
		err = fmt.Errorf("%w: the fields of its hash were changed", checkpointstore.ErrCorrupt)
	}
	if err != nil {
		return checkpointstore.Checkpoint{RunID: runID, Version: c.Version, Epoch: hash.Epoch, Seq: hash.Seq, Owner: hash.Owner}, err
	}

	return c, nil
}

// join returns the body with its deltas in the order of their sequences, and whether there is any of this.
func join(fields map[string]string) (data []byte, found bool) {
	body, found := fields["body"]
	size := len(body)
	var deltas []string
	for name, delta := range fields {
		if seq, ok := strings.CutPrefix(name, deltaField); ok && isDigits(seq) {
			deltas = append(deltas, name)
			size += len(delta)
		}
	}
	slices.Sort(deltas)
	data = append(make([]byte, 0, size), body...)
	for _, name := range deltas {
		data = append(data, fields[name]...)
	}

	return data, found || len(deltas) > 0
}

// isDigits reports whether s is what digits writes.
func isDigits(s string) bool {
	n, err := strconv.ParseUint(s, 10, 64)

	return err == nil && digits(n) == s
}
