package orchestration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/lifecycle/agent"
	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// turn is what a model does when it is asked.
type turn func(ctx context.Context, r llm.Request, emit func(llm.Item) error) error

// models answer by the name of the model, one turn after the other.
type models struct {
	mu    sync.Mutex
	turns map[string][]turn
	asked map[string][]llm.Request
}

func (m *models) Stream(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	m.mu.Lock()
	r.Messages = slices.Clone(r.Messages)
	n := len(m.asked[r.Model])
	m.asked[r.Model] = append(m.asked[r.Model], r)
	if n >= len(m.turns[r.Model]) {
		m.mu.Unlock()
		return &llm.Error{Code: llm.ProviderError, Message: "nothing left to say"}
	}
	play := m.turns[r.Model][n]
	m.mu.Unlock()
	return play(ctx, r, emit)
}

func says(items ...llm.Item) turn {
	return func(_ context.Context, _ llm.Request, emit func(llm.Item) error) error {
		for _, i := range items {
			if err := emit(i); err != nil {
				return err
			}
		}
		return nil
	}
}

// calls is a turn with these calls, each a name and its arguments.
func calls(pairs ...string) turn {
	var items []llm.Item
	for i := 0; i < len(pairs); i += 2 {
		items = append(items, llm.Item{Kind: llm.ToolCallOpened, Index: i, Call: llm.ToolCall{ID: "call_1", Name: pairs[i]}},
			llm.Item{Kind: llm.ToolCallArguments, Index: i, Text: pairs[i+1]})
	}
	return says(append(items, llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: 1, Completion: 2, Total: 3}}, llm.Item{Kind: llm.Finished, Text: "tool_calls"})...)
}

func text(s string) turn {
	return says(llm.Item{Kind: llm.Text, Text: s}, llm.Item{Kind: llm.Finished, Text: "stop"})
}

// after is a turn that begins later.
func after(d time.Duration, t turn) turn {
	return func(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
		select {
		case <-time.After(d):
			return t(ctx, r, emit)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func plans(steps string) turn {
	return calls(createPlan, `{"goal":"g","steps":`+steps+`,"routing_rationale":"r","planning_summary":"s"}`)
}

func responds(s string) turn {
	return calls(respondDirectly, `{"response":"`+s+`","routing_rationale":"r"}`)
}

func submits(s string) turn {
	return calls(submitResult, `{"summary":"s","result":"`+s+`","confidence":"low"}`)
}

// clock is a tool that takes a second and says its arguments.
type clock struct{ tokens []int }

func (c *clock) List() []llm.Tool { return []llm.Tool{{Name: "tick"}, {Name: "tock"}} }

func (c *clock) Call(ctx context.Context, call llm.ToolCall, token int, progress func(run.ToolProgress)) (string, bool, error) {
	c.tokens = append(c.tokens, token)
	progress(run.ToolProgress{Token: token})
	select {
	case <-time.After(time.Second):
		return call.Arguments, false, nil
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
}

const (
	both  = `[{"type":"parallel","items":[{"type":"task","task":"one","worker":"a"},{"type":"task","task":"two","worker":"b"}]}]`
	chain = `[{"type":"task","task":"one","worker":"a"},{"type":"task","task":"two","worker":"b"}]`
)

// answer has an orchestrator of the workers a and b answer, in virtual time, and returns what became of it.
func answer(t *testing.T, turns map[string][]turn, edit func(*Orchestrator)) (m *models, events []string, took time.Duration, err error) {
	synctest.Test(t, func(t *testing.T) {
		m = &models{turns: turns, asked: map[string][]llm.Request{}}
		made := func(name string) agent.Agent {
			return agent.Agent{Client: m, Model: name, TurnDepth: 4, SystemPrompt: "be " + name}
		}
		o := &Orchestrator{
			Coordinator: made("lead"), Generic: Worker{Agent: made("any")}, MaxCycles: 2, Attempts: 2, MaxToolsPerWorker: 1,
			Workers: []Worker{{Name: "a", Description: "is a", Agent: made("a")}, {Name: "b", Description: "is b", Agent: made("b"), Filter: []string{"tick*"}}},
		}
		if edit != nil {
			edit(o)
		}
		r := run.New("r", run.Config{Buffer: 1000})
		defer r.End(run.Ending{How: run.Completed})
		start := time.Now()
		err = o.Answer(r.Context(), r, []llm.Message{{Role: "user", Content: "q"}}, &clock{})
		took = time.Since(start)
		for range len(r.Events()) {
			events = append(events, fmt.Sprintf("%T", <-r.Events())[len("run."):])
		}
	})
	return m, events, took, err
}

func TestAnswer(t *testing.T) {
	tests := []struct {
		name   string
		turns  map[string][]turn
		edit   func(*Orchestrator)
		events string
		took   time.Duration
		err    error
	}{
		{"the coordinator answers itself", map[string][]turn{"lead": {responds("hi")}}, nil, "DirectAnswer Text Finished", 0, nil},
		{"the coordinator asks", map[string][]turn{"lead": {calls(requestClarification, `{"question":"which?","options":["x"],"routing_rationale":"r"}`)}}, nil,
			"ClarificationNeeded Text Finished", 0, nil},
		{"a long answer comes in pieces", map[string][]turn{"lead": {responds(strings.Repeat("ü", 101))}}, nil, "DirectAnswer Text Text Text Finished", 0, nil},
		{"a coordinator that talks is asked again", map[string][]turn{"lead": {text("well"), responds("hi")}}, nil, "DirectAnswer Text Finished", 0, nil},
		{"one that only talks fails", map[string][]turn{"lead": {text("well"), text("well")}}, nil, "", 0,
			run.Ending{How: run.Failed, Code: run.ProviderError, Message: "planning failed: malformed_plan: the coordinator called no routing tool"}},
		{"a provider that fails is not asked again", map[string][]turn{"lead": {}}, nil, "", 0,
			run.Ending{How: run.Failed, Code: run.ProviderError, Message: "planning failed: provider_error: nothing left to say"}},
		{"tasks side by side take as long as the slowest", map[string][]turn{
			"lead": {plans(both), responds("hi")}, "a": {after(2*time.Second, submits("A"))}, "b": {after(time.Second, submits("B"))},
		}, nil, "PlanCreated TaskStarted TaskStarted TaskCompleted TaskCompleted Synthesizing DirectAnswer IterationCompleted Text Finished", 2 * time.Second, nil},
		{"tasks in a chain take as long as all", map[string][]turn{
			"lead": {plans(chain), responds("hi")}, "a": {after(2*time.Second, submits("A"))}, "b": {after(time.Second, submits("B"))},
		}, nil, "PlanCreated TaskStarted TaskCompleted TaskStarted TaskCompleted Synthesizing DirectAnswer IterationCompleted Text Finished", 3 * time.Second, nil},
		{"a task that names nobody is somebody's", map[string][]turn{"lead": {plans(`[{"type":"task","task":"one"}]`), responds("hi")}, "any": {submits("A")}}, nil,
			"PlanCreated TaskStarted TaskCompleted Synthesizing DirectAnswer IterationCompleted Text Finished", 0, nil},
		{"a second plan is carried out, and a third is not", map[string][]turn{
			"lead": {plans(`[{"type":"task","task":"one","worker":"a"}]`), plans(`[{"type":"task","task":"more","worker":"a"}]`), plans(chain)}, "a": {submits("A"), submits("B")},
		}, nil, "PlanCreated TaskStarted TaskCompleted Synthesizing IterationCompleted ReplanStarted PlanCreated TaskStarted TaskCompleted Synthesizing IterationCompleted Text Text Finished", 0, nil},
		{"a worker's tools and thoughts are shown", map[string][]turn{
			"lead": {plans(`[{"type":"task","task":"one","worker":"a"}]`), responds("hi")},
			"a":    {says(llm.Item{Kind: llm.Reasoning, Text: "hm"}, llm.Item{Kind: llm.ToolCallOpened, Call: llm.ToolCall{ID: "c", Name: "tick"}}), submits("A")},
		}, nil, "PlanCreated TaskStarted WorkerReasoning WorkerToolStarted WorkerToolProgress WorkerToolCompleted TaskCompleted Synthesizing DirectAnswer IterationCompleted Text Finished", time.Second, nil},
		{"a worker that talks is asked again", map[string][]turn{"lead": {plans(`[{"type":"task","task":"one","worker":"a"}]`), responds("hi")}, "a": {text("hm"), submits("A")}}, nil,
			"PlanCreated TaskStarted TaskCompleted Synthesizing DirectAnswer IterationCompleted Text Finished", 0, nil},
		{"a run without results has failed", map[string][]turn{"lead": {plans(chain)}, "a": {text("hm"), text("hm")}}, nil, "PlanCreated TaskStarted TaskCompleted", 0,
			run.Ending{How: run.Failed, Code: run.ProviderError, Message: "all tasks failed: soft_failure: the worker did not call submit_result"}},
		{"turns are limited", map[string][]turn{"lead": {plans(chain)}, "a": slices.Repeat([]turn{calls("tock", `{}`)}, 9)}, nil,
			"PlanCreated TaskStarted" + strings.Repeat(" WorkerToolStarted WorkerToolProgress WorkerToolCompleted", 3) + " TaskCompleted", 3 * time.Second,
			run.Ending{How: run.Failed, Code: run.MaxTurns, Message: "all tasks failed: depth_exhausted: the model did not finish within its turns"}},
		{"a coordinator lost after the work gives what there is", map[string][]turn{"lead": {plans(`[{"type":"task","task":"one","worker":"a"}]`)}, "a": {submits("A")}}, nil,
			"PlanCreated TaskStarted TaskCompleted Synthesizing Text Text Text Finished", 0, nil},
		{"an answer that is not allowed is no decision", map[string][]turn{"lead": {responds("hi"), responds("hi"), responds("hi")}}, func(o *Orchestrator) {
			o.NoDirectAnswer, o.Coordinator.TurnDepth = true, 1
		}, "", 0, run.Ending{How: run.Failed, Code: run.ProviderError, Message: "planning failed: malformed_plan: respond_directly is not allowed before a plan was carried out"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, events, took, err := answer(t, test.turns, test.edit)
			require.Equal(t, test.err, err)
			require.Equal(t, test.events, strings.Join(events, " "))
			require.Equal(t, test.took, took)
		})
	}
}

func TestWhoIsToldWhat(t *testing.T) {
	m, _, _, err := answer(t, map[string][]turn{
		"lead": {plans(`[]`), plans(chain), responds("hi")}, "a": {text("hm"), submits("A")}, "b": {submits("B")},
	}, nil)
	require.NoError(t, err)
	lead := m.asked["lead"]
	require.Equal(t, "be lead\n\nYou coordinate workers. Decide with exactly one call of a routing tool. The workers:\n\n"+
		"- a: is a\n  - tool tick: \n  - and more\n\n- b: is b\n  - tool tick: \n", lead[0].Messages[0].Content)
	require.Equal(t, llm.Message{Role: "tool", ToolCallID: "call_1", Content: "Tool returned an error: the plan has no steps"}, lead[1].Messages[3])
	require.Equal(t, "## Task 0: one\n\nA\n\n## Task 1: two\n\nB", lead[2].Messages[5].Content)
	require.Equal(t, "call_1", lead[2].Messages[4].ToolCalls[0].ID)
	a := m.asked["a"]
	require.Equal(t, []llm.Message{{Role: "system", Content: "be a"}, {Role: "user", Content: "one"}, {Role: "assistant", Content: "hm"}, {Role: "user", Content: workerCorrection}}, a[1].Messages)
	require.Equal(t, []string{"tick", "tock", submitResult}, names(a[0].Tools))
	require.Equal(t, "Result of task 0 (one):\nA\n\ntwo", m.asked["b"][0].Messages[1].Content)
	require.Equal(t, []string{"tick", submitResult}, names(m.asked["b"][0].Tools))
	require.Equal(t, []string{createPlan, respondDirectly, requestClarification}, names(lead[0].Tools))
}

func names(tools []llm.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// lastEvent is the last event of a run whose workers a and b play these turns side by side.
func lastEvent(t *testing.T, a, b []turn) (last run.Event) {
	m := &models{asked: map[string][]llm.Request{}, turns: map[string][]turn{"lead": {plans(both), responds("hi")}, "a": a, "b": b}}
	made := func(name string) agent.Agent { return agent.Agent{Client: m, Model: name, TurnDepth: 4} }
	o := &Orchestrator{Coordinator: made("lead"), MaxCycles: 1, Attempts: 1, Workers: []Worker{{Name: "a", Agent: made("a")}, {Name: "b", Agent: made("b")}}}
	r := run.New("r", run.Config{Buffer: 100})
	defer r.End(run.Ending{How: run.Completed})
	require.NoError(t, o.Answer(r.Context(), r, nil, nil))
	for range len(r.Events()) {
		last = <-r.Events()
	}
	return last
}

func TestUsageIsSummedOverAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := lastEvent(t, []turn{submits("A")}, []turn{calls("none", "{}"), submits("B")})
		require.Equal(t, run.Finished{Reason: "stop", Usage: run.Usage{Prompt: 5, Completion: 10, Total: 15}, Reported: true}, last)
	})
}

func TestUsageOfCallsThatFailIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func(_ context.Context, _ llm.Request, emit func(llm.Item) error) error {
			if err := emit(llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: 10, Completion: 20, Total: 30}}); err != nil {
				return err
			}
			return &llm.Error{Code: llm.ProviderError, Message: "cut"}
		}
		last := lastEvent(t, []turn{fails}, []turn{submits("B")})
		require.Equal(t, run.Finished{Reason: "stop", Usage: run.Usage{Prompt: 13, Completion: 26, Total: 39}, Reported: true}, last)
	})
}

func TestASlowReaderIsNoSilenceOfAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{asked: map[string][]llm.Request{}, turns: map[string][]turn{
			"lead": {plans(`[{"type":"task","task":"one","worker":"a"}]`), responds("hi")},
			"a": {says(llm.Item{Kind: llm.Reasoning, Text: "hm"}, llm.Item{Kind: llm.ToolCallOpened, Call: llm.ToolCall{ID: "c", Name: submitResult}},
				llm.Item{Kind: llm.ToolCallArguments, Text: `{"result":"A"}`}, llm.Item{Kind: llm.Finished, Text: "tool_calls"})},
		}}
		made := func(name string) agent.Agent { return agent.Agent{Client: m, Model: name, TurnDepth: 4} }
		o := &Orchestrator{Coordinator: made("lead"), MaxCycles: 1, Attempts: 1, Workers: []Worker{{Name: "a", Agent: made("a")}}, Timeouts: Timeouts{Inactivity: time.Second}}
		r := run.New("r", run.Config{Buffer: 2})
		defer r.End(run.Ending{How: run.Completed})
		answered := make(chan error, 1)
		go func() { answered <- o.Answer(r.Context(), r, nil, nil) }()
		synctest.Wait() // the thought finds no room behind the plan and the task
		time.Sleep(time.Minute)
		var done run.TaskCompleted
		for {
			switch e := (<-r.Events()).(type) {
			case run.TaskCompleted:
				done = e
			case run.Finished:
				require.NoError(t, <-answered)
				require.True(t, done.Success, done.Result)
				return
			}
		}
	})
}

func TestAPanicOfAWorkerEndsTheOthersAndIsPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left error
		m := &models{asked: map[string][]llm.Request{}, turns: map[string][]turn{"lead": {plans(both)},
			"a": {after(time.Second, func(context.Context, llm.Request, func(llm.Item) error) error { panic("oh") })},
			"b": {func(ctx context.Context, _ llm.Request, _ func(llm.Item) error) error {
				<-ctx.Done()
				left = context.Cause(ctx)
				return left
			}}}}
		made := func(name string) agent.Agent { return agent.Agent{Client: m, Model: name, TurnDepth: 4} }
		o := &Orchestrator{Coordinator: made("lead"), MaxCycles: 1, Attempts: 1, Workers: []Worker{{Name: "a", Agent: made("a")}, {Name: "b", Agent: made("b")}}}
		r := run.New("r", run.Config{Buffer: 100})
		defer r.End(run.Ending{How: run.Completed})
		require.PanicsWithValue(t, "oh", func() { _ = o.Answer(r.Context(), r, nil, nil) })
		require.EqualError(t, left, "agent_error: a worker panicked")
	})
}

func TestTheRunsEndingIsNoFailureOfItsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &models{asked: map[string][]llm.Request{}, turns: map[string][]turn{"lead": {plans(chain)}, "a": {after(time.Hour, submits("A"))}}}
		made := func(name string) agent.Agent { return agent.Agent{Client: m, Model: name, TurnDepth: 4} }
		o := &Orchestrator{Coordinator: made("lead"), MaxCycles: 1, Attempts: 1, Workers: []Worker{{Name: "a", Agent: made("a")}, {Name: "b", Agent: made("b")}}}
		r := run.New("r", run.Config{Buffer: 100, Stream: time.Minute})
		err := o.Answer(r.Context(), r, nil, nil)
		require.Equal(t, r.Ending(), err)
		require.Equal(t, run.StreamTimeout, r.Ending().Code)
		require.Empty(t, m.asked["b"])
		require.Len(t, r.Events(), 2, "the plan and its first task")
	})
}

func TestPlans(t *testing.T) {
	o := &Orchestrator{Workers: []Worker{{Name: "a"}}}
	nested := func(n int) string {
		return strings.Repeat(`{"type":"chain","steps":[`, n) + `{"type":"task","task":"t"}` + strings.Repeat(`]}`, n)
	}
	many := func(n int) string {
		return strings.TrimSuffix(strings.Repeat(`{"type":"task","task":"t"},`, n), ",")
	}
	tests := []struct{ name, steps, want string }{
		{"no steps", ``, "the plan has no steps"},
		{"a task that says nothing", `{"type":"task","task":" "}`, "task 0 says nothing"},
		{"a worker that there is not", `{"type":"task","task":"t"},{"type":"task","task":"t","worker":"z"}`, `task 1: there is no worker "z"`},
		{"a chain without steps", `{"type":"chain"}`, "a chain has no steps"},
		{"a group without items", `{"type":"parallel","items":[]}`, "a parallel group has no items"},
		{"a step of no kind", `{}`, `there is no step of type "": want task, parallel or chain`},
		{"eight levels", nested(maxDepth - 1), ""},
		{"nine levels", nested(maxDepth), "the plan is nested deeper than 8 levels"},
		{"a hundred tasks", many(maxTasks), ""},
		{"one more", many(maxTasks + 1), "the plan has more than 100 tasks"},
		{"a key that steps do not have", `{"type":"task","task":"t","depends_on":[1]},{"type":"task","task":"t","depends_on":[0]}`,
			`steps have no key "depends_on": what waits for what is said with chain and parallel`},
		{"one that is far down and long", `{"type":"chain","steps":[{"type":"task","task":"t","` + strings.Repeat("k", 99) + `":1}]}`,
			`steps have no key "` + strings.Repeat("k", 40) + `": what waits for what is said with chain and parallel`},
		{"steps that are none", `7`, "the plan cannot be read: steps are objects with type task, parallel or chain"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, f := o.readPlan(`{"goal":"g","steps":[` + test.steps + `]}`)
			if test.want == "" {
				require.Nil(t, f)
				require.NotEmpty(t, p.tasks)
				return
			}
			require.Equal(t, MalformedPlan, f.Kind)
			require.Equal(t, test.want, f.Reason)
		})
	}
}

func TestWaves(t *testing.T) {
	o := &Orchestrator{}
	p, f := o.readPlan(`{"goal":"g","steps":[{"type":"task","task":"0"},{"type":"parallel","items":[{"type":"chain","steps":[{"type":"task","task":"1"},{"type":"task","task":"2"}]},{"type":"task","task":"3"}]},{"type":"task","task":"4"}]}`)
	require.Nil(t, f)
	var waves [][]int
	for wave := p.wave(); len(wave) > 0; wave = p.wave() {
		var ids []int
		for _, w := range wave {
			ids = append(ids, w.id)
			w.ended = true
			if w.id == 2 {
				w.failure = &Failure{Kind: SoftFailure}
			}
		}
		waves = append(waves, ids)
	}
	require.Equal(t, [][]int{{0}, {1, 3}, {2}}, waves)
	require.Equal(t, DependencyFailed, p.tasks[4].failure.Kind)
	require.Contains(t, p.results(), "## Task 4: 4\n\nFailed: dependency_failed: task 2 failed")
}

func FuzzReadPlan(f *testing.F) {
	f.Add(`{"goal":"g","steps":` + both + `}`)
	f.Add(`{"goal":"g","steps":[{"type":"chain","steps":[{}]}]}`)
	o := &Orchestrator{Workers: []Worker{{Name: "a"}, {Name: "b"}}}
	f.Fuzz(func(t *testing.T, arguments string) {
		p, failure := o.readPlan(arguments)
		require.Equal(t, p == nil, failure != nil)
		if p != nil {
			require.NotEmpty(t, p.tasks)
			require.LessOrEqual(t, len(p.tasks), maxTasks)
			require.True(t, json.Valid([]byte(arguments)))
		}
	})
}
