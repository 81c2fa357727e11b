package continuation

import "github.com/cloudwego/eino/schema"

// queue holds chunks that are ready for the consumer. Its memory is used again, so that a stream of single chunks
// allocates nothing.
type queue struct {
	chunks []*schema.Message
	head   int
}

func (q *queue) push(m *schema.Message) { q.chunks = append(q.chunks, m) }

func (q *queue) empty() bool { return q.head == len(q.chunks) }

// pop returns nil if the queue is empty.
func (q *queue) pop() *schema.Message {
	if q.empty() {
		return nil
	}
	m := q.chunks[q.head]
	q.chunks[q.head] = nil
	q.head++
	if q.empty() {
		q.chunks, q.head = q.chunks[:0], 0
	}

	return m
}

func (q *queue) clear() {
	clear(q.chunks)
	q.chunks, q.head = q.chunks[:0], 0
}
