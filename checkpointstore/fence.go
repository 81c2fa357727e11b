package checkpointstore

import "fmt"

// Fence is the place of a checkpoint among those of its run. It keeps a writer that was thought dead from overwriting
// or deleting what its successor wrote.
//
// Who takes a run over claims it: a Put with the epoch after the one that Get returned (the first epoch is 1). An epoch
// belongs to the owner who claimed it; of two who claim the same one, the second gets ErrStale. Within its epoch
// the owner counts Seq up.
type Fence struct {
	Epoch, Seq uint64
	Owner      string
}

// AllowPut says whether a checkpoint at next may take the place of the one stored: if its epoch is later, or if
// epoch and owner are the same and its sequence is not earlier (the same one again is a repeated Put, and harmless).
// Otherwise it returns ErrStale, wrapped.
//
// A later sequence alone is not enough for another owner: both of two racing claimers would think that they have won.
func AllowPut(stored, next Fence) error {
	switch {
	case next.Epoch > stored.Epoch:
		return nil
	case next.Epoch == stored.Epoch && next.Owner == stored.Owner && next.Seq >= stored.Seq:
		return nil
	default:
		return staleError(stored, next)
	}
}

// AllowDelete says whether the holder of a checkpoint at by may delete the one stored: if epoch and owner are the same
// and what is stored is not of a later sequence, which it has not seen. Otherwise it returns ErrStale, wrapped; also if
// what is stored is of an earlier epoch, since it is not the holder's: to delete it, claim it.
func AllowDelete(stored, by Fence) error {
	if by.Epoch == stored.Epoch && by.Owner == stored.Owner && by.Seq >= stored.Seq {
		return nil
	}

	return staleError(stored, by)
}

func staleError(stored, by Fence) error {
	return fmt.Errorf("%w: epoch %d, sequence %d of %.64q against epoch %d, sequence %d of %.64q in the store",
		ErrStale, by.Epoch, by.Seq, by.Owner, stored.Epoch, stored.Seq, stored.Owner)
}

// AllowAppend says whether d may be added to the checkpoint stored: if that is the one that d goes on from, or, with
// again, if it is the one that d leads to: then d is there already, since a repeated Append is harmless. Otherwise it
// returns, wrapped, ErrStale if what is stored is later or another owner's, and ErrNoBase if it is earlier.
func AllowAppend(stored Fence, d Delta) (again bool, err error) {
	switch next := d.Fence(); {
	case stored == Fence{Epoch: d.Epoch, Seq: d.After, Owner: d.Owner}:
		return false, nil
	case stored == next:
		return true, nil
	case AllowPut(stored, next) != nil:
		return false, staleError(stored, next)
	default:
		return false, fmt.Errorf("%w: it goes on from epoch %d, sequence %d of %.64q; stored is epoch %d, sequence %d of %.64q",
			ErrNoBase, d.Epoch, d.After, d.Owner, stored.Epoch, stored.Seq, stored.Owner)
	}
}
