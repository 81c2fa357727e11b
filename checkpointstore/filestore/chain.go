package filestore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// chain is what the file of a run holds: a checkpoint, the deltas behind it, and maybe what a crash left of one more.
type chain struct {
	fence checkpointstore.Fence // that of the last record that is whole, or of the checkpoint if that is not
	end   int64                 // where the last whole record ends; 0 if there is none
	size  int64                 // of the file
}

// readChain returns what stands at path, of which it reads the headers and the last delta. Not found is also what has no
// readable fence, or another run's.
func readChain(path, runID string) (c chain, found bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return chain{}, false, nil
	}
	if err != nil {
		return chain{}, false, err
	}
	defer f.Close() //nolint:errcheck // nothing was written to it
	info, err := f.Stat()
	if err != nil {
		return chain{}, false, err
	}

	return walk(f, info.Size(), runID)
}

// walk goes through the records of a file of size bytes. Of all deltas only the last can be wrong inside, since each was
// synced, or found to be right, before the next was written.
func walk(f io.ReaderAt, size int64, runID string) (c chain, found bool, err error) {
	c.size = size
	before := c
	for line := make([]byte, checkpointstore.MaxHeaderBytes); ; {
		n, err := f.ReadAt(line, c.end)
		if err != nil && !errors.Is(err, io.EOF) {
			return chain{}, false, err
		}
		h, err := checkpointstore.DecodeHeader(line[:n])
		if ok := err == nil && h.RunID == runID && h.Delta == found && (!found || c.leadsTo(h.Fence)); !ok {
			break
		}
		end := c.end + int64(h.Bytes)
		if end > size {
			if !found {
				c.fence, found = h.Fence, true
			}

			break
		}
		before = c
		c.fence, c.end, found = h.Fence, end, true
	}
	if before.end == 0 { // no delta
		return c, found, nil
	}
	ok, err := sound(io.NewSectionReader(f, before.end, c.end-before.end))
	if !ok {
		c = before
	}

	return c, found, err
}

func (c chain) leadsTo(next checkpointstore.Fence) bool {
	return next.Epoch == c.fence.Epoch && next.Owner == c.fence.Owner && next.Seq > c.fence.Seq
}

// sound reports whether a record has the sum that its header promises: see checkpointstore.Encode.
func sound(record io.Reader) (bool, error) {
	r := bufio.NewReader(record)
	header, err := r.ReadBytes('\n')
	if err != nil {
		return false, err
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if _, err := io.Copy(sum, r); err != nil {
		return false, err
	}

	return string(bytes.Split(header, []byte(" "))[7]) == fmt.Sprintf("%08x", sum.Sum32()), nil
}
