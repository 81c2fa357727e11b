package continuation

// queue holds chunks that are ready for the consumer. Its memory is used again, so that a stream of single chunks
// allocates nothing.
type queue struct {
	chunks []chunk
	head   int
}

func (q *queue) push(m chunk) { q.chunks = append(q.chunks, m) }

func (q *queue) empty() bool { return q.head == len(q.chunks) }

// pop returns the next chunk; false if the queue is empty.
func (q *queue) pop() (chunk, bool) {
	if q.empty() {
		return chunk{}, false
	}
	m := q.chunks[q.head]
	q.chunks[q.head] = chunk{}
	q.head++
	if q.empty() {
		q.chunks, q.head = q.chunks[:0], 0
	}

	return m, true
}

// peek returns the next chunk and leaves it where it is.
func (q *queue) peek() (chunk, bool) {
	if q.empty() {
		return chunk{}, false
	}

	return q.chunks[q.head], true
}

func (q *queue) clear() {
	clear(q.chunks)
	q.chunks, q.head = q.chunks[:0], 0
}
