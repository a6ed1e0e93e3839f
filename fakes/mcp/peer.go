package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// peer is one client, as far as the protocol tells clients apart: by its session id, its event stream or its pipe. The
// fake's mutex guards its fields.
type peer struct {
	id       string // of the session, "" for none
	bearer   string // the Authorization of the request that began the session
	begun    bool   // such a request was seen
	revision string
	apart    bool // its ids are its own: no other client shares them
	born     time.Time
	calls    map[string]*call  // in flight, by their ids as JSON
	ended    map[string]*ended // the last of those that were
	order    []string          // of ended, the oldest first
	asks     map[string]*asking
	asked    int
	listen   *stream // for what belongs to no call, or nil
	listener *call   // the GET that has it open
	stream   bool    // the session is that stream, of HTTP+SSE
	deaf     deafness
	running  sync.WaitGroup // its calls
}

// ended is what is kept of a call.
type ended struct {
	s        *session
	ref      string
	answered bool
}

// endedLimit bounds the calls that are remembered: a late cancel comes within some of them.
const endedLimit = 256

func newPeer(revision string, apart bool) *peer {
	return &peer{revision: revision, apart: apart, born: time.Now(), calls: map[string]*call{}, ended: map[string]*ended{}, asks: map[string]*asking{}}
}

// begins keeps with which credentials a session is begun. The mutex is held.
func (p *peer) begins(r *http.Request) { p.bearer, p.begun = r.Header.Get("Authorization"), true }

// recognise records a request in a session that has not the credentials which the session was begun with: a server that asks for any
// asks each request for them. The mutex is held.
func (f *Fake) recognise(p *peer, owner *session, r *http.Request, what string) {
	if p.begun && p.apart && r.Header.Get("Authorization") != p.bearer {
		f.record(owner, f.Name, "stranger", fmt.Sprintf("%.100s in session %s", what, p.id))
	}
}

// forget takes a call off those in flight. The mutex is held.
func (p *peer) forget(c *call) {
	key := string(c.id)
	if c.id == nil || p.calls[key] != c {
		return
	}
	delete(p.calls, key)
	if !p.apart {
		return
	}
	if p.ended[key] == nil {
		p.order = append(p.order, key)
	}
	p.ended[key] = &ended{c.s, c.ref, c.answered}
	if len(p.order) > endedLimit {
		delete(p.ended, p.order[0])
		p.order = p.order[1:]
	}
}

// cancelled is a notifications/cancelled.
func (f *Fake) cancelled(p *peer, owner *session, m message) {
	q := m.parameters()
	detail := fmt.Sprintf("id=%s reason=%.200q", shown(q.RequestID, 200), q.Reason)
	f.mu.Lock()
	c := p.calls[string(q.RequestID)]
	if c == nil && owner.Script.Manners.Loose {
		for id, other := range p.calls {
			if strings.Trim(id, `"`) == strings.Trim(string(q.RequestID), `"`) {
				c = other
			}
		}
	}
	past := p.ended[string(q.RequestID)]
	answered := c != nil && c.answered
	f.mu.Unlock()
	switch {
	case c == nil && past == nil:
		f.record(owner, f.Name, "cancelled", detail)
		f.record(owner, f.Name, "violation", "cancelled an unknown id: "+shown(q.RequestID, 200)+f.nearly(p, q.RequestID))
	case c == nil:
		f.record(past.s, past.ref, "cancelled", detail)
		if past.answered {
			f.record(past.s, past.ref, "violation", "cancelled after the response")
		}
	case c.method == "initialize":
		c.record("cancelled", detail)
		c.record("violation", "initialize was cancelled")
	default:
		c.record("cancelled", detail)
		if answered {
			c.record("violation", "cancelled after the response")
		}
		c.cancel()
	}
}

// nearly says that a call has the id in another JSON type.
func (f *Fake) nearly(p *peer, id json.RawMessage) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	for other := range p.calls {
		if strings.Trim(other, `"`) == strings.Trim(string(id), `"`) {
			return "; a call has " + shown(json.RawMessage(other), 200)
		}
	}
	return ""
}

// open gives out a session id, when the client may have one. The mutex is held.
func (f *Fake) open(p *peer, owner *session) {
	if f.peers == nil {
		f.peers = map[string]*peer{}
	}
	f.peers[p.id] = p
	f.record(owner, f.Name, "session", fmt.Sprintf("opened %s open=%d", p.id, len(f.peers)))
}

// drop ends a session; how says why. Its calls go on. The mutex is held.
func (f *Fake) drop(p *peer, owner *session, how string) {
	delete(f.peers, p.id)
	f.record(owner, f.Name, "session", fmt.Sprintf("%s %s open=%d", how, p.id, len(f.peers)))
}

// known is the client of a session id, or nil. Those whose time is over are dropped first. The mutex is held.
func (f *Fake) known(id string, owner *session) *peer {
	lives := owner.Script.Manners.Lives
	if lives.LostAt != "" && !owner.lost {
		select {
		case <-owner.gates.Opened(lives.LostAt):
			owner.lost = true
			for _, p := range f.peers {
				f.drop(p, owner, "lost")
			}
		default:
		}
	}
	p := f.peers[id]
	if p != nil && lives.For > 0 && time.Since(p.born) >= lives.For {
		f.drop(p, owner, "expired")
		return nil
	}
	return p
}
