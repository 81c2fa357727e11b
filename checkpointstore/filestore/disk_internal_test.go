package filestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

var errPower = errors.New("the power is gone")

// noting is the real disk, which notes what it is asked and stops doing anything when it has done so many steps.
type noting struct {
	osDisk

	mu    sync.Mutex
	steps []string
	left  int // steps until the power goes
}

// step notes a step and reports whether it is still made.
func (d *noting) step(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left--; d.left < 0 {
		return errPower
	}
	d.steps = append(d.steps, name)

	return nil
}

func (d *noting) create(path string) (file, error) {
	if err := d.step("create " + filepath.Ext(path)); err != nil {
		return nil, err
	}
	f, err := d.osDisk.create(path)

	return notingFile{d, f}, err
}

func (d *noting) reopen(path string) (file, error) {
	if err := d.step("reopen " + filepath.Ext(path)); err != nil {
		return nil, err
	}
	f, err := d.osDisk.reopen(path)

	return notingFile{d, f}, err
}

func (d *noting) rename(from, to string) error {
	if err := d.step("rename " + filepath.Ext(from) + " to " + filepath.Ext(to)); err != nil {
		return err
	}

	return d.osDisk.rename(from, to)
}

func (d *noting) remove(path string) error {
	if err := d.step("remove " + filepath.Ext(path)); err != nil {
		return err
	}

	return d.osDisk.remove(path)
}

func (d *noting) syncDir(dir string) error {
	if err := d.step("sync the directory"); err != nil {
		return err
	}

	return d.osDisk.syncDir(dir)
}

type notingFile struct {
	d *noting
	file
}

// Write makes half of the write before it notes it, so that the power can go in its middle.
func (f notingFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p[:len(p)/2])
	if err == nil {
		err = f.d.step("write")
	}
	if err != nil {
		return n, err
	}
	m, err := f.file.Write(p[n:])

	return n + m, err
}

func (f notingFile) Sync() error {
	if err := f.d.step("sync"); err != nil {
		return err
	}

	return f.file.Sync()
}

func (f notingFile) Truncate(size int64) error {
	if err := f.d.step("truncate"); err != nil {
		return err
	}

	return f.file.Truncate(size)
}

func (f notingFile) Close() error {
	return errors.Join(f.file.Close(), f.d.step("close"))
}

func at(seq uint64) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{RunID: "run", Epoch: 1, Seq: seq, Owner: "a", Text: strings.Repeat(fmt.Sprint("text ", seq), 100)}
}

// TestOrderOfAPut: a checkpoint is on the disk before it has its name, and its name is before Put returns; so is the absence of
// one that was deleted.
func TestOrderOfAPut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := &noting{left: 1000}
	s := newStore(dir, d)
	for seq := range uint64(2) {
		d.steps = nil
		require.NoError(t, s.Put(t.Context(), at(seq)))
		assert.Equal(t, []string{"create .tmp", "write", "sync", "close", "rename .tmp to .checkpoint", "sync the directory"}, d.steps)
	}
	d.steps = nil
	require.NoError(t, s.DeleteIf(t.Context(), at(1)))
	assert.Equal(t, []string{"remove .checkpoint", "sync the directory"}, d.steps)
	d.steps = nil
	require.NoError(t, s.Delete(t.Context(), "run"))
	assert.Equal(t, []string{"remove .checkpoint"}, d.steps, "nothing was there")
}

// TestPowerCutAtEveryStep: whatever the last step was, what is found afterwards is the checkpoint before or the new one, and
// the next process can write.
func TestPowerCutAtEveryStep(t *testing.T) {
	t.Parallel()
	const steps = 6 // of a Put
	for cut := range steps + 1 {
		for _, first := range []bool{true, false} {
			dir := t.TempDir()
			if !first {
				s, err := New(dir)
				require.NoError(t, err)
				require.NoError(t, s.Put(t.Context(), at(1)))
			}
			err := newStore(dir, &noting{left: cut}).Put(t.Context(), at(2))
			if cut < steps {
				require.ErrorIs(t, err, errPower, "step %d", cut)
			} else {
				require.NoError(t, err)
			}

			s, err := New(dir)
			require.NoError(t, err)
			c, err := s.Get(t.Context(), "run")
			switch {
			case cut > 4: // renamed
				require.NoError(t, err)
				assert.Equal(t, at(2).Text, c.Text, "step %d", cut)
			case first:
				require.ErrorIs(t, err, checkpointstore.ErrNotFound, "step %d", cut)
			default:
				require.NoError(t, err)
				assert.Equal(t, at(1).Text, c.Text, "step %d", cut)
			}
			leftovers, err := filepath.Glob(filepath.Join(dir, "*"+tmpSuffix))
			require.NoError(t, err)
			assert.Empty(t, leftovers)
			require.NoError(t, s.Put(t.Context(), at(3)))
		}
	}
}

// heldDisk holds each sync of a directory until it is let go.
type heldDisk struct {
	noting
	begun chan struct{}
	goOn  chan error
}

func (d *heldDisk) syncDir(string) error {
	d.begun <- struct{}{}

	return <-d.goOn
}

// TestOneSyncForMany: a sync of the directory is for all whose names were changed before it began, and for none whose was
// changed later.
func TestOneSyncForMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &heldDisk{begun: make(chan struct{}), goOn: make(chan error)}
		s := newDirSyncer(d, "")
		const late = 5
		done := make(chan error, 1+late)
		go func() { done <- s.sync() }()
		<-d.begun
		for range late {
			go func() { done <- s.sync() }()
		}
		synctest.Wait()
		d.goOn <- nil
		require.NoError(t, <-done)
		<-d.begun
		synctest.Wait()
		assert.Empty(t, done, "a sync that had begun before is not theirs")
		d.goOn <- os.ErrPermission
		for range late {
			require.ErrorIs(t, <-done, os.ErrPermission, "one sync, and its error, for all of them")
		}
	})
}

// TestWritersAreFew: no more write at once than the cores bear, and who waits for that waits no longer than its context.
func TestWritersAreFew(t *testing.T) {
	t.Parallel()
	s := newStore(t.TempDir(), osDisk{})
	for range cap(s.writers) {
		s.writers <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	go func() { errs <- s.Put(ctx, at(1)) }()
	go func() { errs <- s.entered(ctx, func() error { return nil }) }()
	cancel()
	require.ErrorIs(t, <-errs, context.Canceled)
	require.ErrorIs(t, <-errs, context.Canceled)
	<-s.writers
	require.NoError(t, s.Put(t.Context(), at(1)))
}
