package overlap

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/timeline"
)

func announced(n int, at time.Duration) timeline.Event {
	return timeline.Event{At: at, Lane: "client", Ref: "#1", Kind: "tool", Detail: fmt.Sprintf(`lookup {"key":"k%d","trial":"x"}`, n)}
}

func started(n int, at time.Duration) timeline.Event {
	return timeline.Event{At: at, Lane: "mcp", Ref: fmt.Sprintf("tools1#%d", n), Kind: "request", Detail: fmt.Sprintf(`tools/call id=%d tool="lookup" open=1 args={"key":"k%d"}`, n, n)}
}

func ended(n int, at time.Duration) timeline.Event {
	return timeline.Event{At: at, Lane: "mcp", Ref: fmt.Sprintf("tools1#%d", n), Kind: "result"}
}

func told(id, n int, at time.Duration) timeline.Event {
	return timeline.Event{At: at, Lane: "provider", Ref: "#2", Kind: "told", Detail: fmt.Sprintf("call_%d done k%d", id, n)}
}

func completed(id, n int, at time.Duration) timeline.Event {
	return timeline.Event{At: at, Lane: "client", Ref: "#1", Kind: "event", Detail: fmt.Sprintf(`aura.tool_complete {"tool_id":"call_%d","result":"done k%d"}`, id, n)}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		events []timeline.Event
		want   string
		breaks int
	}{
		{"one after another", []timeline.Event{announced(1, 0), started(1, 0), ended(1, 3), announced(2, 3), started(2, 3), ended(2, 5), told(1, 1, 5), told(2, 2, 5)}, "sequential, ids: only the results sent to the model were seen", 0},
		{"one after another, and nothing is announced", []timeline.Event{started(1, 0), ended(1, 3), started(2, 3), ended(2, 5)}, "sequential, ids: none were seen", 0},
		{"all announced first", []timeline.Event{announced(1, 0), announced(2, 0), started(1, 0), ended(1, 3), started(2, 3), ended(2, 5)}, "batched, ids: none were seen", 1},
		{"together", []timeline.Event{announced(1, 0), announced(2, 0), started(1, 0), started(2, 0), ended(2, 3), ended(1, 5)}, "concurrent, at most 2 at once, ids: none were seen", 2},
		{"in another order", []timeline.Event{started(2, 0), ended(2, 3), started(1, 3), ended(1, 5)}, "unordered, ids: none were seen", 2},
		{"client and model are told", []timeline.Event{started(1, 0), ended(1, 3), completed(1, 1, 3), started(2, 3), ended(2, 5), completed(2, 2, 5), told(1, 1, 5), told(2, 2, 5)}, "sequential, every id right", 0},
		{"the client alone is told", []timeline.Event{started(1, 0), ended(1, 3), completed(1, 1, 3), started(2, 3), ended(2, 5), completed(2, 2, 5)}, "sequential, ids: only what the client was told was seen", 0},
		{"the client is told of one call twice", []timeline.Event{started(1, 0), ended(1, 3), completed(1, 1, 3), completed(1, 1, 3), started(2, 3), ended(2, 5), told(1, 1, 5), told(2, 2, 5)}, "sequential, ids: the client was told of 1 of 2 calls, the model of 2", 0},
		{"told under each other's ids", []timeline.Event{started(1, 0), started(2, 0), ended(2, 3), completed(1, 2, 3), ended(1, 5), completed(2, 1, 5)}, "unordered, at most 2 at once, 2 told under the wrong id", 4},
		{"the model is told so", []timeline.Event{started(1, 0), ended(1, 3), started(2, 3), ended(2, 5), told(1, 2, 5), told(2, 1, 5)}, "unordered, 2 told under the wrong id", 2},
		{"one call shows nothing", []timeline.Event{started(1, 0), ended(1, 3)}, "unknown", 0},
		{"a call without an end shows nothing", []timeline.Event{started(1, 0), started(2, 0), ended(1, 3)}, "unknown, at most 2 at once", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Of(tt.events, 2)
			require.Equal(t, tt.want, p.String())
			require.Len(t, p.Breaks(), tt.breaks, p.Breaks())
		})
	}
}

func TestDraw(t *testing.T) {
	p := Of([]timeline.Event{announced(1, 0), started(1, 2), ended(1, 5), announced(2, 5), started(2, 6), ended(2, 9), told(1, 1, 10), told(2, 2, 10)}, 2)
	require.Equal(t, []string{
		"call_1  tools1    a ====    t",
		"call_2  tools1         a====t",
	}, p.Draw(29))
	require.Len(t, Of(nil, 3).Draw(10), 3)
}
