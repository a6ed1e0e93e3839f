package proof

import (
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// saids are frames that no good answer has, or that carry no output.
func saids() []proof {
	all := []proof{
		{name: "a comment", proves: []string{"comment.text"}, steps: ended2(text("a"), script.Comment{Text: "hello"}, text("b")), nothing: notEvents, judge: func(x *exchange) {
			require.Equal(x.t, []string{": hello\n\n"}, x.between("comment"))
		}},
		{name: "a ping", proves: []string{"ping"}, steps: ended2(text("a"), script.Ping{}, text("b")), nothing: noPing, judge: func(x *exchange) {
			require.Equal(x.t, []string{ping(x.variant)}, x.between("ping"))
		}},
		{name: "an empty delta", proves: []string{"empty"}, steps: ended2(text("a"), script.Empty{}, text("b")), nothing: func(v variant) string {
			if !v.stream() {
				return "an answer in one piece has no deltas"
			}
			return ""
		}, judge: func(x *exchange) {
			list := x.between("empty")
			require.Len(x.t, list, 1)
			require.NotEmpty(x.t, list[0])
		}},
	}
	for _, form := range []script.ErrorForm{script.OwnForm, script.DataForm, script.ChoicesForm, script.FlatForm} {
		proves := []string{"error.type", "error.code", "error.message"}
		if form != "" {
			proves = []string{"error.form=" + string(form)}
		}
		all = append(all, proof{name: strings.TrimSpace("an error " + string(form)), proves: proves, steps: list(
			text("a"), script.Error{Type: "overloaded_error", Code: "503", Message: "the model is on fire", Form: form}, script.End{},
		), judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			status, _ := x.head()
			require.Equal(x.t, 200, status)
			x.wantPieces(x.frames())
			got := x.said.all()
			last := got[len(got)-1]
			require.Contains(x.t, last.bytes, "the model is on fire")
			require.Equal(x.t, map[bool]string{true: "error", false: "body"}[x.stream()], last.kind)
			x.await("error")
		}})
	}
	return all
}

// between reads an answer, and returns the frames of a kind, which must stand between a and b.
func (x *exchange) between(kind string) []string {
	x.t.Helper()
	x.begin()
	require.Equal(x.t, complete, x.finish())
	x.wantPieces(x.frames())
	x.await(kind)
	var kinds, out []string
	for _, r := range x.said.all() {
		kinds = append(kinds, r.kind)
		if r.kind == kind {
			out = append(out, r.bytes)
		}
	}
	if x.stream() {
		require.Equal(x.t, []string{"text", kind, "text"}, kinds[:3])
	} else {
		require.Equal(x.t, []string{kind, "body"}, kinds)
	}
	return out
}

// ping is the dialect's own keepalive as its documentation has it.
func ping(v variant) string {
	switch {
	case v.name == "deepseek in one piece":
		return "\n"
	case v.name == "deepseek stream":
		return ": keep-alive\n\n"
	case v.name == "anthropic stream":
		return "event: ping\ndata: {\"type\":\"ping\"}\n\n"
	case v.name == "responses stream": // an event, with the number behind those of the first text
		return "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":5}\n\n"
	}
	return ""
}

func noPing(v variant) string {
	if ping(v) == "" {
		return "the API has no keepalive there"
	}
	return ""
}

// keepalives are what is sent behind a silence.
func keepalives() []proof {
	var all []proof
	for _, form := range []script.Form{script.CommentForm, script.PingForm, script.EmptyForm, script.EmptyDataForm, script.RoleForm, script.BlankForm} {
		all = append(all, proof{name: "keepalives of the form " + string(form), proves: []string{"keepalive.form=" + string(form), "keepalive.every"}, steps: func(v variant, u time.Duration) []script.Step {
			beats := script.Keepalive{Form: form, Every: u}
			if !v.stream() {
				return ending(beats, fault.Stall{For: 3*u + u/2}, text("b"))
			}
			return ending(text("a"), beats, fault.Stall{For: 3*u + u/2}, script.Keepalive{}, fault.Stall{For: 2 * u}, text("b"))
		}, nothing: func(v variant) string { return noKeepalive(v, form) }, judge: func(x *exchange) { x.wantBeats(form, 3) }})
	}
	return append(all, proof{name: "keepalives for a while", proves: []string{"keepalive.for"}, steps: func(v variant, u time.Duration) []script.Step {
		beats := script.Keepalive{Form: script.BlankForm, Every: u, For: 2 * u}
		if !v.stream() {
			return ending(beats, fault.Stall{For: 9 * u}, text("b"))
		}
		return ending(text("a"), beats, fault.Stall{For: 9 * u}, text("b"))
	}, nothing: func(v variant) string { return noKeepalive(v, script.BlankForm) }, judge: func(x *exchange) { x.wantBeats(script.BlankForm, 2) }})
}

func noKeepalive(v variant, form script.Form) string {
	switch {
	case form == script.PingForm:
		return noPing(v)
	case v.framing == array && (form == script.CommentForm || form == script.EmptyDataForm):
		return "an array has no server-sent events"
	}
	return ""
}

// wantBeats wants so many keepalives, a unit apart, between the two texts. In real time a late one may be left out.
func (x *exchange) wantBeats(form script.Form, times int) {
	x.t.Helper()
	x.begin()
	require.Equal(x.t, complete, x.finish())
	_, h := x.head()
	require.Empty(x.t, h.Get("Content-Length"), "no length can be said")
	literal := map[script.Form]string{script.CommentForm: ": ping\n\n", script.EmptyDataForm: "data:\n\n", script.BlankForm: "\n", script.PingForm: ping(x.variant)}[form]
	var want []string
	rendered := 0
	for _, r := range x.said.all() {
		beat := slices.Contains([]string{"comment", "ping", "empty", "role"}, r.kind)
		if beat {
			rendered++
		}
		if beat && literal != "" && x.variant.name != "responses stream" { // whose events are numbered
			require.Equal(x.t, literal, r.bytes)
		}
		want = append(want, r.bytes)
	}
	before := 1 // frames
	if !x.stream() {
		before = 0
	}
	beats := rendered
	if rendered == 0 {
		beats = len(x.pieces) - len(want)
		want = slices.Insert(want, before, slices.Repeat([]string{literal}, max(0, beats))...)
	}
	if x.virtual {
		require.Equal(x.t, times, beats)
	} else {
		require.Positive(x.t, beats)
		require.LessOrEqual(x.t, beats, times)
	}
	x.wantPieces(want)
	for i := range beats {
		c := x.pieces[before+i]
		if x.virtual {
			x.wantInstant(time.Duration(i+1)*x.u, c)
		}
	}
	x.await("keepalive")
	x.wantAgain()
}
