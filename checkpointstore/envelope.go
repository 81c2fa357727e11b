package checkpointstore

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

const (
	// MaxBytes bounds an encoded checkpoint.
	MaxBytes = 64 << 20
	// MaxOwnerBytes bounds Checkpoint.Owner.
	MaxOwnerBytes = 1024
	// MaxHeaderBytes bounds the header: so much of the encoded form is enough for DecodeHeader.
	MaxHeaderBytes = 4096

	magic = "carryon-checkpoint"
)

// Header is what can be read of an encoded checkpoint whatever its version.
type Header struct {
	Version int
	RunID   string
	Fence
}

// Encode returns c in the format of this version: a line of text, then JSON. What Normalize leaves out is left out. The
// errors are ErrInvalidRunID, ErrTooLarge, and one for an UpdatedAt with a year that has not four digits.
//
// The line is the same in all versions, so that an old program does not overwrite what a new one wrote:
//
//	carryon-checkpoint VERSION EPOCH SEQ OWNER RUNID BODYBYTES BODYCRC HEADERCRC
//
// Owner and run id are in base64 (URL alphabet, no padding), the sums are CRC-32C, HEADERCRC of the line before it.
// A field that an older reader may ignore does not raise the version.
func Encode(c Checkpoint) ([]byte, error) {
	if err := ValidateRunID(c.RunID); err != nil {
		return nil, err
	}
	if len(c.Owner) > MaxOwnerBytes {
		return nil, fmt.Errorf("%w: its owner has %d bytes, %d are allowed", ErrTooLarge, len(c.Owner), MaxOwnerBytes)
	}
	c, _ = Normalize(c)
	body, err := appendBody(make([]byte, 0, 1024+len(c.Text)+len(c.Reasoning)), c)
	if err != nil {
		return nil, err
	}
	header := headerLine(Header{Version: Version, RunID: c.RunID, Fence: c.Fence()}, len(body), checksum(body))
	if size := len(header) + len(body); size > MaxBytes {
		return nil, fmt.Errorf("%w: it takes %d bytes, %d are allowed", ErrTooLarge, size, MaxBytes)
	}

	return append([]byte(header), body...), nil
}

// Decode reads what Encode wrote, and nothing else: a bit that differs, a byte too few or too many is ErrCorrupt, and a
// format of a later time is ErrNewerVersion. Beside these errors it returns a checkpoint with Version and RunID, Epoch,
// Seq and Owner if these could be read. It never panics and keeps no reference to data.
func Decode(data []byte) (Checkpoint, error) {
	h, size, sum, body, err := readHeader(data)
	if err != nil {
		return Checkpoint{}, err
	}
	known := Checkpoint{Version: h.Version, RunID: h.RunID, Owner: h.Owner, Epoch: h.Epoch, Seq: h.Seq}
	switch {
	case len(data) > MaxBytes:
		return known, fmt.Errorf("%w: it has %d bytes, %d are allowed", ErrCorrupt, len(data), MaxBytes)
	case len(body) != size:
		return known, fmt.Errorf("%w: it has %d bytes after the header, which promises %d", ErrCorrupt, len(body), size)
	case checksum(body) != sum:
		return known, fmt.Errorf("%w: its checksum is wrong", ErrCorrupt)
	case h.Version > Version:
		return known, fmt.Errorf("%w: %d, this program knows %d", ErrNewerVersion, h.Version, Version)
	}
	c, err := parseBody(body)
	if err != nil {
		return known, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	c.Version, c.RunID, c.Owner, c.Epoch, c.Seq = known.Version, known.RunID, known.Owner, known.Epoch, known.Seq

	return c, nil
}

// DecodeFor is Decode for what was stored under runID: a checkpoint of another run is ErrCorrupt, and its fence means
// nothing here. The checkpoint it returns always has RunID, also beside an error.
func DecodeFor(runID string, data []byte) (Checkpoint, error) {
	c, err := Decode(data)
	if c.RunID != runID && c.RunID != "" {
		return Checkpoint{RunID: runID}, fmt.Errorf("%w: it is that of the run %q", ErrCorrupt, c.RunID)
	}
	c.RunID = runID

	return c, err
}

// DecodeHeader reads the header of an encoded checkpoint of any version, from its first MaxHeaderBytes or more, and
// does not look at the rest. The error is ErrCorrupt.
func DecodeHeader(data []byte) (Header, error) {
	h, _, _, _, err := readHeader(data)

	return h, err
}

func headerLine(h Header, size int, sum string) string {
	line := strings.Join([]string{
		magic, strconv.Itoa(h.Version),
		strconv.FormatUint(h.Epoch, 10), strconv.FormatUint(h.Seq, 10),
		base64.RawURLEncoding.EncodeToString([]byte(h.Owner)), base64.RawURLEncoding.EncodeToString([]byte(h.RunID)),
		strconv.Itoa(size), sum,
	}, " ")

	return line + " " + checksum([]byte(line)) + "\n"
}

func readHeader(data []byte) (h Header, size int, sum string, body []byte, err error) {
	line, body, found := bytes.Cut(data[:min(len(data), MaxHeaderBytes)], []byte("\n"))
	fields := strings.Split(string(line), " ")
	if !found || len(fields) != 9 || fields[0] != magic {
		return Header{}, 0, "", nil, fmt.Errorf("%w: it has no header", ErrCorrupt)
	}
	h, size, err = parseHeader(fields)
	// What does not come out as it went in was not written by headerLine; this also checks the sum.
	if err != nil || headerLine(h, size, fields[7]) != string(line)+"\n" || ValidateRunID(h.RunID) != nil {
		return Header{}, 0, "", nil, fmt.Errorf("%w: its header is damaged", ErrCorrupt)
	}

	return h, size, fields[7], data[len(data[:min(len(data), MaxHeaderBytes)])-len(body):], nil
}

func parseHeader(fields []string) (h Header, size int, err error) {
	var owner, runID []byte
	for _, parse := range []func() error{
		func() (err error) { h.Version, err = strconv.Atoi(fields[1]); return },
		func() (err error) { h.Epoch, err = strconv.ParseUint(fields[2], 10, 64); return },
		func() (err error) { h.Seq, err = strconv.ParseUint(fields[3], 10, 64); return },
		func() (err error) { owner, err = base64.RawURLEncoding.DecodeString(fields[4]); return },
		func() (err error) { runID, err = base64.RawURLEncoding.DecodeString(fields[5]); return },
		func() (err error) { size, err = strconv.Atoi(fields[6]); return },
	} {
		if err := parse(); err != nil {
			return Header{}, 0, err
		}
	}
	if h.Version < 1 {
		return Header{}, 0, fmt.Errorf("version %d", h.Version)
	}
	h.Owner, h.RunID = string(owner), string(runID)

	return h, size, nil
}

func checksum(data []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}
