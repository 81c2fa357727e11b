package storetest

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/eino-carryon/carryon/checkpointstore"
)

func planted() []rule {
	plants := func(s suite, _ checkpointstore.Store) bool { return s.plant != nil }

	return []rule{
		{
			name:   "Garbage",
			reason: "a disk fills up, a hand edits, a format changes: the run must start anew and not be stuck for ever",
			needs:  plants,
			check: func(e *env) {
				whole := encode(e, "garbage")
				for name, data := range map[string][]byte{
					"nothing": {}, "text": []byte("hello"), "zeros": make([]byte, 4096), "cut in the header": whole[:30], "cut in the body": whole[:len(whole)-9],
					"edited": bytes.Replace(whole, []byte("Hello"), []byte("Hallo"), 1), "of another run": encode(e, "another"),
					"twice": append(bytes.Clone(whole), whole...),
				} {
					e.overcomes("garbage", data, checkpointstore.ErrCorrupt, name)
				}
			},
		},
		{
			name:   "NewerVersion",
			reason: "two versions of a program run side by side while one is rolled out",
			needs:  plants,
			check: func(e *env) {
				e.overcomes("newer", newer(encode(e, "newer")), checkpointstore.ErrNewerVersion, "a newer version")
			},
		},
	}
}

// overcomes plants data and demands that Get gives the error want, and that a claim and the deletes work all the same.
func (e *env) overcomes(runID string, data []byte, want error, name string) {
	e.Helper()
	old := at(runID, checkpointstore.Fence{Epoch: 3, Seq: 5, Owner: "a"})
	plant := func() checkpointstore.Checkpoint {
		e.Helper()
		e.is(e.store.Delete(e.Context(), runID), nil, "Delete of %s", name)
		e.put(old)
		e.suite.plant(e.TB, e.store, runID, data)
		c, err := e.store.Get(e.Context(), runID)
		e.is(err, want, "Get of %s", name)
		if c.RunID != runID || c.Text != "" {
			e.broken("beside the error for %s came a checkpoint of %q with the text %q", name, c.RunID, c.Text)
		}

		return c
	}

	claim := at(runID, checkpointstore.Fence{Epoch: plant().Epoch + 1, Owner: "b"})
	e.put(claim)
	e.holds(claim)
	plant()
	e.is(e.store.Delete(e.Context(), runID), nil, "Delete of %s", name)
	e.holdsNothing(runID)
	if deletesIf(e.suite, e.store) {
		e.is(e.deleteIf(plant()), nil, "DeleteIf of %s", name)
		e.holdsNothing(runID)
	}
}

func encode(e *env, runID string) []byte {
	e.Helper()
	c := sample(runID)
	c.Text, c.Epoch = "Hello, world", 3
	data, err := checkpointstore.Encode(c)
	if err != nil {
		e.Fatal(err)
	}

	return data
}

// newer is data as a later version would write it: the same header, and a body that only it can read.
func newer(data []byte) []byte {
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Split(line, " ")
	body := "a body of another shape"
	fields[1], fields[6], fields[7] = fmt.Sprint(checkpointstore.Version+1), fmt.Sprint(len(body)), crc(body)
	line = strings.Join(fields[:8], " ")

	return []byte(line + " " + crc(line) + "\n" + body)
}

func crc(s string) string {
	return fmt.Sprintf("%08x", crc32.Checksum([]byte(s), crc32.MakeTable(crc32.Castagnoli)))
}
