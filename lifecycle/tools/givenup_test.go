package tools

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// abandoned is the cause of a call that is given up alone.
type abandoned struct{}

func (abandoned) Error() string        { return "dropped" }
func (abandoned) CancelReason() string { return "timeout" }

func TestACallThatIsGivenUpIsCancelledAtOnceAndAlone(t *testing.T) {
	tests := []struct {
		name        string
		serves      string
		sse         bool
		alone, rest []string
	}{
		{"with a notification", legacy, false, []string{"cancelled 4: timeout", "left 4"}, []string{"cancelled 5: client disconnected", "left 5", "DELETE"}},
		{"of the newest revision by leaving the stream", modern, false, []string{"left 3"}, []string{"left 4"}},
		{"with a notification beside the stream", legacy, true, []string{"cancelled 3: timeout"}, []string{"cancelled 4: client disconnected", "stream left"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, n network) {
				f := serve(t, n, "files", test.serves)
				defer f.close()
				s := at("files")
				if test.sse {
					f.sse()
					s.Transport = SSE
				}
				l := lease(t, &Pool{Servers: []Server{s}, Dial: n.dial})
				one := begin(l, slow(), "", nil)
				f.seen()
				other := begin(l, slow(), "", nil)
				f.seen()
				one.cancel(abandoned{})
				<-one.done
				require.Equal(t, abandoned{}, one.err)
				require.ElementsMatch(t, test.alone, f.seen())
				got, err := l.Call(t.Context(), echo("hi"), "", nil)
				require.NoError(t, err, "the connection goes on")
				require.Equal(t, Result{Text: `{"s":"hi"}`}, got)
				f.seen()
				l.Cleanup(t.Context(), "client disconnected")
				<-other.done
				require.ElementsMatch(t, test.rest, f.seen())
				require.Zero(t, f.elapsed())
			})
		})
	}
}

func TestAServerThatHearsNoCancellationHoldsUpNobody(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		f.on["notifications/cancelled"] = func(_ http.ResponseWriter, r *http.Request, _ said) { <-r.Context().Done() }
		p := &Pool{Servers: []Server{at("files")}, Dial: n.dial, CleanupBound: time.Minute}
		l := lease(t, p)
		c := begin(l, slow(), "", nil)
		f.seen()
		c.cancel(abandoned{})
		<-c.done
		require.Zero(t, c.after)
		l.Return()
		require.ElementsMatch(t, []string{"cancelled 4: timeout", "left 4", "DELETE"}, f.seen(), "its connection is not kept")
		p.Close(t.Context())
	})
}

func TestAnAnsweredCallThatIsGivenUpIsNotCancelled(t *testing.T) {
	bubble(t, func(t *testing.T, n network) {
		f := serve(t, n, "files", legacy)
		defer f.close()
		p := &Pool{Servers: []Server{at("files")}, Dial: n.dial}
		l := lease(t, p)
		c := begin(l, echo("hi"), "", nil)
		<-c.done
		f.seen()
		c.cancel(abandoned{})
		require.Empty(t, f.seen())
		l.Return()
		p.Close(t.Context())
	})
}
