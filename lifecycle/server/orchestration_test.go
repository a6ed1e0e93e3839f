package server

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/config"
	"github.com/stallwright/stallwright/lifecycle/llm"
)

// crew is a coordinator that plans two tasks and then answers, and workers of which one thinks aloud and calls a tool.
func crew(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
	call := func(id, name, arguments string) error {
		return items(llm.Item{Kind: llm.ToolCallOpened, Call: llm.ToolCall{ID: id, Name: name}}, llm.Item{Kind: llm.ToolCallArguments, Text: arguments},
			llm.Item{Kind: llm.UsageReported, Usage: llm.Usage{Prompt: 1, Completion: 1, Total: 2}})(ctx, r, emit)
	}
	last := r.Messages[len(r.Messages)-1]
	switch {
	case r.Model == "gpt" && last.Role == "user":
		return call("p", "create_plan", `{"goal":"g","steps":[{"type":"parallel","items":[{"type":"task","task":"one","worker":"a"},{"type":"task","task":"two"}]}],"routing_rationale":"r","planning_summary":"s"}`)
	case r.Model == "gpt":
		return call("d", "respond_directly", `{"response":"it is done","routing_rationale":"r"}`)
	case last.Role == "user" && last.Content == "one":
		if err := emit(llm.Item{Kind: llm.Reasoning, Text: "hm"}); err != nil {
			return err
		}
		return call("c", "lookup", `{"x":1}`)
	}
	time.Sleep(time.Second)
	return call("s", "submit_result", `{"summary":"s","result":"found","confidence":"high"}`)
}

func orchestrated(c *Config) {
	c.Settings.CustomEvents, c.Settings.EmitReasoning = true, true
	c.File.Orchestration = config.Orchestration{Enabled: true, MaxPlanningCycles: 1, MaxPlanParseRetries: 1, AllowDirectAnswers: true, AllowClarification: true,
		Workers: []config.OrchestrationWorker{{Name: "a", Description: "d", Preamble: "p", TurnDepth: 3, LLM: config.LLM{Provider: "openai", Model: "small", BaseURL: "http://model.test/v1"}}}}
}

// serveCrew serves an orchestrated agent all of whose models are the crew.
func serveCrew(t *testing.T) *fixture {
	f := serve(t, crew, orchestrated)
	o := f.server.orchestrator
	o.Coordinator.Client, o.Generic.Agent.Client, o.Workers[0].Agent.Client = model(crew), model(crew), model(crew)
	o.Generic.Agent.Model = "any"
	return f
}

func TestOrchestratedStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serveCrew(t)
		got := text(t, f.ask(streaming))
		got = regexp.MustCompile(`"session_id":"[^"]*"`).ReplaceAllString(got, `"session_id":"S"`)
		got = regexp.MustCompile(`req_[0-9a-f]+`).ReplaceAllString(got, "R")
		for _, want := range []string{
			`event: aura.orchestrator.plan_created` + "\n" + `data: {"goal":"g","tasks":["one","two"],"routing_mode":"orchestrated","routing_rationale":"r","planning_response":"s","agent_id":"coordinator","session_id":"S"}`,
			`event: aura.orchestrator.task_started` + "\n" + `data: {"description":"one","task_id":0,"orchestrator_id":"R","worker_id":"a","agent_id":"coordinator","session_id":"S"}`,
			`data: {"description":"two","task_id":1,"orchestrator_id":"R","worker_id":"R",`,
			`event: aura.orchestrator.worker_reasoning` + "\n" + `data: {"task_id":0,"worker_id":"a","content":"hm","agent_id":"coordinator","session_id":"S"}`,
			`event: aura.reasoning` + "\n" + `data: {"content":"hm","agent_id":"a","agent_name":"a","parent_agent_id":"coordinator","session_id":"S"}`,
			`event: aura.orchestrator.tool_call_started` + "\n" + `data: {"task_id":0,"tool_call_id":"task0_lookup_1","tool_name":"lookup","worker_id":"a","arguments":{"x":1},"agent_id":"coordinator","session_id":"S"}`,
			`event: aura.orchestrator.tool_call_completed` + "\n" + `data: {"task_id":0,"tool_call_id":"task0_lookup_1","success":false,"duration_ms":0,"result":"Tool not found: lookup",`,
			`event: aura.orchestrator.task_completed` + "\n" + `data: {"task_id":0,"orchestrator_id":"R","worker_id":"a","success":true,"duration_ms":1000,"result":"found",`,
			`event: aura.orchestrator.synthesizing` + "\n" + `data: {"iteration":1,`,
			`event: aura.orchestrator.direct_answer` + "\n" + `data: {"response":"it is done","routing_rationale":"r",`,
			`event: aura.orchestrator.iteration_complete` + "\n" + `data: {"iteration":1,"will_replan":false,"planning_ms":0,"execution_ms":1000,"task_compute_ms":2000,"tool_ms":0,`,
			`"delta":{"role":"assistant","content":"it is done"}`,
			`"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10}`,
		} {
			require.Contains(t, got, want)
		}
		require.True(t, strings.HasSuffix(got, "data: [DONE]\n\n"))
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

func TestOrchestratedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := serveCrew(t)
		got := text(t, f.ask(plain))
		require.Contains(t, got, `"message":{"role":"assistant","content":"it is done"}`)
		require.Contains(t, got, `"total_tokens":10`)
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}
