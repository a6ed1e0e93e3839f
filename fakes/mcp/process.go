package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Child is this process as a fake MCP server over stdio. It is the far end of a control connection: what it reads goes
// there, what it writes comes from there, and [Fake.ServeChild] at the near end plays the server. So the script, its
// gates and the timeline are in one place, and a process can die without taking them along.
type Child struct {
	Control    net.Conn
	In         io.Reader
	Out        io.WriteCloser
	Err        io.Writer
	Grandchild []string // how it starts a process that calls RunGrandchild and has the same control address; nil when it cannot

	// Last is called when the process is about to end, and its fake knows. May be nil.
	Last func()

	link    *control
	manners Process
	bye     chan struct{}
	ending  sync.Once
	wants   chan struct{} // input is wanted
	output  chan []byte
}

const (
	// byeWait is how long a process that is about to end waits for that to be recorded: on one machine that takes no time.
	byeWait = time.Second
	// helloWait is how long a process may take to say what it is, and its fake to tell it how to behave.
	helloWait = 10 * time.Second
)

// Run is the process's life. It does not return: it ends the process, with the status and in the way that its fake
// orders, or like a good server when its input does. Without its fake it ends at once.
func (c *Child) Run() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // so that it is told when nobody reads its output
	c.link, c.bye = newControl(c.Control), make(chan struct{})
	c.wants, c.output = make(chan struct{}, 1), make(chan []byte, 1)
	if c.link.send(frameHello, []byte(rootChild)) != nil {
		abandoned()
	}
	body, err := c.link.first(frameManners, helloWait)
	if err != nil || json.Unmarshal(body, &c.manners) != nil {
		abandoned()
	}
	// These end with the process.
	go c.heed(signals)
	go func() {
		c.start()
		go c.write()
		c.read()
	}()
	c.obey()
}

// abandoned ends a process whose fake is gone. Others than the runtime's exit would wait for the race detector, or
// write what a program of tests has counted.
func abandoned() { syscall.Exit(1) }

// obey does what the fake orders.
func (c *Child) obey() {
	for {
		f, err := c.link.receive()
		if err != nil {
			abandoned()
		}
		switch f.kind {
		case frameRead:
			c.wants <- struct{}{}
		case frameOutput:
			c.output <- f.body
		case frameClose:
			c.Out.Close()
		case frameEnd:
			var how Exit
			if json.Unmarshal(f.body, &how) != nil {
				abandoned()
			}
			go c.end(how)
		case frameBye:
			close(c.bye)
		}
	}
}

// start does what comes before the first message.
func (c *Child) start() {
	m := c.manners
	time.Sleep(m.StartsAfter)
	flood := []byte(strings.Repeat(filler, inputSize/len(filler)) + "\n")
	for left := m.Floods; left > 0; left -= len(flood) {
		c.Err.Write(flood[:min(left, len(flood))])
	}
	if m.Dies != (Exit{}) {
		c.end(m.Dies)
	}
	if m.Grandchild != NoGrandchild {
		if err := c.beget(m.Grandchild == GrandchildLeaves); err != nil {
			c.end(Exit{Code: 1, Stderr: "the grandchild: " + err.Error()})
		}
	}
}

// beget starts a grandchild, which holds the output, and returns when it is up.
func (c *Child) beget(leaves bool) error {
	if len(c.Grandchild) == 0 {
		return fmt.Errorf("there is no command for it")
	}
	up, said, err := os.Pipe()
	if err != nil {
		return err
	}
	defer up.Close()
	cmd := exec.Command(c.Grandchild[0], c.Grandchild[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = c.Out, c.Err, []*os.File{said}
	if leaves {
		cmd.SysProcAttr = ownSession()
	}
	err = cmd.Start()
	said.Close()
	if err != nil {
		return err
	}
	go cmd.Wait() // should it end first
	_, err = io.Copy(io.Discard, up)
	return err
}

// RunGrandchild is the life of a grandchild: it does nothing, until its fake is gone or a signal ends it. It does not
// return.
func RunGrandchild(conn net.Conn) {
	link := newControl(conn)
	if link.send(frameHello, []byte(grandchild)) != nil {
		abandoned()
	}
	if _, err := link.first(frameManners, helloWait); err != nil {
		abandoned()
	}
	os.NewFile(3, "up").Close()
	link.receive()
	abandoned()
}

// read passes input on as it is wanted: so what the fake does not read stays in the pipe.
func (c *Child) read() {
	b := make([]byte, inputSize)
	for range c.wants {
		n, err := c.In.Read(b)
		if n > 0 {
			c.tell(frameInput, b[:n])
			continue
		}
		if err != nil {
			c.tell(frameEOF, nil)
			if !c.manners.IgnoresEOF {
				c.end(Exit{})
			}
			return
		}
	}
}

func (c *Child) write() {
	for b := range c.output {
		kind := byte(frameWritten)
		if _, err := c.Out.Write(b); err != nil {
			kind = frameBroken
		}
		c.tell(kind, nil)
	}
}

func (c *Child) tell(kind byte, body []byte) {
	if c.link.send(kind, body) != nil {
		abandoned()
	}
}

// heed tells of signals, and dies of them unless it ignores them.
func (c *Child) heed(signals <-chan os.Signal) {
	for s := range signals {
		name := signalName(s.(syscall.Signal))
		c.tell(frameSignal, []byte(name))
		if s != syscall.SIGTERM || !c.manners.IgnoresTERM {
			c.end(Exit{Signal: name})
		}
	}
}

// end ends the process once its fake knows. It does not return.
func (c *Child) end(how Exit) {
	c.ending.Do(func() {
		io.WriteString(c.Err, how.Stderr)
		if c.link.send(frameFarewell, []byte(how.String())) == nil {
			timer := time.NewTimer(byeWait)
			select {
			case <-c.bye:
			case <-timer.C:
			}
		}
		if c.Last != nil {
			c.Last()
		}
		if how.Signal != "" {
			s := signalNamed(how.Signal)
			signal.Reset(s)
			raise(s)
			select {} // until it arrives
		}
		syscall.Exit(how.Code)
	})
	select {}
}

// namedSignals are those that have names here.
func namedSignals() map[string]syscall.Signal {
	return map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP, "SIGKILL": syscall.SIGKILL}
}

func signalNamed(name string) syscall.Signal { return namedSignals()[name] }

func signalName(s syscall.Signal) string {
	for name, named := range namedSignals() {
		if named == s {
			return name
		}
	}
	return s.String()
}
