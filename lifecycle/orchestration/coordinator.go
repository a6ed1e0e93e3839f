package orchestration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// The coordinator's tools. Each decision is one call of one of them.
const (
	createPlan           = "create_plan"
	respondDirectly      = "respond_directly"
	requestClarification = "request_clarification"
)

// correction is what a coordinator is told that only talks, in AURA's words.
const correction = "You must call one of the routing tools (respond_directly, create_plan, or request_clarification). Do not respond with text — call a tool."

// decision is what the coordinator wants: a plan, an answer or a question.
type decision struct {
	call      llm.ToolCall // with which it said so
	plan      *plan
	response  string
	question  string
	options   []string
	rationale string
}

func (d *decision) text() string {
	if d.question != "" {
		return d.question
	}
	return d.response
}

// decide asks the coordinator, again after a stall or what is no decision, until there is one or the attempts are used up.
func (p *play) decide(ctx context.Context, first bool) (*decision, error) {
	var last error
	for range p.o.Attempts {
		d, err := p.ask(ctx, first)
		var f *Failure
		switch {
		case err == nil:
			return d, nil
		case !errors.As(err, &f), f.Kind != AgentTimeout && f.Kind != MalformedPlan:
			return nil, err
		}
		last = err
	}
	return nil, last
}

// ask makes one call of the coordinator. What it said that is no decision stays in the conversation, with what is wrong about it. Any
// error but the run's own is a [Failure].
func (p *play) ask(ctx context.Context, first bool) (*decision, error) {
	c := &call{run: p.run, lead: true}
	r := &routing{o: p.o, list: p.o.routes(first)}
	c.show = func(e run.Event) run.Event {
		switch e := e.(type) {
		case run.Reasoning:
			return e
		case run.ToolRequested:
			r.requested(e)
		case run.ToolCompleted:
			r.answer = e.Content
		}
		return nil
	}
	bounded, end := p.o.Timeouts.begin(ctx, c)
	defer end()
	a := p.counted(p.o.Coordinator)
	a.SystemPrompt = p.o.briefing(a.SystemPrompt, p.tools)
	if err := a.Answer(bounded, c, p.conversation, r); err != nil {
		if f := failureOf(err); f != nil {
			return nil, f
		}
		return nil, err
	}
	switch {
	case r.decision != nil:
		r.decision.call = r.call
		return r.decision, nil
	case r.call.ID == "" && r.call.Name == "":
		if said := c.said.String(); said != "" {
			p.conversation = append(p.conversation, llm.Message{Role: "assistant", Content: said})
		}
		p.conversation = append(p.conversation, llm.Message{Role: "user", Content: correction})
		return nil, malformed("the coordinator called no routing tool")
	case !slices.ContainsFunc(r.list, func(t llm.Tool) bool { return t.Name == r.call.Name }):
		r.problem = malformed("%s is not allowed before a plan was carried out", r.call.Name)
	case r.problem == nil:
		r.problem = malformed("the arguments of %s are not a JSON object", r.call.Name)
	}
	p.answered(r.call, r.answer)
	return nil, r.problem
}

// answered adds a decision and what became of it to the conversation.
func (p *play) answered(c llm.ToolCall, result string) {
	p.conversation = append(p.conversation,
		llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{c}}, llm.Message{Role: "tool", ToolCallID: c.ID, Content: result})
}

// routing are the coordinator's tools in one call of it.
type routing struct {
	o        *Orchestrator
	list     []llm.Tool
	call     llm.ToolCall // that decides
	answer   string       // to it
	decision *decision    // nil when it is none
	problem  *Failure
}

// List is what the coordinator may call.
func (r *routing) List() []llm.Tool { return r.list }

// Decides is so of every tool that the coordinator has.
func (r *routing) Decides(name string) bool {
	return name == createPlan || name == respondDirectly || name == requestClarification
}

func (r *routing) requested(e run.ToolRequested) {
	if r.Decides(e.Name) {
		r.call = llm.ToolCall{ID: e.ID, Name: e.Name, Arguments: string(e.Arguments)}
	}
}

// Call reads the decision. What is wrong with it is told to the coordinator.
func (r *routing) Call(_ context.Context, c llm.ToolCall, _ int, _ func(run.ToolProgress)) (string, bool, error) {
	r.decision, r.problem = r.read(c)
	if r.problem != nil {
		return r.problem.Reason, true, nil
	}
	return "accepted", false, nil
}

func (r *routing) read(c llm.ToolCall) (*decision, *Failure) {
	if c.Name == createPlan {
		p, f := r.o.readPlan(c.Arguments)
		if f != nil {
			return nil, f
		}
		return &decision{plan: p, rationale: p.Rationale}, nil
	}
	var said struct {
		Response  string   `json:"response"`
		Question  string   `json:"question"`
		Options   []string `json:"options"`
		Rationale string   `json:"routing_rationale"`
	}
	if json.Unmarshal([]byte(c.Arguments), &said) != nil {
		return nil, malformed("the arguments of %s cannot be read", c.Name)
	}
	d := &decision{rationale: said.Rationale}
	switch {
	case c.Name == respondDirectly && strings.TrimSpace(said.Response) != "":
		d.response = said.Response
	case c.Name == requestClarification && strings.TrimSpace(said.Question) != "":
		d.question, d.options = said.Question, said.Options
	default:
		return nil, malformed("%s says nothing", c.Name)
	}
	return d, nil
}

// routes are the coordinator's tools for its first decision, or for one about results.
func (o *Orchestrator) routes(first bool) []llm.Tool {
	list := []llm.Tool{{Name: createPlan, Description: "Have workers carry out a plan. Steps follow each other; the items of a parallel step go side by side.", Schema: json.RawMessage(planSchema)}}
	if !first || !o.NoDirectAnswer {
		list = append(list, llm.Tool{Name: respondDirectly, Description: "Give the user the final answer.", Schema: json.RawMessage(responseSchema)})
	}
	if !first || !o.NoClarification {
		list = append(list, llm.Tool{Name: requestClarification, Description: "Ask the user a question without whose answer nothing useful can be done.", Schema: json.RawMessage(questionSchema)})
	}
	return list
}

// The schemas of the routing tools. A step's own steps are not spelled out: providers differ in how they take recursion.
const (
	planSchema = `{"type":"object","properties":{"goal":{"type":"string"},"steps":{"type":"array","items":{"type":"object","properties":{` +
		`"type":{"type":"string","enum":["task","parallel","chain"]},"task":{"type":"string","description":"what to do, of a task"},` +
		`"worker":{"type":"string","description":"who does it, of a task; anybody when left out"},` +
		`"items":{"type":"array","items":{"type":"object"},"description":"steps, of a parallel"},` +
		`"steps":{"type":"array","items":{"type":"object"},"description":"steps, of a chain"}},"required":["type"]}},` +
		`"routing_rationale":{"type":"string"},"planning_summary":{"type":"string"}},"required":["goal","steps","routing_rationale","planning_summary"]}`
	responseSchema = `{"type":"object","properties":{"response":{"type":"string"},"routing_rationale":{"type":"string"},"summary":{"type":"string"}},"required":["response","routing_rationale"]}`
	questionSchema = `{"type":"object","properties":{"question":{"type":"string"},"options":{"type":"array","items":{"type":"string"}},"routing_rationale":{"type":"string"}},"required":["question","routing_rationale"]}`
)

// briefing is the coordinator's system prompt: its own, and who the workers are.
func (o *Orchestrator) briefing(own string, tools agent.Tools) string {
	var b strings.Builder
	if own != "" {
		b.WriteString(own + "\n\n")
	}
	b.WriteString("You coordinate workers. Decide with exactly one call of a routing tool. The workers:\n")
	for _, w := range o.Workers {
		fmt.Fprintf(&b, "\n- %s: %s\n", w.Name, w.Description)
		if o.ToolsInPlanning == "none" {
			continue
		}
		for i, t := range w.allowed(tools) {
			if i == o.MaxToolsPerWorker {
				b.WriteString("  - and more\n")
				break
			}
			fmt.Fprintf(&b, "  - tool %s: %s\n", t.Name, t.Description)
			if o.ToolsInPlanning == "full" {
				fmt.Fprintf(&b, "    %s\n", t.Parameters())
			}
		}
	}
	return b.String()
}
