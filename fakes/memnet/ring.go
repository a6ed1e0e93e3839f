package memnet

// firstSize is what a ring starts with: room for the head of a request or a few events, so
// that thousands of quiet connections stay small.
const firstSize = 1 << 10

// ring is a first-in-first-out queue of at most limit bytes. It grows up to the limit as
// needed and keeps its memory until drop.
type ring struct {
	limit int
	buf   []byte
	head  int // index in buf of the oldest byte
	size  int
}

func (r *ring) len() int { return r.size }

// write appends what fits of p, and returns how much that was.
func (r *ring) write(p []byte) int {
	p = p[:min(len(p), r.limit-r.size)]
	if r.size+len(p) > len(r.buf) {
		r.grow(r.size + len(p))
	}
	if len(p) == 0 {
		return 0
	}
	tail := (r.head + r.size) % len(r.buf)
	n := copy(r.buf[tail:], p)
	copy(r.buf, p[n:])
	r.size += len(p)
	return len(p)
}

// read moves the oldest bytes to p, and returns how many.
func (r *ring) read(p []byte) int {
	p = p[:min(len(p), r.size)]
	n := copy(p, r.buf[r.head:])
	copy(p[n:], r.buf)
	r.size -= len(p)
	r.head += len(p)
	if r.head >= len(r.buf) {
		r.head -= len(r.buf)
	}
	if r.size == 0 {
		r.head = 0 // the next write is then one copy
	}
	return len(p)
}

// grow makes room for need bytes in all, at least doubling.
func (r *ring) grow(need int) {
	buf := make([]byte, min(r.limit, max(need, 2*len(r.buf), firstSize)))
	size := r.size
	r.read(buf[:size])
	r.buf, r.head, r.size = buf, 0, size
}

func (r *ring) drop() { r.buf, r.head, r.size = nil, 0, 0 }
