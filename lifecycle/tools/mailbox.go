package tools

// kept is how many progress reports wait for a slow reader. Each makes the one before it old news, so the oldest goes first.
const kept = 64

// mailbox takes one call's progress from the goroutine that reads the connection, which must not wait for anybody.
type mailbox chan Progress

func (m mailbox) put(p Progress) {
	for {
		select {
		case m <- p:
			return
		default:
		}
		select {
		case <-m:
		default:
		}
	}
}
