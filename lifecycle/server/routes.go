package server

import (
	"net/http"
	"strings"
	"time"
)

// route answers every request. While the server drains, all of them are refused, whatever they ask for, but decisions: without them a run
// that waits for one could not use its grace.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	s.conns.begin(connOf(r))
	s.bound(connOf(r))
	if strings.HasPrefix(r.URL.EscapedPath(), approvalsPath) {
		s.allow(w, r, s.decide, http.MethodPost)
		return
	}
	if s.registry.Draining() {
		refusedDraining().write(w)
		return
	}
	if s.conns.tooMany(connOf(r)) {
		refusedCrowd().write(w)
		return
	}
	switch r.URL.Path {
	case "/v1/chat/completions":
		s.allow(w, r, s.chat, http.MethodPost)
	case "/v1/models":
		s.allow(w, r, s.models, http.MethodGet)
	case "/health":
		s.allow(w, r, s.health, http.MethodGet)
	case "/metrics":
		s.allow(w, r, s.metrics, http.MethodGet)
	default:
		newProblem(http.StatusNotFound, invalidRequest, "no such path").write(w)
	}
}

func (s *Server) allow(w http.ResponseWriter, r *http.Request, handle http.HandlerFunc, method string) {
	if r.Method != method {
		w.Header().Set("Allow", method)
		newProblem(http.StatusMethodNotAllowed, invalidRequest, "use "+method+" here").write(w)
		return
	}
	handle(w, r)
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	id := s.file.Agent.Alias
	if id == "" {
		id = s.file.Agent.Name
	}
	writeJSON(w, http.StatusOK, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", []model{{id, "model", s.created.Unix(), s.file.Agent.LLM.Provider}}})
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Status    string `json:"status"`
		Timestamp string `json:"timestamp"`
		Version   string `json:"version"`
	}{"healthy", time.Now().UTC().Format(time.RFC3339), s.version})
}
