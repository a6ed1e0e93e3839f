package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/timeline"
)

func TestTasksTellWhatBecameOfCalls(t *testing.T) {
	inBubble(t, mcp.Script{Tools: mcp.ReadyTools()}, func(w *world) {
		tasks := &mcp.Tasks{Timeline: func() *timeline.Timeline { return w.tl }}
		ask := func(method, target string, to any) int {
			t.Helper()
			w.settle()
			rec := httptest.NewRecorder()
			tasks.ServeHTTP(rec, httptest.NewRequest(method, target, nil))
			if to != nil {
				require.NoError(t, json.Unmarshal(rec.Body.Bytes(), to), rec.Body)
			}
			return rec.Code
		}
		type one struct {
			Status    string
			Started   string `json:"started_at"`
			Completed string `json:"completed_at"`
		}
		status := func(id string) (o one) {
			t.Helper()
			require.Equal(t, http.StatusOK, ask("GET", "/tasks?id="+id, &o))
			return o
		}
		w.begin()
		require.Equal(t, one{Status: "unknown"}, status("a"))

		began := time.Now()
		_, answer := w.ask(call("2", "slow_task", `"task_id":"a","duration_seconds":2`))
		require.Contains(t, answer, "Task a completed after 2s")
		require.Equal(t, one{"completed", began.UTC().Format(time.RFC3339Nano), began.Add(2 * time.Second).UTC().Format(time.RFC3339Nano)}, status("a"))

		ctx, leave := context.WithCancel(context.Background())
		resp := w.do(w.request(ctx, call("3", "slow_task", `"task_id":"b \"c\"","duration_seconds":60`)))
		require.Equal(t, "started", status("b+%22c%22").Status)
		sleep(time.Second)
		w.ask(cancel("3"))
		require.Equal(t, "cancelled", status("b+%22c%22").Status)
		leave()
		resp.Body.Close()

		var cancelled []map[string]any
		require.Equal(t, http.StatusOK, ask("GET", "/cancellations", &cancelled))
		require.Equal(t, []map[string]any{{"request_id": 3.0, "reason": "enough", "id": `b "c"`, "received_at_ms": float64(time.Now().UnixMilli())}}, cancelled)
		require.Equal(t, http.StatusOK, ask("GET", "/cancellations?id=a", &cancelled))
		require.Empty(t, cancelled)
		require.Equal(t, http.StatusNoContent, ask("DELETE", "/cancellations", nil))
		require.Equal(t, http.StatusOK, ask("GET", "/cancellations", &cancelled))
		require.Empty(t, cancelled)

		var all []one
		ask("GET", "/tasks", &all)
		require.Len(t, all, 2)
		require.Equal(t, http.StatusNoContent, ask("DELETE", "/tasks?id=a", nil))
		require.Equal(t, "unknown", status("a").Status)
		require.Equal(t, "cancelled", status("b+%22c%22").Status)
		require.Equal(t, http.StatusMethodNotAllowed, ask("POST", "/tasks", nil))
		require.Equal(t, http.StatusNotFound, ask("GET", "/other", nil))
	})
}
