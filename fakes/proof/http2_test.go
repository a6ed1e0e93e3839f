package proof

import (
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

func one(c carrier) bool { return !c.two }
func two(c carrier) bool { return c.two }

// numbers are the error codes of HTTP/2 as its specification numbers them.
var numbers = map[string]http2.ErrCode{
	"NO_ERROR": 0, "PROTOCOL_ERROR": 1, "INTERNAL_ERROR": 2, "FLOW_CONTROL_ERROR": 3, "SETTINGS_TIMEOUT": 4, "STREAM_CLOSED": 5,
	"FRAME_SIZE_ERROR": 6, "REFUSED_STREAM": 7, "CANCEL": 8, "COMPRESSION_ERROR": 9, "CONNECT_ERROR": 10, "ENHANCE_YOUR_CALM": 11,
	"INADEQUATE_SECURITY": 12, "HTTP_1_1_REQUIRED": 13,
}

// http2Only are the faults that HTTP/1.1 has no form for.
func http2Only() []proof {
	resets := func(code string) func(variant, time.Duration) []script.Step {
		return list(script.Headers{}, text("one"), script.Await{Gate: gate}, fault.StreamReset{Code: code})
	}
	wantReset := func(code http2.ErrCode) func(x *exchange) {
		return func(x *exchange) {
			x.begun()
			x.went()
			require.Equal(x.t, "RST_STREAM "+code.String(), x.finish())
			x.wantPieces(x.firstFrame())
			x.wantAgain() // the connection lives
		}
	}
	wantAway := func(code http2.ErrCode) func(x *exchange) {
		return func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			x.wantPieces(x.frames())
			x.wantClosed(fin)
			away := x.peer.(*peer2).away()
			require.Equal(x.t, code, away.ErrCode)
			require.Equal(x.t, uint32(1), away.LastStreamID)
		}
	}
	all := []proof{
		{name: "a stream that is reset", proves: []string{"stream-reset"}, over: two, steps: list(script.Headers{}, text("one"), script.Await{Gate: gate}, fault.StreamReset{}), quiet: true,
			judge: wantReset(http2.ErrCodeInternal)},
		{name: "a stream that is reset before any byte", proves: []string{"stream-reset"}, over: two, steps: list(fault.StreamReset{Code: "REFUSED_STREAM"}), judge: func(x *exchange) {
			x.wantNoHead("RST_STREAM REFUSED_STREAM")
		}},
		{name: "a stream cannot be reset over HTTP 1.1", proves: []string{"stream-reset"}, over: one, wrong: true, steps: resets("CANCEL"), judge: func(x *exchange) {
			x.begun()
			x.went()
			require.Equal(x.t, fin, x.finish())
			x.wantPieces(x.firstFrame())
		}},
		{name: "going away takes no stream", proves: []string{"go-away.last"}, over: two, steps: list(script.Headers{}, text("one"), fault.GoAway{Last: -1}, fault.Stall{}), judge: func(x *exchange) {
			x.begun()
			p := x.peer.(*peer2)
			x.await("go-away")
			x.silent(5 * x.u)
			require.Equal(x.t, uint32(0), p.away().LastStreamID)
			require.Empty(x.t, p.end, "nor ends it this one")
		}},
		{name: "going away from streams above one to come", proves: []string{"go-away.last"}, over: two, steps: ended2(script.Headers{}, text("one"), fault.GoAway{Last: 3}, script.Await{Gate: gate}), judge: func(x *exchange) {
			x.begun()
			p := x.peer.(*peer2)
			x.await("await")
			p.open(3, x.path, x.body)
			p.open(5, x.path, x.body)
			ended := func() bool {
				for _, f := range p.got {
					if d, ok := f.(*http2.DataFrame); ok && d.StreamID == 3 && d.StreamEnded() {
						return true
					}
				}
				return false
			}
			for !ended() {
				require.Empty(x.t, p.frame(patience))
			}
			require.Equal(x.t, uint32(3), p.away().LastStreamID)
			x.went()
			require.Equal(x.t, complete, x.finish())
			x.wantClosed(fin)
			for _, f := range p.got {
				require.NotEqual(x.t, uint32(5), f.Header().StreamID, "%v", f)
			}
		}},
		{name: "HTTP 1.1 cannot go away", proves: []string{"go-away"}, over: one, wrong: true, steps: ended2(fault.GoAway{}, text("one")), judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			x.wantPieces(x.frames())
		}},
		{name: "a stream that is cancelled", proves: []string{"stream-reset.code=CANCEL"}, over: two, steps: resets("CANCEL"), judge: wantReset(http2.ErrCodeCancel)},
		{name: "going away for a reason", proves: []string{"go-away.code=ENHANCE_YOUR_CALM"}, over: two, steps: ended2(fault.GoAway{Code: "ENHANCE_YOUR_CALM"}, text("one")), judge: wantAway(http2.ErrCodeEnhanceYourCalm)},
		{name: "going away", proves: []string{"go-away"}, over: two, quiet: true, steps: ended2(fault.GoAway{}, text("one")), judge: wantAway(http2.ErrCodeNo)},
	}
	for _, code := range script.Codes() {
		all = append(all,
			proof{name: "a stream that is reset with " + code, proves: []string{"stream-reset.code=" + code}, over: two, sampled: true, steps: resets(code), judge: wantReset(numbers[code])},
			proof{name: "going away with " + code, proves: []string{"go-away.code=" + code}, over: two, sampled: true, steps: ended2(fault.GoAway{Code: code}, text("one")), judge: wantAway(numbers[code])},
		)
	}
	return all
}
