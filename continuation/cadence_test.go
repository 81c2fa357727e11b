package continuation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestCadence: however an answer comes, the writes of it stay within what FlushEvery's comment says, and nothing waits
// longer than it must.
func TestCadence(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1000, 10_000, 100_000, 1 << 20, 10 << 20} {
		for _, chunk := range []int{1, 20, 4096, 100_000} {
			for _, perSecond := range []int{200, 20_000, 100 << 20} {
				if size/chunk > 200_000 {
					continue
				}
				for _, appends := range []bool{false, true} {
					t.Run(fmt.Sprintf("%d bytes by %d at %d a second, added: %v", size, chunk, perSecond, appends), func(t *testing.T) {
						t.Parallel()
						start := time.Unix(0, 0)
						now, took := start, time.Duration(0)
						c := newCadence(&checkpoints{every: defaultFlushEvery, bytes: defaultFlushBytes, pulse: new(pulse)}, start)
						writes, piece := 0, strings.Repeat("x", chunk)
						for n := 0; n < size; n += chunk {
							took += time.Duration(chunk) * time.Second / time.Duration(perSecond)
							now = start.Add(took)
							c.grew(piece)
							if c.due(now) {
								writes++
								size, adds := c.tally.next(now, c.total())
								c.tally.begin(size)
								c.tally.wrote(c.total(), size, adds, appends)
								c.given(now)
							} else if d, ok := c.wait(now); assert.True(t, ok) && d > 0 {
								later := now.Add(d)
								assert.True(t, c.due(later), "it is due when wait says so")
							}
						}
						_, adds := c.tally.next(now, c.total())
						total := int(c.tally.written.Load()) + c.tally.end(c.total(), adds)
						assert.LessOrEqual(t, total, max(3*c.plain, c.size+c.beside+cadenceFree+int(took.Seconds()*cadencePerSecond)))
						if size == 1<<20 && took < 10*time.Second {
							assert.LessOrEqual(t, total, 3<<20)
						}
						if size <= 10_000 && chunk <= 20 && perSecond == 200 { // what a slow answer may lose
							assert.Greater(t, writes, int(took/time.Second))
						}
					})
				}
			}
		}
	}
}
