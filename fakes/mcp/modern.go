package mcp

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// modernClient checks a request of 2026-07-28. Each of its clients is a new one: there are no sessions.
func (f *Fake) modernClient(m message, q params, r *http.Request, owner *session) (*peer, *fatal) {
	if !owner.Script.modern() {
		if r.Header.Get(sessionHeader) == "" && m.Method != "server/discover" {
			return nil, unsupported(owner, q.Meta.Revision)
		}
		// A server of before answers discover as any method that it does not know.
		return newPeer(owner.Script.legacy()[0], false), nil
	}
	if !m.request() {
		return newPeer(Modern, false), nil
	}
	if q.Meta.Revision != "" && !slices.Contains(owner.Script.speaks(), q.Meta.Revision) {
		return nil, unsupported(owner, q.Meta.Revision)
	}
	wrong := func(code int, format string, args ...any) (*peer, *fatal) {
		return nil, &fatal{status: http.StatusBadRequest, code: code, why: fmt.Sprintf(format, args...)}
	}
	switch h := r.Header; {
	case q.Meta.Revision == "":
		return wrong(codeParams, "%.100s without protocolVersion in _meta", m.Method)
	case len(q.Meta.Capabilities) == 0:
		return wrong(codeParams, "%.100s without clientCapabilities in _meta", m.Method)
	case h.Get(revisionHeader) != q.Meta.Revision:
		return wrong(codeHeader, "MCP-Protocol-Version is %.100q and _meta has %.100q", h.Get(revisionHeader), q.Meta.Revision)
	case h.Get(methodHeader) != m.Method:
		return wrong(codeHeader, "Mcp-Method is %.100q and the method %.100q", h.Get(methodHeader), m.Method)
	case m.Method == callMethod && plain(q.Name) && h.Get(nameHeader) != q.Name:
		return wrong(codeHeader, "Mcp-Name is %.100q and the tool %.100q", h.Get(nameHeader), q.Name)
	}
	return newPeer(Modern, false), nil
}

// plain says whether a name stands in a header as it is.
func plain(name string) bool {
	return name != "" && strings.TrimSpace(name) == name && !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' })
}

// unsupported refuses a revision.
func unsupported(owner *session, asked string) *fatal {
	return &fatal{
		status: http.StatusBadRequest, code: codeRevision, why: fmt.Sprintf("unsupported protocol version %.100q", asked), honest: true,
		data: string(object("supported", owner.Script.speaks(), "requested", asked)),
	}
}
