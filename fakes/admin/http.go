package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// failure is an error as a client sees it.
type failure struct {
	status int
	Errors []detail `json:"errors"`
}

type detail struct {
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func fail(status int, format string, args ...any) *failure {
	return &failure{status: status, Errors: []detail{{Message: fmt.Sprintf(format, args...)}}}
}

// action answers a request with a value for JSON, or with nil when it has answered by itself.
type action func(w http.ResponseWriter, r *http.Request) (any, *failure)

// route is the actions of one path by their methods, and the keys that its query may have.
type route struct {
	methods map[string]action
	keys    []string
}

func (h *Handler) route(path string) *route {
	switch path {
	case "health":
		return &route{map[string]action{"GET": h.health}, nil}
	case "scripts":
		return &route{map[string]action{"GET": h.list, "POST": h.load, "DELETE": h.remove}, []string{"marker", "strict"}}
	case "timeline":
		return &route{map[string]action{"GET": h.read}, []string{"marker", "after", "limit"}}
	case "timeline/stream":
		return &route{map[string]action{"GET": h.stream}, []string{"marker", "after"}}
	case "reset":
		return &route{map[string]action{"POST": h.clear}, nil}
	}
	if name, ok := strings.CutPrefix(path, "gates/"); ok && name != "" {
		return &route{map[string]action{"POST": h.gate}, []string{"marker"}}
	}
	return nil
}

// ServeHTTP answers one request. A stream's lasts as long as the stream.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	// A writer without deadlines is its server's concern.
	rc.SetWriteDeadline(time.Now().Add(writeTime))
	defer rc.SetWriteDeadline(time.Time{}) // the connection may serve others next
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	v, no := h.answer(w, r)
	if no != nil {
		w.WriteHeader(no.status)
		v = no
	}
	if v != nil {
		json.NewEncoder(w).Encode(v) // it fails when the client has left
	}
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request) (any, *failure) {
	if !h.AnyHost && !local(r) {
		return nil, fail(http.StatusForbidden, "the host %.200q is not this fake's", r.Host)
	}
	if !h.AnyHost && foreign(r) {
		return nil, fail(http.StatusForbidden, "the request comes from a page of another site: %.200q", r.Header.Get("Origin"))
	}
	if err := new(http.CrossOriginProtection).Check(r); err != nil {
		return nil, fail(http.StatusForbidden, "the request comes from a page of another site")
	}
	path, ok := strings.CutPrefix(r.URL.Path, Prefix)
	at := h.route(path)
	if !ok || at == nil {
		return nil, fail(http.StatusNotFound, "there is no %.200q: want health, scripts, timeline, timeline/stream, gates/NAME or reset under %s", r.URL.Path, Prefix)
	}
	act := at.methods[r.Method]
	if act == nil {
		allowed := strings.Join(slices.Sorted(maps.Keys(at.methods)), ", ")
		w.Header().Set("Allow", allowed)
		return nil, fail(http.StatusMethodNotAllowed, "%s takes no %.20s: want %s", path, r.Method, allowed)
	}
	// A marker misspelt would be one left out, and hit another session.
	for key := range r.URL.Query() {
		if !slices.Contains(at.keys, key) {
			return nil, fail(http.StatusBadRequest, "%s has no parameter %.200q: want %s", path, key, cmp.Or(strings.Join(at.keys, ", "), "none"))
		}
	}
	return act(w, r)
}

func (h *Handler) health(http.ResponseWriter, *http.Request) (any, *failure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return map[string]any{"status": "ok", "sessions": len(h.sessions), "strays": h.Fake.Strays()}, nil
}

// entry is a session in the list of them.
type entry struct {
	Marker   string   `json:"marker"`
	About    string   `json:"about,omitempty"`
	Programs int      `json:"programs"`
	Gates    []string `json:"gates"`
}

func (h *Handler) list(http.ResponseWriter, *http.Request) (any, *failure) {
	list := []entry{}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range slices.Sorted(maps.Keys(h.sessions)) {
		list = append(list, h.sessions[m].entry())
	}
	return map[string]any{"sessions": list}, nil
}

func (s *session) entry() entry {
	return entry{Marker: s.marker, About: s.script.About, Programs: s.script.Programs, Gates: append([]string{}, s.script.Gates...)}
}

func (h *Handler) load(w http.ResponseWriter, r *http.Request) (any, *failure) {
	most := h.MaxBody
	if most == 0 {
		most = 1 << 20
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if tooMuch, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fail(http.StatusRequestEntityTooLarge, "the script has more than %d bytes", tooMuch.Limit)
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "the script did not arrive")
	}
	strict := false
	if given := r.URL.Query().Get("strict"); given != "" {
		if strict, err = strconv.ParseBool(given); err != nil {
			return nil, fail(http.StatusBadRequest, "strict is %.200q: want true or false", given)
		}
	}
	what, err := h.Fake.Read("script", body)
	if problems, ok := errors.AsType[script.Problems](err); ok {
		no := &failure{status: http.StatusBadRequest}
		for _, p := range problems {
			no.Errors = append(no.Errors, detail{Line: p.Line, Column: p.Column, Message: p.Text, Hint: p.Hint})
		}
		return nil, no
	}
	if err != nil {
		return nil, fail(http.StatusBadRequest, "%v", err)
	}
	marker := r.URL.Query().Get("marker")
	if marker == "" {
		h.release("")
	}
	s, err := h.open(marker, what, strict)
	switch {
	case errors.Is(err, errTaken):
		return nil, fail(http.StatusConflict, "%v", err)
	case errors.Is(err, errFull), errors.Is(err, net.ErrClosed):
		return nil, fail(http.StatusServiceUnavailable, "%v", err)
	case err != nil:
		return nil, fail(http.StatusBadRequest, "%v", err)
	}
	return s.entry(), nil
}

func (h *Handler) remove(_ http.ResponseWriter, r *http.Request) (any, *failure) {
	marker := r.URL.Query().Get("marker")
	unplayed, ok := h.release(marker)
	if !ok {
		return nil, fail(http.StatusNotFound, "there is no session %.200q", marker)
	}
	return map[string]any{"unplayed": append([]string{}, unplayed...)}, nil
}

func (h *Handler) clear(http.ResponseWriter, *http.Request) (any, *failure) {
	left, err := h.reset()
	if err != nil {
		return nil, fail(http.StatusServiceUnavailable, "%v", err)
	}
	return map[string]any{"unplayed": left}, nil
}

// named is the session that a request is about.
func (h *Handler) named(r *http.Request) (*session, *failure) {
	marker := r.URL.Query().Get("marker")
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[marker]; s != nil {
		return s, nil
	}
	return nil, fail(http.StatusNotFound, "there is no session %.200q", marker)
}

func (h *Handler) gate(_ http.ResponseWriter, r *http.Request) (any, *failure) {
	s, no := h.named(r)
	if no != nil {
		return nil, no
	}
	name := strings.TrimPrefix(r.URL.Path, Prefix+"gates/")
	if !slices.Contains(s.script.Gates, name) {
		return nil, fail(http.StatusNotFound, "no step awaits the gate %.200q; those that are awaited: %.1000s", name, strings.Join(s.script.Gates, ", "))
	}
	// Recorded first, so that what follows from it stands behind it.
	e := s.timeline.Add(Lane, "", "open", name)
	s.gates.Open(name)
	return e, nil
}

// page bounds the events of one answer: an event may have 4 KiB of text.
const page = 10_000

// number is a parameter of the query that counts something, or what stands for it when it is left out.
func number(r *http.Request, key string, least, most, missing int) (int, *failure) {
	given := r.URL.Query().Get(key)
	if given == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < least || n > most {
		return 0, fail(http.StatusBadRequest, "%s is %.200q: want a number from %d to %d", key, given, least, most)
	}
	return n, nil
}

// behind is a session with the number of the last event that the client has seen of it.
func (h *Handler) behind(r *http.Request) (s *session, after int, no *failure) {
	if after, no = number(r, "after", 0, timeline.Limit, 0); no != nil {
		return nil, 0, no
	}
	s, no = h.named(r)
	return s, after, no
}

func (h *Handler) read(_ http.ResponseWriter, r *http.Request) (any, *failure) {
	s, after, no := h.behind(r)
	if no != nil {
		return nil, no
	}
	limit, no := number(r, "limit", 1, page, page)
	if no != nil {
		return nil, no
	}
	events := s.timeline.After(after, limit+1)
	more := len(events) > limit
	return struct {
		Events []timeline.Event `json:"events"`
		More   bool             `json:"more"` // behind these
		Lost   int              `json:"lost"` // behind the last that the timeline keeps
	}{append([]timeline.Event{}, events[:min(limit, len(events))]...), more, s.timeline.Lost()}, nil
}

func (h *Handler) stream(w http.ResponseWriter, r *http.Request) (any, *failure) {
	s, sent, no := h.behind(r)
	if no != nil {
		return nil, no
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	rc := http.NewResponseController(w)
	lines := json.NewEncoder(w)
	if rc.Flush() != nil {
		return nil, nil
	}
	const some = 100 // are copied at once
	for sent < timeline.Limit {
		events, err := s.timeline.Next(r.Context(), sent, some)
		if err != nil {
			return nil, nil // the client has left
		}
		for _, e := range events {
			rc.SetWriteDeadline(time.Now().Add(writeTime))
			if lines.Encode(e) != nil || rc.Flush() != nil {
				return nil, nil // it has left, or does not read
			}
			if sent = e.Seq; Last(e) {
				return nil, nil
			}
		}
	}
	return nil, nil
}
