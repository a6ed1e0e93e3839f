package wire

import "net"

// HalfClose sends a FIN and ends keepalives; the exchange goes on reading, and can write no more. Over HTTP/2 it is
// the whole connection's, and ends its other exchanges.
func (x *Exchange) HalfClose() error {
	x.half, x.every = true, 0
	if x.stream != nil {
		return x.stream.conn.halfClose(x.stream)
	}
	return closeWrite(x.conn)
}

// closeWrite sends a FIN, and what the layers above TCP send before it. A peer that closes for what the first of them
// says does not make it fail.
func closeWrite(c net.Conn) error {
	for said := false; c != nil; c = inner(c) {
		if h, ok := c.(interface{ CloseWrite() error }); ok {
			if err := h.CloseWrite(); err != nil && !said {
				return ErrLeft
			}
			said = true
		}
	}
	return nil
}

// Cut closes the connection without the end of the answer: the peer sees a FIN. Over HTTP/2 the other exchanges of
// the connection end too.
func (x *Exchange) Cut() {
	if x.stream != nil {
		x.stream.conn.cut(x.stream)
		return
	}
	x.Close()
}

// Reset closes the connection with a RST. What the peer has not read yet may be lost to it. Over HTTP/2 the other
// exchanges of the connection end too.
func (x *Exchange) Reset() {
	x.leave(Local)
	if x.stream != nil {
		x.stream.conn.endOthers(x.stream)
	}
	ResetConn(x.conn)
	x.Close() // the outer layers too
}

// ResetConn closes a connection with a RST, and the layers above TCP after it.
func ResetConn(outer net.Conn) {
	defer outer.Close()
	for c := outer; c != nil; c = inner(c) {
		switch c := c.(type) {
		case interface{ Reset() error }:
			c.Reset()
		case *net.TCPConn:
			c.SetLinger(0)
			c.Close()
		}
	}
}

// inner is the connection below c, such as the one below TLS, or nil.
func inner(c net.Conn) net.Conn {
	if w, ok := c.(interface{ NetConn() net.Conn }); ok {
		return w.NetConn()
	}
	return nil
}

// Close ends what the exchange waits for. Over HTTP/1.1 it closes the connection and returns when nobody reads any
// more; over HTTP/2 it resets the stream with CANCEL unless its answer has ended. After Detach it does nothing.
func (x *Exchange) Close() {
	if x.stream != nil {
		x.leave(Local)
		x.stream.close()
		return
	}
	x.mu.Lock()
	detached := x.detached
	if !detached && x.how == "" { // under the lock that Detach decides under
		x.how = Local
		close(x.gone)
	}
	x.mu.Unlock()
	if !detached {
		x.conn.Close()
	}
	<-x.read
}
