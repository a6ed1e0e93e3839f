package run

import "sync"

// Calls is the FIFO that joins the announcement of a tool call with its execution, which happens elsewhere and does not
// know the model's id: push at the announcement, peek at the start of execution, pop at the result. That is right only
// when each call is announced, executed and finished before the next is announced. It is safe for concurrent use.
type Calls struct {
	mu  sync.Mutex
	ids []string
}

// Push appends the id of a call that is announced.
func (c *Calls) Push(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, id)
}

// Peek is the id at the front, "" when there is none.
func (c *Calls) Peek() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) == 0 {
		return ""
	}
	return c.ids[0]
}

// Pop takes the id at the front, "" when there is none.
func (c *Calls) Pop() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) == 0 {
		return ""
	}
	id := c.ids[0]
	c.ids = c.ids[1:]
	return id
}
