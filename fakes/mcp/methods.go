package mcp

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// speaks lists the revisions of a script, newest first.
func (s Script) speaks() []string {
	if len(s.Revisions) == 0 {
		return Revisions()
	}
	return slices.DeleteFunc(Revisions(), func(r string) bool { return !slices.Contains(s.Revisions, r) })
}

func (s Script) modern() bool { return slices.Contains(s.speaks(), Modern) }

// legacy lists the revisions with initialize.
func (s Script) legacy() []string {
	return slices.DeleteFunc(s.speaks(), func(r string) bool { return r == Modern })
}

// agreed is the revision that initialize answers for one that is asked for.
func (s Script) agreed(asked string) string {
	list := s.legacy()
	if len(list) == 0 || slices.Contains(list, asked) {
		return asked
	}
	return list[0]
}

// behave answers a request as the protocol has it. The mutex is held.
func (c *call) behave(m message, q params, r *http.Request) {
	modern := c.revision == Modern
	switch {
	case m.Method == callMethod:
		c.runTool(q, r)
		return
	case m.Method == "tools/list":
		c.steps = []script.Step{Result{}}
		if list := c.owner.Script.Manners.List; list.Changed > 0 && !c.owner.listed {
			c.steps = append(c.steps, EndStream{}, script.Pause{For: list.Changed},
				Notify{Method: "notifications/tools/list_changed", On: OnSession})
		}
		return
	case m.Method == "server/discover" && c.owner.Script.modern(),
		!modern && slices.Contains([]string{"initialize", "ping", "logging/setLevel"}, m.Method):
		c.steps = []script.Step{Result{}}
		return
	case modern && m.Method == "subscriptions/listen":
		params := `{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `}}`
		c.steps = []script.Step{Notify{Method: "notifications/subscriptions/acknowledged", Params: params}, hold{}}
		return
	}
	if m.Method != "server/discover" && m.Method != "initialize" { // those find out what the server speaks
		c.record("violation", "unknown method: "+shown(quote(m.Method), 200))
	}
	c.steps = []script.Step{Error{Code: codeMethod, Message: "Method not found"}}
	if modern {
		c.steps = slices.Insert(c.steps, 0, script.Step(script.Headers{Status: http.StatusNotFound}))
	}
}

// lookup finds a tool. The mutex is held.
func (f *Fake) lookup(s, owner *session, name string) *Tool {
	for _, list := range [][]Tool{s.Script.Tools, owner.Script.Tools} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// runTool makes a call of a tool the steps that it is.
func (c *call) runTool(q params, r *http.Request) {
	t := c.f.lookup(c.s, c.owner, q.Name)
	if t == nil {
		c.record("violation", "unknown tool: "+shown(quote(q.Name), 200))
		c.steps = []script.Step{Error{Code: codeParams, Message: "Unknown tool: " + strings.ToValidUTF8(q.Name[:min(len(q.Name), 200)], "?")}}
		return
	}
	c.tool, c.onCancel, c.after = t, t.OnCancel, t.Result
	c.steps = append(c.steps, begin{})
	if t.Effect == AtStart {
		c.steps = append(c.steps, Effect{})
	}
	var work []script.Step
	if t.Run != nil {
		work = t.Run(Call{Arguments: q.Arguments, Headers: headersOf(r)})
	} else {
		work = t.work()
	}
	for _, step := range work {
		result, ok := step.(Result)
		if ok {
			c.after = result
		}
		if ok && t.Effect == AtAnswer {
			c.steps = append(c.steps, Effect{})
		}
		c.steps = append(c.steps, step)
		if ok && t.Effect == AfterAnswer {
			c.steps = append(c.steps, Effect{})
		}
	}
}

// work is what a tool without Run does.
func (t *Tool) work() []script.Step {
	var steps []script.Step
	p, rest := t.Progress, t.Takes
	switch {
	case p.Count == 0 && p.Every > 0:
		p.Count = int(t.Takes / p.Every)
	case p.Count > 0 && p.Every == 0:
		p.Every = t.Takes / time.Duration(p.Count)
	}
	if p.Count > 0 {
		steps = append(steps, p)
		rest -= p.Every * time.Duration(p.Count)
	}
	if rest > 0 {
		steps = append(steps, script.Pause{For: rest})
	}
	if t.Gate != "" {
		steps = append(steps, script.Await{Gate: t.Gate})
	}
	return append(steps, t.Result)
}

// headersOf are those of a request, for a tool that shows them.
func headersOf(r *http.Request) map[string]string {
	if r == nil {
		return nil
	}
	out := map[string]string{}
	for name, values := range r.Header {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}

// proper is the result of a method that is no tool call.
func (c *call) proper() []byte {
	info := object("name", cmp.Or(c.f.Name, "stallwright"), "version", "1.0.0")
	capabilities := rawJSON(`{"logging":{},"tools":{"listChanged":true}}`)
	var pairs []any
	if c.revision == Modern || c.method == "server/discover" {
		pairs = append(pairs, "resultType", "complete")
	}
	switch c.method {
	case "initialize":
		pairs = append(pairs, "protocolVersion", c.revision, "capabilities", capabilities, "serverInfo", rawJSON(info))
	case "server/discover":
		pairs = append(pairs, "supportedVersions", c.owner.Script.speaks(), "capabilities", capabilities, "ttlMs", 0, "cacheScope", "private",
			"_meta", rawJSON(object("io.modelcontextprotocol/serverInfo", rawJSON(info))))
	case "tools/list":
		pairs = append(pairs, "tools", rawJSON(c.listTools()))
		if c.revision == Modern {
			pairs = append(pairs, "ttlMs", 0, "cacheScope", "private")
		}
	}
	return object(pairs...)
}

// listTools is the list, or the beginning of it at the first time where the manners say so.
func (c *call) listTools() []byte {
	tools, list := c.owner.Script.Tools, c.owner.Script.Manners.List
	c.f.mu.Lock()
	first := !c.owner.listed
	c.owner.listed = true
	c.f.mu.Unlock()
	if first && (list.Short > 0 || list.Changed > 0) {
		tools = tools[:min(list.Short, len(tools))]
	}
	out := []rawJSON{}
	for _, t := range tools {
		pairs := []any{"name", t.Name, "description", cmp.Or(t.Description, "A tool for tests."), "inputSchema", rawJSON(cmp.Or(t.Schema, `{"type":"object"}`))}
		if t.Output != "" {
			pairs = append(pairs, "outputSchema", rawJSON(t.Output))
		}
		if t.ReadOnly || t.Idempotent {
			pairs = append(pairs, "annotations", rawJSON(object("readOnlyHint", t.ReadOnly, "idempotentHint", t.Idempotent)))
		}
		out = append(out, object(pairs...))
	}
	b, err := json.Marshal(out)
	if err != nil {
		return []byte("[]") // a schema that is no JSON: Validate refuses it
	}
	return b
}
