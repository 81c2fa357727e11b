//go:build unix

package crash

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// kills is how many processes are killed for each store. The default takes a minute or two in all.
var kills = flag.Int("kills", 60, "processes to kill for each store") //nolint:gochecknoglobals // a flag of the test binary

// seed decides when they are killed.
var seed = flag.Uint64("seed", 1, "of the moments at which processes are killed") //nolint:gochecknoglobals // as above

// TestKilled: an agent that is killed again and again, at any moment, answers in the end what it would have answered; what
// was in the store is not paid for again; its tools can tell by the ids of their calls what they have done; nothing stays
// in the store.
func TestKilled(t *testing.T) {
	t.Parallel()
	var beforeTools, inTakeovers atomic.Int64
	t.Cleanup(func() { // when all stores are through
		t.Logf("%d kills fell between an answer and the end of its tools, %d into a takeover", beforeTools.Load(), inTakeovers.Load())
		if *kills >= 60 {
			assert.Positive(t, beforeTools.Load())
			assert.Positive(t, inTakeovers.Load())
		}
	})
	each(t, func(t *testing.T, at place, s checkpointstore.Store) {
		t.Helper()
		h := fnv.New64a()
		h.Write([]byte(at.Kind))
		random := rand.New(rand.NewPCG(*seed, h.Sum64()))
		var sum losses
		for run := 0; sum.kills < *kills; run++ {
			w := newWorld(t, at, s, fmt.Sprint("run-", run))
			w.live(t, random, &sum)
			if t.Failed() {
				t.Fatalf("run %d", run)
			}
		}
		if _, adds := s.(checkpointstore.Appender); adds && *kills >= 60 {
			assert.Positive(t, sum.added, "kills behind a write that only added")
		}
		beforeTools.Add(int64(sum.beforeTools))
		inTakeovers.Add(int64(sum.inTakeovers))
		t.Logf("%d kills, %d of them behind a write that only added; of %d delivered bytes that the dead left %d were not in the store, %d at most", sum.kills, sum.added, sum.delivered, sum.bytes, sum.most)
		t.Logf("%d tokens were billed, where %d are needed: %d a kill", sum.billed, sum.needed, (sum.billed-sum.needed)/sum.kills)
	})
}

// losses is what kills have cost.
type losses struct {
	kills, delivered, bytes, most int
	billed, needed                int
	beforeTools, inTakeovers      int // kills
	added                         int // kills behind a write that only added
}

// diedInTakeover reports whether the process had found an answer under way, and its claim was not yet in the store.
func (p *life) diedInTakeover() bool {
	i := slices.IndexFunc(p.said, func(l line) bool { return l.Kind == saidGot && l.Epoch > 0 && !l.Done })

	return i >= 0 && !slices.ContainsFunc(p.said[i:], is(saidPutEnd))
}

// lastOf returns where the last line of a kind is; -1 if there is none.
func lastOf(said []line, kind string) int {
	for i, l := range slices.Backward(said) {
		if l.Kind == kind {
			return i
		}
	}

	return -1
}

// diedBeforeTools reports whether an answer had come whole, and its tools had not all run, or their results were not yet
// in the journal.
func (p *life) diedBeforeTools() bool {
	for _, l := range slices.Backward(p.said) {
		switch l.Kind {
		case saidTool, saidToolEnd:
			return true
		case saidAsks, saidChunk, saidGot:
			return false
		}
	}

	return false
}

// live lets a run live through up to four kills, to its end.
func (w *world) live(t *testing.T, random *rand.Rand, sum *losses) {
	t.Helper()
	lives := 1 + random.IntN(4)
	for range lives {
		p := w.begin(t)
		if !p.until(t, moment(random)) {
			break // it came to its end before
		}
		if random.IntN(2) > 0 {
			p.linger(time.Duration(random.IntN(2000)) * time.Microsecond)
		}
		p.kill(t)
		sum.kills++
		if p.diedInTakeover() {
			sum.inTakeovers++
		}
		if p.diedBeforeTools() {
			sum.beforeTools++
		}
		if i := lastOf(p.said, saidPutEnd); i >= 0 && p.said[i].Added {
			sum.added++
		}
		w.examine(t, p)
		w.mourn(t, p, sum)
	}
	p := w.begin(t)
	p.wait(t)
	w.examine(t, p)
	w.settle(t, p, sum)
}

// moment chooses when to kill: anywhere, while the answer is taken over, or at one of the steps between two answers.
func moment(random *rand.Rand) func(line) bool {
	lines, after := 0, random.IntN(280)
	switch random.IntN(6) {
	case 0:
		after = random.IntN(10)
	case 2:
		return func(l line) bool { return l.Kind == saidGot && l.Epoch > 0 && !l.Done || l.Kind == saidToolEnd }
	case 1:
		kinds := []string{saidGot, saidTool, saidToolEnd, saidAsks, saidFinished}
		kind, skip := kinds[random.IntN(len(kinds))], random.IntN(2)

		return func(l line) bool {
			if l.Kind == kind {
				skip--
			}

			return skip < 0
		}
	}

	return func(line) bool { lines++; return lines > after }
}

// life is a process of a run, and what it found.
type life struct {
	*process
	turn  int // with which it begins
	asked int // requests before it
}

func (w *world) begin(t *testing.T) *life {
	t.Helper()
	asked := len(w.requests(t))

	return &life{turn: w.turn(t), asked: asked, process: w.start(t)}
}

// examine checks one life: what it showed, and what it asked for.
func (w *world) examine(t *testing.T, p *life) {
	t.Helper()
	for _, l := range p.said {
		switch l.Kind {
		case saidGot:
			w.key = l.Key
		case saidFailed, saidEvent:
			assert.Fail(t, "it failed", "%s: %s", l.Text, l.Err)
		}
	}
	for n, text := range p.shown() {
		assert.True(t, strings.HasPrefix(answers()[p.turn+n], text), "of turn %d it showed %q", p.turn+n, text)
	}
	found := p.found()
	requests := w.requests(t)[p.asked:]
	for i, r := range requests {
		assert.False(t, r.Status != 200 && r.Status != 0, "status %d", r.Status)
		want := 0 // where the answer is to begin
		if found.Text != "" && r.Turn == p.turn && strings.HasPrefix(answers()[p.turn], found.Text) {
			want = len(strings.TrimRight(found.Text, " \n"))
			assert.False(t, found.Done || found.Call, "the answer was in the store")
		}
		assert.Equal(t, want, r.From, "it is asked for from where the store's text ends")
		if i > 0 {
			assert.Greater(t, r.Turn, requests[i-1].Turn, "each answer is asked for once")
		}
	}
}

// found returns what the life found in the store when it began: not before, since a write of the dead one may have been
// on its way.
func (p *life) found() line {
	if i := slices.IndexFunc(p.said, is(saidGot)); i >= 0 {
		return p.said[i]
	}

	return line{}
}

// shown returns the text of each stream.
func (p *process) shown() []string {
	var texts []string
	for _, l := range p.said {
		if l.Kind == saidChunk {
			for len(texts) <= l.N {
				texts = append(texts, "")
			}
			texts[l.N] += l.Text
		}
	}

	return texts
}

// mourn counts what a kill has cost. How much that is depends on the machine, which may stand still between a chunk and the
// write of it; what is due when is tested with a clock that does not.
func (w *world) mourn(t *testing.T, p *life, sum *losses) {
	t.Helper()
	shown := p.shown()
	if len(shown) == 0 {
		return
	}
	text, kept := shown[len(shown)-1], w.left(t)
	if i := slices.IndexFunc(p.said, is(saidFinished)); i >= 0 {
		return // the answer is in the journal, and may be gone from the store
	}
	assert.True(t, p.keeps(kept), "what the store said it has is there: %+v", kept)
	lost := 0
	if !strings.HasPrefix(kept.Text, text) {
		lost = len(text)
		if strings.HasPrefix(text, kept.Text) {
			lost -= len(kept.Text)
		}
	}
	sum.delivered += len(text)
	sum.bytes += lost
	sum.most = max(sum.most, lost)
}

// keeps reports whether the store has the latest write that it had acknowledged, or a later one.
func (p *life) keeps(kept checkpointstore.Checkpoint) bool {
	for _, l := range slices.Backward(p.said) {
		if l.Kind == saidPutEnd {
			return kept.RunID != "" && (kept.Epoch > l.Epoch || kept.Epoch == l.Epoch && kept.Seq >= l.Seq)
		}
	}

	return true
}

// settle checks the end of a run.
func (w *world) settle(t *testing.T, p *life, sum *losses) {
	t.Helper()
	require.NotEmpty(t, p.said, "%s", &p.err)
	last := p.said[len(p.said)-1]
	assert.Equal(t, saidEnd, last.Kind, "%s", &p.err)
	assert.Equal(t, longAnswer(), last.Text)
	if left := w.left(t); last.Done { // it had died between the journal's last entry and the store's
		assert.True(t, left.Done || left.RunID == "")
	} else {
		assert.Empty(t, left.RunID, "nothing stays in the store")
	}
	assert.Equal(t, []string{"call_1", "call_2"}, w.effects(t), "each tool had its effect once, since the ids are the same in each life")
	for _, r := range w.requests(t) {
		sum.billed += r.Completion
	}
	sum.needed += needed()
}
