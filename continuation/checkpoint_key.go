package continuation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/cloudwego/eino/compose"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// suffixBytes is the length of what stands behind the run id in a key: a slash and a hash.
const suffixBytes = 1 + 12

// checkpointKey returns the key of a call's checkpoint; empty if it has none. In a graph or an agent the place of the
// model in it is part of the key, so that the models of one run do not share one.
func checkpointKey(ctx context.Context, runID string) string {
	address := compose.GetCurrentAddress(ctx)
	if runID == "" || len(address) == 0 {
		return runID
	}
	sum := sha256.Sum256([]byte(address.String()))

	return keyBase(runID) + "/" + hex.EncodeToString(sum[:6])
}

// keyBase returns what a place is added to: the run id, or its hash if there is no room for a place.
func keyBase(runID string) string {
	if len(runID) <= checkpointstore.MaxRunIDBytes-suffixBytes || len(runID) > checkpointstore.MaxRunIDBytes {
		return runID
	}
	sum := sha256.Sum256([]byte(runID))

	return hex.EncodeToString(sum[:])
}

// isKeyOf reports whether a key is one of a run's.
func isKeyOf(key, runID string) bool {
	place, ok := strings.CutPrefix(key, keyBase(runID)+"/")

	return key == runID || ok && len(place) == suffixBytes-1
}
