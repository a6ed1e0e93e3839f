package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// half is one direction of a connection: bytes from a writer to a reader. All waiting is
// on changed, never on mu, which is held for moments only: a goroutine parked on a mutex
// would keep a bubble's time from passing.
type half struct {
	mu      sync.Mutex
	changed sync.Cond // broadcast at every change a waiting read or write may be after
	queue   ring
	writing bool // a write is under way, perhaps waiting: others wait for its end

	readDeadline  deadline
	writeDeadline deadline

	fin          bool // the writer said that nothing follows
	readerClosed bool
	writerClosed bool

	readerReset bool // the reader's end closed with a reset

	// A reset by one end that the other's Read or Write has yet to report.
	readReset  bool
	writeReset bool
}

func newHalf(size int) *half {
	h := &half{queue: ring{limit: size}}
	h.changed.L = &h.mu
	h.readDeadline.half = h
	h.writeDeadline.half = h
	return h
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerClosed:
			return 0, net.ErrClosed
		case len(p) == 0:
			return 0, nil
		case h.readDeadline.past():
			return 0, os.ErrDeadlineExceeded
		case h.queue.len() > 0:
			n := h.queue.read(p)
			h.changed.Broadcast()
			return n, nil
		case h.readReset:
			h.readReset = false
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case h.fin, h.writerClosed:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (h *half) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.writing {
		if err := h.writeErrorLocked(); err != nil {
			return 0, err
		}
		h.changed.Wait()
	}
	h.writing = true
	defer func() {
		h.writing = false
		h.changed.Broadcast()
	}()

	done := 0
	for {
		if err := h.writeErrorLocked(); err != nil {
			return done, err
		}
		if n := h.queue.write(p[done:]); n > 0 {
			done += n
			h.changed.Broadcast()
		}
		if done == len(p) {
			return done, nil
		}
		h.changed.Wait()
	}
}

func (h *half) writeErrorLocked() error {
	switch {
	case h.writerClosed:
		return net.ErrClosed
	case h.writeDeadline.past():
		return os.ErrDeadlineExceeded
	case h.writeReset:
		h.writeReset = false
		return os.NewSyscallError("write", syscall.ECONNRESET)
	case h.fin, h.readerClosed:
		return os.NewSyscallError("write", syscall.EPIPE)
	}
	return nil
}

// finish is the writer's half-close.
func (h *half) finish() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.writerClosed:
		return net.ErrClosed
	case h.readerReset:
		return os.NewSyscallError("shutdown", syscall.ENOTCONN)
	}
	h.fin = true
	h.changed.Broadcast()
	return nil
}

func (h *half) finished() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.fin
}

// closeReader closes the reader's end, and returns whether the connection is reset: it was
// to be, or bytes were not read. finSent says that the writer was told that nothing
// follows in the other direction; a reset after that is EPIPE for it, as on Linux.
func (h *half) closeReader(reset, finSent bool) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readerClosed {
		return false, net.ErrClosed
	}
	h.readerClosed = true
	reset = reset || h.queue.len() > 0
	h.readerReset = reset
	h.writeReset = reset && !finSent
	h.queue.drop()
	h.readDeadline.set(time.Time{})
	h.changed.Broadcast()
	return reset, nil
}

// closeWriter closes the writer's end. What it wrote stays for the reader.
func (h *half) closeWriter(reset bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writerClosed = true
	h.readReset = reset && !h.fin
	h.writeDeadline.set(time.Time{})
	h.changed.Broadcast()
}

func (h *half) setReadDeadline(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readerClosed {
		return net.ErrClosed
	}
	h.readDeadline.set(t)
	return nil
}

func (h *half) setWriteDeadline(t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writerClosed {
		return net.ErrClosed
	}
	h.writeDeadline.set(t)
	return nil
}
