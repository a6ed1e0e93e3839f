package bedrock

import (
	"strconv"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
)

// tool appends a frame of a call.
func (a *answer) tool(b []byte, s script.Tool, n int) []byte {
	if n > 0 {
		return a.fragment(b, a.find(s.Index).index, script.Is(s.Args[n-1]))
	}
	b = a.close(b)
	if t := a.find(s.Index); t != nil { // another call of the same number
		t.number = -1
	}
	at := a.place(s.Index, a.next)
	return a.call(b, at, script.Is(s.ID), script.Is(s.Name))
}

func (a *answer) call(b []byte, t *tool, id, name script.Value) []byte {
	if !a.started {
		b = a.start(b)
	}
	t.opened, t.id, t.name = true, id.Text, name.Text
	a.open = append(a.open, block{toolUse, t.index})
	at := len(b)
	b = append(begin(b, "contentBlockStart"), `{"contentBlockIndex":`...)
	b = strconv.AppendInt(b, int64(t.index), 10)
	b = append(b, `,"start":{"toolUse":{`...)
	first := len(b)
	b = appendField(b, first, "toolUseId", id)
	b = appendField(b, first, "name", name)
	return a.end(append(b, "}}"...), at)
}

func (a *answer) fragment(b []byte, index int, args script.Value) []byte {
	a.output++
	at := len(b)
	b = append(a.delta(b, index), `"toolUse":{`...)
	b = appendField(b, len(b), "input", args)
	return a.end(append(b, "}}"...), at)
}

// appendField appends a member of the object that begins at first: nothing where it is absent.
func appendField(b []byte, first int, name string, v script.Value) []byte {
	if !v.Set {
		return b
	}
	if len(b) > first {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `":`...)
	if v.Null {
		return append(b, "null"...)
	}
	return provider.AppendString(b, v.Text)
}

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

// part appends the frames of a part of a call: the start of its block when it has an id or a name and the block has not
// begun, then a fragment when it has arguments. A number ahead of its turn leaves a gap in the blocks. A call that is open stays
// open, so that calls can overlap. A type has no form; an id or a name said again is left out.
func (a *answer) part(b []byte, p script.ToolPart) []byte {
	at := a.where(p)
	if !at.opened && (p.ID.Set || p.Name.Set) {
		if len(a.open) > 0 && a.open[0].kind != toolUse {
			b = a.close(b)
		}
		b = a.call(b, at, p.ID, p.Name)
	}
	if !p.Args.Set {
		return b
	}
	if !a.started {
		b = a.start(b)
	}
	return a.fragment(b, at.index, p.Args)
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
