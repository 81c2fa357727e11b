package checkpointstore

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
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

	magic      = "carryon-checkpoint"
	deltaMagic = "carryon-delta"
)

// errSecond is damage that no Append leaves.
var errSecond = fmt.Errorf("%w: a second checkpoint stands behind it", ErrCorrupt)

// Header is what can be read of an encoded checkpoint or delta whatever its version.
type Header struct {
	Version int
	RunID   string
	Fence
	// Delta means that it is one.
	Delta bool
	// Bytes is the length of all of it. What is stored may hold deltas behind it.
	Bytes int
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
	c, _ = Normalize(c)

	return seal(Header{RunID: c.RunID, Fence: c.Fence()}, func() ([]byte, error) {
		return appendBody(make([]byte, 0, 1024+len(c.Text)+len(c.Reasoning)), c)
	})
}

// EncodeDelta returns d in the format of this version, which is that of Encode but for the line's first word,
// carryon-delta. It stands behind a checkpoint or another delta. The errors are those of Encode, and one for a Seq that is
// not later than After.
func EncodeDelta(d Delta) ([]byte, error) {
	if d.Seq <= d.After {
		return nil, fmt.Errorf("checkpointstore: a delta leads from sequence %d to %d", d.After, d.Seq)
	}

	return seal(Header{RunID: d.RunID, Fence: d.Fence(), Delta: true}, func() ([]byte, error) {
		return appendDelta(make([]byte, 0, 512+len(d.Text)+len(d.Reasoning)), d)
	})
}

// seal puts the header before a body.
func seal(h Header, makeBody func() ([]byte, error)) ([]byte, error) {
	if err := ValidateRunID(h.RunID); err != nil {
		return nil, err
	}
	if len(h.Owner) > MaxOwnerBytes {
		return nil, fmt.Errorf("%w: its owner has %d bytes, %d are allowed", ErrTooLarge, len(h.Owner), MaxOwnerBytes)
	}
	body, err := makeBody()
	if err != nil {
		return nil, err
	}
	h.Version = Version
	line := headerLine(h, len(body), checksum(body))
	if size := len(line) + len(body); size > MaxBytes {
		return nil, fmt.Errorf("%w: it takes %d bytes, %d are allowed", ErrTooLarge, size, MaxBytes)
	}

	return append([]byte(line), body...), nil
}

// Decode reads what Encode wrote, with what EncodeDelta wrote behind it, and nothing else: a bit that differs, a byte too
// few or too many is ErrCorrupt, and a format of a later time is ErrNewerVersion. Beside these errors it returns a
// checkpoint with Version and RunID, Epoch, Seq and Owner if these could be read. It never panics and keeps no reference
// to data.
func Decode(data []byte) (Checkpoint, error) {
	c, _, err := decode(data)

	return c, err
}

// decode is Decode. Beside an error in the last delta it returns, as whole, the checkpoint before that.
func decode(data []byte) (c, whole Checkpoint, err error) {
	r, rest, err := readRecord(data)
	if r.Delta {
		return Checkpoint{}, Checkpoint{}, fmt.Errorf("%w: it begins with a delta", ErrCorrupt)
	}
	known := Checkpoint{Version: r.Version, RunID: r.RunID, Owner: r.Owner, Epoch: r.Epoch, Seq: r.Seq}
	if err == nil && len(data) > MaxBytes {
		err = fmt.Errorf("%w: it has %d bytes, %d are allowed", ErrCorrupt, len(data), MaxBytes)
	}
	if err != nil {
		return known, Checkpoint{}, err
	}
	c, err = parseBody(r.body)
	if err != nil {
		return known, Checkpoint{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	c.Version, c.RunID, c.Owner, c.Epoch, c.Seq = known.Version, known.RunID, known.Owner, known.Epoch, known.Seq
	if len(rest) == 0 {
		return c, c, nil
	}
	a := assemblyOf(c)
	for len(rest) > 0 && err == nil {
		data = rest
		if rest, err = a.read(data); err == nil {
			known.Seq = a.c.Seq
		}
	}
	switch {
	case err == nil:
		return a.checkpoint(), Checkpoint{}, nil
	case !errors.Is(err, errSecond) && !followed(data):
		whole = a.checkpoint()
	}

	return known, whole, fmt.Errorf("behind sequence %d: %w", known.Seq, err)
}

// followed reports whether a delta stands behind what data begins with, which is none, or damaged.
func followed(data []byte) bool {
	for len(data) > 0 {
		i := bytes.Index(data[1:], []byte(deltaMagic+" "))
		if i < 0 {
			return false
		}
		data = data[1+i:]
		if h, err := DecodeHeader(data); err == nil && h.Delta {
			return true
		}
	}

	return false
}

// DecodeFor is Decode for what was stored under runID: a checkpoint of another run is ErrCorrupt, and its fence means
// nothing here. The checkpoint it returns always has RunID, also beside an error.
func DecodeFor(runID string, data []byte) (Checkpoint, error) {
	c, err := Decode(data)

	return ofRun(runID, c, err)
}

// DecodeAppended is DecodeFor for a medium on which a crash may leave half of what was appended last, or something else in
// its place, such as a file: that was not appended then. A checkpoint that is not whole, and a delta with another one behind
// it, are errors here, too: no crash leaves such.
func DecodeAppended(runID string, data []byte) (Checkpoint, error) {
	c, whole, err := decode(data)
	if errors.Is(err, ErrCorrupt) && whole.RunID != "" {
		c, err = whole, nil
	}

	return ofRun(runID, c, err)
}

func ofRun(runID string, c Checkpoint, err error) (Checkpoint, error) {
	if c.RunID != runID && c.RunID != "" {
		return Checkpoint{RunID: runID}, fmt.Errorf("%w: it is that of the run %q", ErrCorrupt, c.RunID)
	}
	c.RunID = runID

	return c, err
}

// DecodeHeader reads the header of an encoded checkpoint or delta of any version, from its first MaxHeaderBytes or more,
// and does not look at the rest. The error is ErrCorrupt.
func DecodeHeader(data []byte) (Header, error) {
	h, _, _, err := readHeader(data)

	return h, err
}

func headerLine(h Header, size int, sum string) string {
	first := magic
	if h.Delta {
		first = deltaMagic
	}
	line := strings.Join([]string{
		first, strconv.Itoa(h.Version),
		strconv.FormatUint(h.Epoch, 10), strconv.FormatUint(h.Seq, 10),
		base64.RawURLEncoding.EncodeToString([]byte(h.Owner)), base64.RawURLEncoding.EncodeToString([]byte(h.RunID)),
		strconv.Itoa(size), sum,
	}, " ")

	return line + " " + checksum([]byte(line)) + "\n"
}

// record is a checkpoint or a delta as it is stored.
type record struct {
	Header
	body []byte
}

// readRecord reads the record that data begins with, and returns what is behind it. Beside an error it returns the header if
// that could be read.
func readRecord(data []byte) (r record, rest []byte, err error) {
	h, body, sum, err := readHeader(data)
	r.Header = h
	if err != nil {
		return r, nil, err
	}
	size := h.Bytes - (len(data) - len(body))
	switch {
	case len(body) < size:
		return r, nil, fmt.Errorf("%w: it has %d bytes after the header, which promises %d", ErrCorrupt, len(body), size)
	case checksum(body[:size]) != sum:
		return r, nil, fmt.Errorf("%w: its checksum is wrong", ErrCorrupt)
	case h.Version > Version:
		return r, nil, fmt.Errorf("%w: %d, this program knows %d", ErrNewerVersion, h.Version, Version)
	}
	r.body = body[:size]

	return r, body[size:], nil
}

func readHeader(data []byte) (h Header, body []byte, sum string, err error) {
	line, _, found := bytes.Cut(data[:min(len(data), MaxHeaderBytes)], []byte("\n"))
	fields := strings.Split(string(line), " ")
	if !found || len(fields) != 9 || fields[0] != magic && fields[0] != deltaMagic {
		return Header{}, nil, "", fmt.Errorf("%w: it has no header", ErrCorrupt)
	}
	h, size, err := parseHeader(fields)
	// What does not come out as it went in was not written by headerLine; this also checks the sum.
	if err != nil || size < 0 || headerLine(h, size, fields[7]) != string(line)+"\n" || ValidateRunID(h.RunID) != nil {
		return Header{}, nil, "", fmt.Errorf("%w: its header is damaged", ErrCorrupt)
	}
	body = data[len(line)+1:]
	h.Bytes = len(line) + 1 + min(size, math.MaxInt/2)

	return h, body, fields[7], nil
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
	h.Owner, h.RunID, h.Delta = string(owner), string(runID), fields[0] == deltaMagic

	return h, size, nil
}

func checksum(data []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}
