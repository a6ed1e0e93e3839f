package anthropic

import (
	"strconv"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// tool appends a frame of a call. Its opening holds the empty fragment that the API always sends first.
func (a *answer) tool(b []byte, s script.Tool, n int) []byte {
	if n > 0 {
		a.output++
		b = a.delta(b, a.find(s.Index).index, fragment)
		return append(provider.AppendString(b, s.Args[n-1]), "}}\n\n"...)
	}
	b = a.close(b)
	a.forget(s.Index)
	at := a.place(s.Index, a.next)
	at.opened, at.id, at.name = true, s.ID, s.Name
	b = a.begin(b, toolUse, at.index)
	b = append(b, `"tool_use","id":`...)
	b = provider.AppendString(b, s.ID)
	b = append(b, `,"name":`...)
	b = provider.AppendString(b, s.Name)
	b = a.began(append(b, inputAndCaller...))
	return append(a.delta(b, at.index, fragment), "\"\"}}\n\n"...)
}

const (
	fragment       = `input_json_delta","partial_json":`
	inputAndCaller = `,"input":{},"caller":{"type":"direct"}`
)

func (a *answer) find(number int) *tool {
	for i := range a.tools {
		if a.tools[i].number == number {
			return &a.tools[i]
		}
	}
	return nil
}

func (a *answer) place(number, index int) *tool {
	a.next = max(a.next, index+1)
	a.tools = append(a.tools, tool{number: number, index: index})
	return &a.tools[len(a.tools)-1]
}

// forget makes way for another call of the same number.
func (a *answer) forget(number int) {
	if t := a.find(number); t != nil {
		t.number = -1
	}
}

// part appends the events of a part of a call: the start of its block when it has an id or a name and the block has not
// begun, then a fragment when it has arguments. A number ahead of its turn leaves a gap in the blocks. A call that is open stays
// open, so that calls can overlap. The type function is tool_use, as is none; an id or a name said again is left out.
func (a *answer) part(b []byte, p script.ToolPart) []byte {
	at := a.where(p)
	if !at.opened && (p.ID.Set || p.Name.Set) {
		at.opened, at.id, at.name = true, p.ID.Text, p.Name.Text
		if len(a.open) > 0 && a.open[0].kind != toolUse {
			b = a.close(b)
		}
		b = a.begin(b, toolUse, at.index)
		b = append(b, kindOf(p.Type)...)
		b = appendField(b, "id", p.ID)
		b = appendField(b, "name", p.Name)
		b = a.began(append(b, inputAndCaller...))
	}
	if !p.Args.Set {
		return b
	}
	if !a.started {
		b = a.start(b)
	}
	a.output++
	b = a.delta(b, at.index, `input_json_delta"`)
	return append(appendField(b, "partial_json", p.Args), "}}\n\n"...)
}

// where is the call that a part belongs to: that of its number, else the latest unless the part says that it is another.
func (a *answer) where(p script.ToolPart) *tool {
	number, err := strconv.Atoi(p.Index.Text)
	if p.Index.Set && err == nil {
		if t := a.find(number); t != nil {
			return t
		}
		return a.place(number, a.next+max(0, number-len(a.tools)))
	}
	if n := len(a.tools); n > 0 {
		if t := &a.tools[n-1]; !t.opened || !differs(p.ID, t.id) && (p.ID.Text != "" || !differs(p.Name, t.name)) {
			return t
		}
	}
	return a.place(len(a.tools), a.next)
}

func differs(v script.Value, from string) bool { return v.Text != "" && v.Text != from }

func kindOf(v script.Value) []byte {
	switch {
	case v.Null:
		return []byte("null")
	case !v.Set, v.Text == "function":
		return []byte(`"tool_use"`)
	}
	return provider.AppendString(nil, v.Text)
}

// appendField appends a member behind others: nothing where it is absent.
func appendField(b []byte, name string, v script.Value) []byte {
	if !v.Set {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	if v.Null {
		return append(b, "null"...)
	}
	return provider.AppendString(b, v.Text)
}
