package telemetry

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// maxText bounds, in bytes, every name and value of a span: models, tools and clients choose some of them.
const maxText = 256

// Span is a piece of work that has begun. The zero value is one that nobody watches. It is safe for concurrent use.
type Span struct{ span trace.Span }

// The names of attributes are those of OpenTelemetry's conventions for generative AI where these have one.
const (
	operation   = attribute.Key("gen_ai.operation.name")
	provider    = attribute.Key("gen_ai.provider.name")
	model       = attribute.Key("gen_ai.request.model")
	agentName   = attribute.Key("gen_ai.agent.name")
	toolName    = attribute.Key("gen_ai.tool.name")
	toolCallID  = attribute.Key("gen_ai.tool.call.id")
	inputs      = attribute.Key("gen_ai.usage.input_tokens")
	outputs     = attribute.Key("gen_ai.usage.output_tokens")
	reasons     = attribute.Key("gen_ai.response.finish_reasons")
	session     = attribute.Key("gen_ai.conversation.id")
	errorType   = attribute.Key("error.type")
	requestID   = attribute.Key("http.request_id")    // AURA's
	termination = attribute.Key("stream.termination") // AURA's, for every ending
	turns       = attribute.Key("stallwright.turns")
	decisionID  = attribute.Key("decision_id") // AURA's
	decision    = attribute.Key("stallwright.approval.decision")
	taskID      = attribute.Key("task_id") // AURA's
)

// Agent is who answers, as spans name it.
type Agent struct {
	Name     string
	Provider string // in the words of the conventions, such as openai, anthropic or gcp.gemini
	Model    string
}

// Run begins the span of a run, a trace of its own, and puts it into the context: the other functions begin theirs below it. Of the nil
// pointer the context is as it was, and spans are nobody's.
func (t *Telemetry) Run(ctx context.Context, id string, a Agent) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.provider.Tracer(scope).Start(ctx, "invoke_agent "+bounded(a.Name), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(text(operation, "invoke_agent"), text(agentName, a.Name), text(provider, a.Provider), text(model, a.Model), text(requestID, id)))
	return ctx, Span{span}
}

// Turn begins the span of one model turn.
func Turn(ctx context.Context, a Agent) (context.Context, Span) {
	return begin(ctx, "chat", a.Model, trace.SpanKindClient, text(provider, a.Provider), text(model, a.Model))
}

// Tool begins the span of one tool call: from the start of its execution, a wait for approval included, to its result.
func Tool(ctx context.Context, name, callID string) (context.Context, Span) {
	return begin(ctx, "execute_tool", name, trace.SpanKindInternal, text(toolName, name), text(toolCallID, callID), attribute.String("gen_ai.tool.type", "extension"))
}

// Approval begins the span of the wait for one decision about a tool call. Call it where the call pauses, with the context of the call's
// [Tool] span; say what was decided with [Span.Decided], and [Span.End] it with Completed whatever the answer was: a no is no failure. A wait
// that the run cut short ends with the run's ending, and one that failed, such as a webhook that answers 500, with Failed and a code.
func Approval(ctx context.Context, tool, id string) (context.Context, Span) {
	return begin(ctx, "approval", tool, trace.SpanKindInternal, text(toolName, tool), text(decisionID, id))
}

// Task begins the span of one worker's task. Give the context that it returns to the worker's agent, so that the worker's model turns and
// tool calls are below it, and [Span.End] it when the worker has returned: with Completed, or with Failed and the code of the task's failure,
// or with the run's ending when the run was cancelled. Neither the task's text nor its result goes into it.
func Task(ctx context.Context, id, worker string) (context.Context, Span) {
	return begin(ctx, "invoke_agent", worker, trace.SpanKindInternal, text(agentName, worker), text(taskID, id))
}

func begin(ctx context.Context, what, whose string, kind trace.SpanKind, attributes ...attribute.KeyValue) (context.Context, Span) {
	attributes = append(attributes, text(operation, what))
	ctx, span := tracer(ctx).Start(ctx, what+" "+bounded(whose), trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return ctx, Span{span}
}

// Usage says how many tokens the work has cost.
func (s Span) Usage(prompt, completion int) { s.set(inputs.Int(prompt), outputs.Int(completion)) }

// Finish says why the model stopped, in its provider's words.
func (s Span) Finish(reason string) { s.set(reasons.StringSlice([]string{bounded(reason)})) }

// Session says which conversation a run belongs to.
func (s Span) Session(id string) { s.set(text(session, id)) }

// Turns says how many model turns a run took.
func (s Span) Turns(n int) { s.set(turns.Int(n)) }

// Decided says how the wait ended: the kind of the approval's outcome, such as approved, denied or timed_out.
func (s Span) Decided(word string) { s.set(text(decision, word)) }

// End ends the span once; a later call does nothing. What failed or timed out has the status error and the ending's code. A client that left
// and a shutdown are no errors of the work: they have no status.
func (s Span) End(e run.Ending) {
	if s.span == nil {
		return
	}
	s.set(text(termination, strings.ReplaceAll(e.How.String(), " ", "_")))
	switch e.How {
	case run.Completed:
		s.span.SetStatus(codes.Ok, "")
	case run.Failed, run.TimedOut:
		s.set(text(errorType, string(e.Code)))
		s.span.SetStatus(codes.Error, bounded(string(e.Code))) // the message may hold a provider's own words
	}
	s.span.End()
}

func (s Span) set(attributes ...attribute.KeyValue) {
	if s.span != nil {
		s.span.SetAttributes(attributes...)
	}
}

func text(k attribute.Key, value string) attribute.KeyValue { return k.String(bounded(value)) }

// bounded is a text that others chose, short and valid: one byte that is no UTF-8 would make a whole export invalid.
func bounded(s string) string {
	if len(s) > maxText {
		s = s[:maxText-len("…")] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
