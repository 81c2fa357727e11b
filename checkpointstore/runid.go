package checkpointstore

import (
	"context"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxRunIDBytes is the length of the longest run id. It fits an index entry of PostgreSQL (2704 bytes) and, encoded, a
// subject of NATS (a control line has 4096 bytes).
const MaxRunIDBytes = 1024

// ValidateRunID returns ErrInvalidRunID, wrapped, unless runID can be a key in every store: it is not empty (then the
// caller has forgotten it), has at most MaxRunIDBytes, is valid UTF-8 and holds no control character (a text column of
// PostgreSQL takes neither invalid UTF-8 nor NUL, and line breaks forge log lines). Everything else is
// allowed, slashes, dots, spaces and any script: no store uses a run id as a path. Ids that differ in one byte are two ids.
func ValidateRunID(runID string) error {
	switch {
	case runID == "":
		return fmt.Errorf("%w: it is empty", ErrInvalidRunID)
	case len(runID) > MaxRunIDBytes:
		return fmt.Errorf("%w: it has %d bytes, %d are allowed", ErrInvalidRunID, len(runID), MaxRunIDBytes)
	case !utf8.ValidString(runID):
		return fmt.Errorf("%w: %q is not UTF-8", ErrInvalidRunID, runID)
	}
	for _, r := range runID {
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: %q has the control character %U", ErrInvalidRunID, runID, r)
		}
	}

	return nil
}

// Begin is what a method of a [Store] checks first: that runID is valid (see [ValidateRunID]), and that ctx has not ended.
func Begin(ctx context.Context, runID string) error {
	if err := ValidateRunID(runID); err != nil {
		return err
	}

	return ctx.Err()
}
