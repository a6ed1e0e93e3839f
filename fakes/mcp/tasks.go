package mcp

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/stallwright/stallwright/fakes/timeline"
)

// The paths of Tasks.
const (
	TasksPath         = "/tasks"
	CancellationsPath = "/cancellations"
)

// Tasks tells over HTTP what has become of the calls that had a task_id, such as those of slow_task, for test suites that
// ask the server itself. All of it is read from a timeline.
//
//	GET, DELETE /tasks?id=ID           one task, or all without an id; DELETE forgets them
//	GET, DELETE /cancellations?id=ID   what was cancelled, of one task or of all
//
// Set its field before its first use. It is safe for concurrent use.
type Tasks struct {
	Timeline func() *timeline.Timeline // the one at present, or nil

	mu        sync.Mutex
	of        *timeline.Timeline        // that forgotten is about
	forgotten map[string]map[string]int // by path and id, "" is all: the number of the last event
}

type task struct {
	ID        string `json:"task_id"`
	Status    string `json:"status"` // unknown, started, completed or cancelled
	Started   string `json:"started_at,omitempty"`
	Completed string `json:"completed_at,omitempty"`
}

type cancellation struct {
	Request  json.RawMessage `json:"request_id"`
	Reason   string          `json:"reason"`
	Received int64           `json:"received_at_ms"` // since 1970
	Task     string          `json:"id,omitempty"`
}

// ServeHTTP answers one request.
func (t *Tasks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, id := r.URL.Path, r.URL.Query().Get("id")
	tl := t.Timeline()
	if path != TasksPath && path != CancellationsPath || tl == nil {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		w.Header().Set("Allow", "GET, DELETE")
		http.Error(w, "want GET or DELETE", http.StatusMethodNotAllowed)
		return
	}
	events := tl.Events()
	if r.Method == http.MethodDelete {
		t.forget(tl, path, id, len(events))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	began := time.Now().Add(-tl.Now())
	var answer any
	if path == CancellationsPath {
		answer = t.cancellations(tl, events, id, began)
	} else if tasks := t.tasks(tl, events, id, began); id == "" {
		answer = tasks
	} else {
		answer = append(tasks, task{ID: id, Status: "unknown"})[0]
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer) // it fails when the client has left
}

func (t *Tasks) forget(tl *timeline.Timeline, path, id string, last int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of != tl {
		t.of, t.forgotten = tl, map[string]map[string]int{}
	}
	if id == "" || t.forgotten[path] == nil {
		t.forgotten[path] = map[string]int{}
	}
	if len(t.forgotten[path]) < effectsLimit {
		t.forgotten[path][id] = last
	}
}

// forgets says whether an event of a task was forgotten.
func (t *Tasks) forgets(tl *timeline.Timeline, path, id string, e timeline.Event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.forgotten[path]
	return t.of == tl && e.Seq <= max(known[""], known[id])
}

// ofTask finds the id among the arguments of a request, and ofCancel what a cancel says.
var (
	ofTask   = regexp.MustCompile(`"task_id":("(?:[^"\\]|\\.)*")`)
	ofCancel = regexp.MustCompile(`^id=(.*) reason=("(?:[^"\\]|\\.)*")$`)
)

// taskOf is the task that a request begins, or "".
func taskOf(e timeline.Event) string {
	found := ofTask.FindStringSubmatch(e.Detail)
	var id string
	if e.Lane != Lane || e.Kind != "request" || !strings.HasPrefix(e.Detail, callMethod) || found == nil || json.Unmarshal([]byte(found[1]), &id) != nil {
		return ""
	}
	return id
}

// tasks are those with the id, or all, the latest first.
func (t *Tasks) tasks(tl *timeline.Timeline, events []timeline.Event, id string, began time.Time) []task {
	list := []task{}
	by := map[string]*task{} // of the request
	stamp := func(e timeline.Event) string { return began.Add(e.At).UTC().Format(time.RFC3339Nano) }
	var order []*task
	for _, e := range events {
		if begins := taskOf(e); begins != "" && (id == "" || id == begins) && !t.forgets(tl, TasksPath, begins, e) {
			by[e.Ref] = &task{ID: begins, Status: "started", Started: stamp(e)}
			order = append(order, by[e.Ref])
			continue
		}
		started := by[e.Ref]
		if e.Lane != Lane || e.Kind != "ended" || started == nil {
			continue
		}
		switch e.Detail {
		case "answered":
			started.Status, started.Completed = "completed", stamp(e)
		case "cancelled", "left", "closed":
			started.Status = "cancelled"
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		list = append(list, *order[i])
	}
	return list
}

func (t *Tasks) cancellations(tl *timeline.Timeline, events []timeline.Event, id string, began time.Time) []cancellation {
	list := []cancellation{}
	task := map[string]string{} // of the request
	for _, e := range events {
		if begins := taskOf(e); begins != "" {
			task[e.Ref] = begins
		}
		said := ofCancel.FindStringSubmatch(e.Detail)
		if e.Lane != Lane || e.Kind != "cancelled" || said == nil || id != "" && id != task[e.Ref] || t.forgets(tl, CancellationsPath, task[e.Ref], e) {
			continue
		}
		c := cancellation{Task: task[e.Ref], Received: began.Add(e.At).UnixMilli(), Request: json.RawMessage(said[1])}
		if !json.Valid(c.Request) {
			c.Request = json.RawMessage("null")
		}
		if json.Unmarshal([]byte(said[2]), &c.Reason) != nil {
			c.Reason = strings.Trim(said[2], `"`) // quoted as Go does, with an escape that JSON does not know
		}
		list = append(list, c)
	}
	return list
}
