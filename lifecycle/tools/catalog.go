package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxTools     = 5000     // of one server: providers take far fewer
	maxPages     = 200      // of one list: a server that gives a few tools a page still gets its thousands
	maxListBytes = 16 << 20 // of all pages of one list
	maxName      = 64       // bytes of a tool's name: what the providers take
)

// listed is a tool as its server lists it.
type listed struct {
	name        string
	description string
	schema      json.RawMessage
}

// list gathers the pages of a server's list.
type list struct {
	tools   []listed
	left    int // tools left out
	why     string
	pages   int
	bytes   int
	cursors map[string]bool
}

// add takes one page and returns the cursor of the next, or "".
func (l *list) add(page json.RawMessage) (string, error) {
	var p struct {
		Tools []struct {
			Name        json.RawMessage `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
		Next string `json:"nextCursor"`
	}
	if err := json.Unmarshal(page, &p); err != nil {
		return "", errors.New("the list of tools cannot be read")
	}
	l.pages++
	l.bytes += len(page)
	switch {
	case len(l.tools)+len(p.Tools) > maxTools:
		return "", fmt.Errorf("more than %d tools", maxTools)
	case l.pages > maxPages:
		return "", fmt.Errorf("more than %d pages of tools", maxPages)
	case l.bytes > maxListBytes:
		return "", fmt.Errorf("more than %d MiB of tools", maxListBytes>>20)
	case l.cursors[p.Next]:
		return "", errors.New("the list of tools comes back to a page it had")
	}
	for _, t := range p.Tools {
		var name string
		switch {
		case json.Unmarshal(t.Name, &name) != nil || name == "":
			l.leave("has no name")
			continue
		case !utf8.Valid(t.Name) || strings.ContainsRune(name, utf8.RuneError):
			l.leave("has a name that is not UTF-8") // it could not be sent back as it came
			continue
		}
		schema := t.Schema
		if len(schema) == 0 || schema[0] != '{' || !utf8.Valid(schema) {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		l.tools = append(l.tools, listed{name, strings.ToValidUTF8(t.Description, "\uFFFD"), schema})
	}
	if p.Next != "" {
		if l.cursors == nil {
			l.cursors = make(map[string]bool)
		}
		l.cursors[p.Next] = true
	}
	return p.Next, nil
}

func (l *list) leave(why string) {
	l.left++
	l.why = why
}

// note says what was left out, or nothing.
func (l *list) note() string {
	switch l.left {
	case 0:
		return ""
	case 1:
		return "left out a tool: it " + l.why
	default:
		return fmt.Sprintf("left out %d tools: the last %s", l.left, l.why)
	}
}

// target is what a tool's name stands for.
type target struct {
	slot *slot
	name string // the server's own
}

// catalog names the tools of a lease.
type catalog struct {
	tools   []Tool
	targets map[string]target
}

// add names a server's tools and says how many it took. A name that is taken gets the server's in front, then a number.
func (c *catalog) add(server string, s *slot, l *list) int {
	own := make(map[string]bool)
	taken := 0
	for _, t := range l.tools {
		if own[t.name] {
			l.leave("has the name of another")
			continue
		}
		own[t.name] = true
		name := c.free(server, t.name)
		c.targets[name] = target{s, t.name}
		c.tools = append(c.tools, Tool{Server: server, Name: name, Description: t.description, Schema: t.schema})
		taken++
	}
	return taken
}

func (c *catalog) free(server, original string) string {
	name := sanitise(original)
	if _, taken := c.targets[name]; !taken {
		return name
	}
	name = sanitise(server + "_" + original)
	base := name
	for n := 2; ; n++ {
		if _, taken := c.targets[name]; !taken {
			return name
		}
		suffix := "_" + strconv.Itoa(n)
		name = base[:min(len(base), maxName-len(suffix))] + suffix
	}
}

// sanitise is a name that every provider takes.
func sanitise(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxName)]
}
