package mcp

import (
	"strings"
	"testing"

	"net/http/httptest"

	"github.com/stretchr/testify/require"
)

func TestASessionOfAnEarlierFakeIsTakenWhenTold(t *testing.T) {
	ask := func(f *Fake, id string) int {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Session-Id", id)
		r.Header.Set("Mcp-Protocol-Version", V20251125)
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Code
	}
	strict := &Fake{Fallback: &Session{}}
	defer strict.Close()
	require.Equal(t, 404, ask(strict, "session-9"))
	adopts := &Fake{Fallback: &Session{}, Adopt: true}
	defer adopts.Close()
	require.NotEqual(t, 404, ask(adopts, "session-9"))
}
