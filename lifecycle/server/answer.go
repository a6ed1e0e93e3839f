package server

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/stallwright/stallwright/lifecycle/run"
)

// The types of error objects.
const (
	invalidRequest = "invalid_request_error"
	unavailable    = "service_unavailable"
	providerFailed = "provider_error"
	timeout        = "timeout_error"
	internal       = "internal_error"
)

// problem is an error object and the status it is sent with.
type problem struct {
	status  int
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func newProblem(status int, kind, message string) *problem {
	return &problem{status: status, Message: message, Type: kind}
}

func refusedDraining() *problem {
	return newProblem(http.StatusServiceUnavailable, unavailable, "Server is shutting down")
}

func refusedCrowd() *problem {
	return newProblem(http.StatusServiceUnavailable, unavailable, "Server has too many connections")
}

// problemOf is the error object of a run that failed, timed out or was shut down.
func problemOf(e run.Ending) *problem {
	status, kind := http.StatusInternalServerError, internal
	switch e.Code {
	case run.ProviderError, run.ProviderTruncated:
		status, kind = http.StatusBadGateway, providerFailed
	case run.FirstChunkTimeout, run.InactivityTimeout, run.StreamTimeout:
		status, kind = http.StatusGatewayTimeout, timeout
	case run.ServerShutdown:
		status, kind = http.StatusServiceUnavailable, unavailable
	}
	p := newProblem(status, kind, e.Message)
	code := string(e.Code)
	p.Code = &code
	return p
}

func (p *problem) write(w http.ResponseWriter) {
	if p.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Connection", "close") // the next request is for another server
	}
	writeJSON(w, p.status, struct {
		Error *problem `json:"error"`
	}{p})
}

// bound gives an answer that is no run its deadline, and what is left of the request's body too. A run has its own bounds and lifts it.
// The HTTP server takes deadlines away after the answer.
func (s *Server) bound(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(s.settings.LastWrite))
}

// boundWrite gives what is written next its deadline.
func (s *Server) boundWrite(conn net.Conn) {
	_ = conn.SetWriteDeadline(time.Now().Add(s.settings.LastWrite))
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body := encode(value)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush() // a run's handler may yet wait for an agent that is deaf
}

// encode is compact JSON that leaves <, > and & readable. The values of this package always encode.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
