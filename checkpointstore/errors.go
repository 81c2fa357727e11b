package checkpointstore

import "errors"

// The errors of a Store. They come wrapped, so test them with errors.Is.
var (
	// ErrNotFound means that nothing is stored under the run id.
	ErrNotFound = errors.New("checkpointstore: not found")
	// ErrStale means that the checkpoint stored belongs to somebody else or is newer: the run was taken over. Nothing
	// was written or deleted. See AllowPut and AllowDelete.
	ErrStale = errors.New("checkpointstore: stale: the run was taken over")
	// ErrNoBase means that what a Delta goes on from is not what is stored, nor anything later: it was deleted, has
	// expired, cannot be read, or its Put failed. Nothing was written; a Put of the whole checkpoint is.
	ErrNoBase = errors.New("checkpointstore: what the delta goes on from is not there")
	// ErrInvalidRunID means that ValidateRunID refuses the run id.
	ErrInvalidRunID = errors.New("checkpointstore: invalid run id")
	// ErrCorrupt means that what is stored is no whole checkpoint of this run: cut, edited, damaged, or of another run.
	// It can be put over and deleted.
	ErrCorrupt = errors.New("checkpointstore: corrupt checkpoint")
	// ErrNewerVersion means that what is stored was written in a format that this program does not know yet.
	ErrNewerVersion = errors.New("checkpointstore: checkpoint of a newer version")
	// ErrTooLarge means that a checkpoint takes more than MaxBytes, or its owner more than MaxOwnerBytes.
	ErrTooLarge = errors.New("checkpointstore: checkpoint too large")
)
