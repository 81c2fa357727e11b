package checkpointstore

import (
	"context"
	"time"
)

// Store keeps one checkpoint a run. Put, get, delete: nothing more is asked of a store, what else it can do is an
// optional interface: ConditionalDeleter, Appender and Cleaner.
//
// A Store is safe for concurrent use, by many goroutines and, but for memstore, by many processes. It keeps no
// reference to a Checkpoint that it was given or gave away. Each verb begins with ValidateRunID, ends with the context,
// whose error it then wraps, and returns any other error of what lies below it, wrapped. Package storetest holds a
// store to all this.
type Store interface {
	// Put stores c under c.RunID in the place of what is there, if AllowPut lets it; otherwise it returns ErrStale and
	// changes nothing. The comparison and the write are one step: of two calls that exclude each other one fails. What
	// cannot be read (ErrCorrupt) gives way to anything as far as its fence cannot be read either. After an error other
	// than ErrStale the checkpoint may have been stored or not, never in part; putting it again is harmless.
	Put(ctx context.Context, c Checkpoint) error

	// Get returns the checkpoint of a run, or ErrNotFound. Beside ErrCorrupt and ErrNewerVersion it returns a checkpoint
	// with RunID and as much of Epoch, Seq and Owner as could be read, nothing else: a Put with the next epoch replaces
	// what is there.
	Get(ctx context.Context, runID string) (Checkpoint, error)

	// Delete removes the checkpoint of a run, whoever wrote it. Deleting what is not there is nil.
	Delete(ctx context.Context, runID string) error
}

// ConditionalDeleter is a Store that can delete under the condition that nobody has taken over.
type ConditionalDeleter interface {
	// DeleteIf removes what is stored under c.RunID if AllowDelete lets c do so, in one step; otherwise it returns
	// ErrStale and removes nothing. Of c only RunID, Epoch, Seq and Owner are read. Nothing stored is nil; what is
	// stored without a readable fence is removed.
	DeleteIf(ctx context.Context, c Checkpoint) error
}

// Appender is a Store that can add to a checkpoint without writing the whole of it again.
type Appender interface {
	// Append makes of the checkpoint stored under d.RunID the one that d leads to, if AllowAppend lets it; otherwise it
	// returns ErrStale or, also if nothing or nothing readable is stored, ErrNoBase, and changes nothing. The comparison
	// and the write are one step. For every other verb it is then as if that checkpoint had been put: Get returns it whole,
	// its sequence is the one that fences are compared with, and its time is the one that a checkpoint's life counts from. After
	// any other error the delta may have been added or not, never in part; adding it again is harmless, and so is a Put.
	// The writer puts the whole before a checkpoint and its deltas together are longer than MaxBytes.
	Append(ctx context.Context, d Delta) error
}

// Cleaner is a Store that can remove what nobody came back for. Stores whose server forgets by itself have no need of it.
type Cleaner interface {
	// DeleteOlderThan removes the checkpoints whose UpdatedAt is before t and returns how many they were. It may run
	// beside everything else.
	DeleteOlderThan(ctx context.Context, t time.Time) (int, error)
}
