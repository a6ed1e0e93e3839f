package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
	"github.com/stallwright/stallwright/lifecycle/telemetry"
)

// Tools are what the model of one run may call. Call is used from several goroutines at once when execution overlaps.
type Tools interface {
	// List is what the model is told of.
	List() []llm.Tool
	// Call executes a call and returns what the model is told of it. The token goes with the call, and progress is called
	// with what the tool tells under it, never after Call has returned. It returns at once, with the cause of ctx, when ctx
	// ends; its other errors are those of a tool that could not be called, and are told to the model.
	Call(ctx context.Context, c llm.ToolCall, token int, progress func(run.ToolProgress)) (content string, failed bool, err error)
}

// Deciding are [Tools] some of which end an answer, such as the one with which a worker hands in its result: a turn that calls one is
// the last, whatever becomes of the call, and calls behind it are not executed.
type Deciding interface {
	Tools
	// Decides says whether a tool of that name ends the answer.
	Decides(name string) bool
}

// decisive are the calls up to the first that ends the answer, and whether there is one.
func decisive(tools Tools, calls []*call) ([]*call, bool) {
	d, ok := tools.(Deciding)
	if !ok {
		return calls, false
	}
	at := slices.IndexFunc(calls, func(c *call) bool { return d.Decides(c.Name) })
	if at < 0 {
		return calls, false
	}
	return calls[:at+1], true
}

// ErrUnknownTool is the error of [Tools] for a name that they do not have.
var ErrUnknownTool = errors.New("there is no such tool")

// Execution is how the calls of one model turn are executed.
type Execution string

// The ways of execution. In Sequential each call is announced, executed and finished before the next is announced, which is
// what the FIFO of calls needs.
const (
	Sequential     Execution = "sequential"
	Batched        Execution = "batched"         // all are announced, then executed one by one; results last
	Concurrent     Execution = "concurrent"      // they overlap, and are told apart by id
	ConcurrentFIFO Execution = "concurrent-fifo" // they overlap, and the FIFO tells them apart: wrongly
)

// toolError is the code of a call that failed, in telemetry alone: the model is told, and the run goes on.
const toolError run.Code = "tool_error"

// call is one tool call of a turn on its way.
type call struct {
	llm.ToolCall
	text      strings.Builder // of the arguments, as they come
	arguments json.RawMessage // nil when what the model wrote is no object
	announced time.Time
	content   string
	failed    bool
	err       error // why the run cannot go on
	panicked  any
}

// execute plays all calls of a turn and returns their results, in the order in which the model listed them.
func (a *Agent) execute(t *turn, calls []*call) ([]llm.Message, error) {
	var err error
	switch a.Execution {
	case Batched:
		err = a.batched(t, calls)
	case Concurrent:
		err = a.overlapping(t, calls, byID{})
	case ConcurrentFIFO:
		err = a.overlapping(t, calls, byFIFO{t.life.Calls()})
	default:
		err = a.sequential(t, calls)
	}
	if err != nil {
		return nil, err
	}
	var results []llm.Message
	for _, c := range calls {
		results = append(results, llm.Message{Role: "tool", Content: c.content, ToolCallID: c.ID})
	}
	return results, nil
}

func (a *Agent) sequential(t *turn, calls []*call) error {
	fifo := byFIFO{t.life.Calls()}
	for _, c := range calls {
		if err := a.announce(t, c, fifo); err != nil {
			return err
		}
		a.call(t, c, fifo)
		if err := a.complete(t, c, fifo); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) batched(t *turn, calls []*call) error {
	for _, c := range calls {
		if err := a.announce(t, c, byID{}); err != nil {
			return err
		}
	}
	for _, c := range calls {
		a.call(t, c, byID{})
		if c.err != nil {
			return c.err
		}
	}
	for _, c := range calls {
		if err := a.complete(t, c, byID{}); err != nil {
			return err
		}
	}
	return nil
}

// overlapping starts each call when it is announced and waits for all. A panic of one is the run's, and so the end of the others: nobody
// waits for a slow tool, or for a person's decision, before the run fails.
func (a *Agent) overlapping(t *turn, calls []*call, ids identity) error {
	ctx, end := context.WithCancelCause(t.ctx)
	defer end(nil)
	outer := t.ctx
	t.ctx = ctx
	defer func() { t.ctx = outer }() // when all have ended
	var executing sync.WaitGroup
	errs := make([]error, len(calls))
	begun := 0
	for i, c := range calls {
		if errs[i] = a.announce(t, c, ids); errs[i] != nil {
			break
		}
		begun++
		executing.Go(func() {
			defer func() {
				if c.panicked = recover(); c.panicked != nil {
					end(run.Ending{How: run.Failed, Code: run.InternalError, Message: "internal error"})
				}
			}()
			a.call(t, c, ids)
			errs[i] = a.complete(t, c, ids)
		})
	}
	executing.Wait()
	for _, c := range calls[:begun] {
		if c.panicked != nil {
			panic(c.panicked)
		}
	}
	return errors.Join(errs...)
}

// identity is how an execution learns which announced call it is.
type identity interface {
	push(id string)
	peek(c *call) string
	pop(c *call) string
}

// byFIFO takes the call at the front for its own.
type byFIFO struct{ calls *run.Calls }

func (f byFIFO) push(id string)    { f.calls.Push(id) }
func (f byFIFO) peek(*call) string { return f.calls.Peek() }
func (f byFIFO) pop(*call) string  { return f.calls.Pop() }

// byID carries the id along.
type byID struct{}

func (byID) push(string)         {}
func (byID) peek(c *call) string { return c.ID }
func (byID) pop(c *call) string  { return c.ID }

func (a *Agent) announce(t *turn, c *call, ids identity) error {
	ids.push(c.ID)
	c.announced = time.Now()
	arguments := c.arguments
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	return t.life.Emit(t.ctx, run.ToolRequested{ID: c.ID, Name: c.Name, Arguments: arguments})
}

// call executes one call. What cannot be executed is answered, so that the model can do something else.
func (a *Agent) call(t *turn, c *call, ids identity) {
	if c.arguments == nil {
		c.content, c.failed = "Invalid tool arguments: they are not a JSON object", true
		return
	}
	if !t.has(c.Name) {
		c.content, c.failed = "Tool not found: "+clip(c.Name), true
		return
	}
	ctx, span := telemetry.Tool(t.ctx, c.Name, c.ID)
	ending := Ending(errPanicked)
	defer func() { span.End(ending) }()
	t.life.ToolBegins()
	defer t.life.ToolEnds()
	a.carryOut(ctx, t, c, ids)
	ending = c.ending()
}

// carryOut asks whether the call may be made, and makes it.
func (a *Agent) carryOut(ctx context.Context, t *turn, c *call, ids identity) {
	asked := llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(c.arguments)}
	permission, err := a.permit(ctx, t, asked)
	if err != nil {
		c.err = err
		return
	}
	if !permission.Granted {
		c.content, c.failed = permission.Told, permission.Failed
		return
	}
	token := int(t.tokens.Add(1))
	if c.err = t.life.Emit(t.ctx, run.ToolStarted{ID: ids.peek(c), Name: c.Name, Token: token}); c.err != nil {
		return
	}
	content, failed, err := t.tools.Call(ctx, asked, token, func(p run.ToolProgress) { _ = t.life.Emit(t.ctx, p) })
	switch {
	case t.ctx.Err() != nil:
		c.err = context.Cause(t.ctx)
	case errors.Is(err, ErrUnknownTool):
		c.content, c.failed = "Tool not found: "+clip(c.Name), true
	case err != nil:
		c.content, c.failed = "Tool execution failed: "+clip(err.Error()), true
	case failed:
		c.content, c.failed = "Tool returned an error: "+content, true
	default:
		c.content = content
	}
}

// ending is how a call that was executed ended. What the tool answered is not the run's failure, but the call's.
func (c *call) ending() run.Ending {
	if c.failed {
		return run.Ending{How: run.Failed, Code: toolError}
	}
	return Ending(c.err)
}

func (a *Agent) complete(t *turn, c *call, ids identity) error {
	if c.err != nil {
		return c.err
	}
	return t.life.Emit(t.ctx, run.ToolCompleted{ID: ids.pop(c), Name: c.Name, Duration: time.Since(c.announced), Failed: c.failed, Content: c.content})
}

// object is the arguments of a call when they are a whole JSON object; a model that has none to give may write nothing.
func object(arguments string) json.RawMessage {
	raw := json.RawMessage(strings.TrimSpace(arguments))
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case raw[0] != '{' || !json.Valid(raw):
		return nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return nil
	}
	return compact.Bytes()
}

// pending are the calls of a turn as its items build them up.
type pending struct {
	calls []*call
	at    map[int]*call // the latest at each of the model's indexes
}

func (p *pending) open(index int, c llm.ToolCall) {
	if p.at == nil {
		p.at = map[int]*call{}
	}
	opened := &call{ToolCall: c}
	p.at[index] = opened
	p.calls = append(p.calls, opened)
}

func (p *pending) add(index int, fragment string) error {
	c, known := p.at[index]
	if !known {
		return fmt.Errorf("agent: arguments of a tool call %d that was not opened", index)
	}
	c.text.WriteString(fragment)
	return nil
}

// whole are the calls with their arguments.
func (p *pending) whole() []*call {
	for _, c := range p.calls {
		c.Arguments = c.text.String()
		c.arguments = object(c.Arguments)
	}
	return p.calls
}
