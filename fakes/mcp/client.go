package mcp

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
)

// client finds out who sends a message, and in which revision.
func (f *Fake) client(m message, r *http.Request, owner *session) (*peer, *fatal) {
	q := m.parameters()
	header := r.Header.Get(revisionHeader)
	if m.Method != "initialize" && (header == Modern || q.Meta.Revision != "" || m.Method == "server/discover") {
		return f.modernClient(m, q, r, owner)
	}
	list := owner.Script.legacy()
	if len(list) == 0 {
		return nil, unsupported(owner, cmp.Or(header, q.ProtocolVersion))
	}
	id := r.Header.Get(sessionHeader)
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Method == "initialize" {
		if id != "" {
			f.record(owner, f.Name, "violation", fmt.Sprintf("initialize with the session id %.100q", id))
		}
		p, no := f.newClient(owner, owner.Script.agreed(q.ProtocolVersion))
		if no == nil {
			p.begins(r)
		}
		return p, no
	}
	p, no := f.session(id, owner)
	if no != nil {
		return nil, no
	}
	f.recognise(p, owner, r, m.Method)
	switch {
	case header == "" && p.revision >= V20250618:
		f.record(owner, f.Name, "violation", fmt.Sprintf("%.100s without MCP-Protocol-Version, in %s", m.Method, p.revision))
	case header != "" && !slices.Contains(list, header):
		return nil, &fatal{status: 400, code: codeRequest, why: fmt.Sprintf("MCP-Protocol-Version is %.100q, which the server does not speak", header)}
	case header != "" && header != p.revision && p.apart:
		f.record(owner, f.Name, "violation", fmt.Sprintf("MCP-Protocol-Version is %s in a session of %s", header, p.revision))
	}
	return p, nil
}

// newClient makes the session of an initialize. The mutex is held.
func (f *Fake) newClient(owner *session, revision string) (*peer, *fatal) {
	if owner.Script.Manners.NoIDs {
		if f.common == nil {
			f.common = newPeer(revision, false)
		}
		f.common.revision = revision
		return f.common, nil
	}
	f.known("", owner) // drops those that are lost by now
	if len(f.peers) >= f.maxPeers() {
		return nil, &fatal{status: 503, code: codeInternal, why: fmt.Sprintf("above %d sessions", f.maxPeers()), honest: true}
	}
	p := newPeer(revision, true)
	p.id = f.sessionID()
	f.open(p, owner)
	return p, nil
}

// session is the client of a session id. The mutex is held.
func (f *Fake) session(id string, owner *session) (*peer, *fatal) {
	if owner.Script.Manners.NoIDs {
		if f.common == nil {
			f.common = newPeer(owner.Script.legacy()[0], false)
		}
		return f.common, nil
	}
	if id == "" {
		return nil, &fatal{status: 400, code: codeRequest, why: "no Mcp-Session-Id"}
	}
	if p := f.known(id, owner); p != nil {
		return p, nil
	}
	if f.Adopt && len(f.peers) < f.maxPeers() {
		p := newPeer(owner.Script.legacy()[0], true)
		p.id = id
		f.open(p, owner)
		return p, nil
	}
	return nil, &fatal{status: 404, code: codeRequest, why: fmt.Sprintf("no session %.100q", id), honest: true}
}

// oneWay takes a notification or a response.
func (f *Fake) oneWay(w http.ResponseWriter, r *http.Request, p *peer, owner *session, m message) {
	if m.Method == "" {
		f.responded(p, owner, m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if c := f.scripted(m.Method, m.Params, p, owner); c != nil {
		f.heard(p, owner, m)
		f.answer(w, r, c, &stream{framing: bodies, status: http.StatusAccepted})
		return
	}
	f.heard(p, owner, m)
	w.WriteHeader(http.StatusAccepted)
}

// heard records a notification and does what it says.
func (f *Fake) heard(p *peer, owner *session, m message) {
	if m.Method == "notifications/cancelled" {
		if p.revision == Modern && p.listen == nil {
			q := m.parameters()
			f.record(owner, f.Name, "cancelled", fmt.Sprintf("id=%s reason=%.200q", shown(q.RequestID, 200), q.Reason))
			f.record(owner, f.Name, "violation", "cancelled by a notification: over HTTP the end of the response stream says it in "+Modern)
			return
		}
		f.cancelled(p, owner, m)
		return
	}
	f.record(owner, f.Name, "notification", fmt.Sprintf("%.200s", m.Method))
}
