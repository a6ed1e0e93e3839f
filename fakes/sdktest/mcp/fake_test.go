// Package mcp_test has mcp-go and the official go-sdk judge the well-behaved fake MCP server.
package mcp_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

// enough is for what happens at once: only a test that fails waits for it.
const enough = 10 * time.Second

// server is a fake that runs until the end of its test.
type server struct {
	t     *testing.T
	f     *mcp.Fake
	tl    *timeline.Timeline
	gates script.Gates
	url   string // without a path
	http  *http.Client
}

// start plays a script over loopback TCP, and over pipes for who asks for one.
func start(t *testing.T, s mcp.Script) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	transport := &http.Transport{} // no proxy, no connection shared with another test
	v := &server{t: t, f: &mcp.Fake{Name: "judged"}, tl: timeline.New(), url: "http://" + l.Addr().String(), http: &http.Client{Transport: transport}}
	require.NoError(t, v.f.Open("", &mcp.Session{Script: s, Timeline: v.tl, Gates: &v.gates, Seed: 1}))
	served := make(chan error, 1)
	go func() { served <- v.f.Serve(l) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		require.NoError(t, v.f.Close())
		require.NoError(t, <-served)
	})
	return v
}

// pipe has the fake serve a pair of pipes, as a child would its standard streams, and gives the client's ends. Both
// are closed when the fake is.
func (v *server) pipe() (io.ReadCloser, io.WriteCloser) {
	in, toFake := io.Pipe()
	fromFake, out := io.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		// How it ends is in the timeline.
		_ = v.f.ServeStdio(context.Background(), in, out)
		in.Close()
		out.Close()
	}()
	v.t.Cleanup(func() {
		toFake.Close()
		fromFake.Close()
		<-served
	})
	return fromFake, toFake
}

// await returns the first event of a kind whose detail has a text, whether it has come or is to come.
func (v *server) await(kind, text string) timeline.Event {
	v.t.Helper()
	e, ok := v.tl.Await(enough, func(e timeline.Event) bool { return e.Kind == kind && strings.Contains(e.Detail, text) })
	require.True(v.t, ok, "no %s %s in %v", kind, text, v.tl.Events())
	return e
}

// details are those of all events of a kind.
func (v *server) details(kind string) []string {
	var list []string
	for _, e := range v.tl.Events() {
		if e.Kind == kind {
			list = append(list, e.Detail)
		}
	}
	return list
}

// awaitListener waits until the client has the session's event stream open.
func (v *server) awaitListener() {
	v.t.Helper()
	_, ok := v.tl.Await(enough, func(e timeline.Event) bool { return e.Kind == "headers" && strings.Contains(e.Ref, "#get") })
	require.True(v.t, ok, "no event stream in %v", v.tl.Events())
}
