package mcp_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	gomcp "github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
)

// agent is a client of an SDK that is connected.
type agent interface {
	revision() string // that was agreed upon
	list(ctx context.Context) ([]tool, error)
	call(ctx context.Context, name string) (answer, error)
	progress() <-chan float64 // what was told of calls
	close() error
}

// tool is what an SDK hands over of one.
type tool struct {
	Name     string
	Schema   string // JSON
	ReadOnly bool
}

// answer is what an SDK hands over of a result. Structured is JSON.
type answer struct {
	Text       string
	Structured string
	IsError    bool
}

// token is the progress token of all calls: at most one is in flight.
const token = "token-of-a-test"

// way is an SDK over a transport.
type way struct {
	name     string
	revision string
	connect  func(t *testing.T, v *server) agent
	http     bool // Streamable HTTP
	listens  bool // opens the session's event stream by a GET, and hears there what a JSON answer has no room for

	// What a client does that gives up a call, as measured: what its notification says, "" when it sends none; that it
	// closes the response; that the server hears of it so that the call stops, which is not so everywhere; and what its
	// revision forbids of this.
	cancelled string
	left      bool
	stops     bool
	violation []string
	mayLose   bool // the caller is now and then told of a response that is missing, in place of its own cancel
	// The last event of a client that closes.
	goodbye, farewell string
}

// ways lists what is tested. Both SDKs begin with server/discover, which the fake answers in every revision.
func ways() []way {
	const (
		modern = mcp.Modern
		legacy = mcp.V20251125
	)
	// go-sdk tells cancels by a notification in every revision; over HTTP the modern one has the end of the stream for
	// that, and asks for no notification.
	told := []string{"cancelled by a notification: over HTTP the end of the response stream says it in " + modern}
	return []way{
		{name: "mcp-go, Streamable HTTP with sessions", revision: legacy, connect: mcpgoHTTP(legacy), http: true,
			left: true, mayLose: true, goodbye: "delete", farewell: "session-1"},
		{name: "mcp-go, Streamable HTTP without sessions", revision: modern, connect: mcpgoHTTP(""), http: true,
			left: true, stops: true, mayLose: true},
		{name: "mcp-go, HTTP+SSE", revision: legacy, connect: mcpgoEvents, goodbye: "left"},
		{name: "mcp-go, stdio of 2025-11-25", revision: legacy, connect: mcpgoPipe(legacy),
			cancelled: `reason="context canceled"`, stops: true, goodbye: "left", farewell: "fin"},
		{name: "mcp-go, stdio of 2026-07-28", revision: modern, connect: mcpgoPipe(""),
			cancelled: `reason="context canceled"`, stops: true, goodbye: "left", farewell: "fin"},
		{name: "go-sdk, Streamable HTTP with sessions", revision: legacy, connect: sdkHTTP(legacy), http: true, listens: true,
			cancelled: `reason="context canceled"`, left: true, stops: true, goodbye: "delete", farewell: "session-1"},
		{name: "go-sdk, Streamable HTTP without sessions", revision: modern, connect: sdkHTTP(""), http: true,
			cancelled: `reason="context canceled"`, left: true, stops: true, violation: told},
		{name: "go-sdk, HTTP+SSE", revision: legacy, connect: sdkEvents,
			cancelled: `reason="context canceled"`, stops: true, goodbye: "left"},
		{name: "go-sdk, stdio of 2025-11-25", revision: legacy, connect: sdkPipe(legacy),
			cancelled: `reason="context canceled"`, stops: true, goodbye: "left", farewell: "fin"},
		{name: "go-sdk, stdio of 2026-07-28", revision: modern, connect: sdkPipe(""),
			cancelled: `reason="context canceled"`, stops: true, goodbye: "left", farewell: "fin"},
	}
}

// mcpgo is a client of mcp-go.
type mcpgo struct {
	c     *client.Client
	first *gomcp.InitializeResult
	told  chan float64
}

func mcpgoHTTP(revision string) func(t *testing.T, v *server) agent {
	return func(t *testing.T, v *server) agent {
		tr, err := transport.NewStreamableHTTP(v.url+"/mcp", transport.WithHTTPBasicClient(v.http))
		require.NoError(t, err)
		return newMCPGo(t, revision, tr)
	}
}

func mcpgoEvents(t *testing.T, v *server) agent {
	tr, err := transport.NewSSE(v.url+"/sse", transport.WithHTTPClient(v.http))
	require.NoError(t, err)
	return newMCPGo(t, mcp.V20251125, tr)
}

func mcpgoPipe(revision string) func(t *testing.T, v *server) agent {
	return func(t *testing.T, v *server) agent {
		r, w := v.pipe()
		return newMCPGo(t, revision, transport.NewIO(r, w, nil))
	}
}

func newMCPGo(t *testing.T, revision string, tr transport.Interface) agent {
	a := &mcpgo{c: client.NewClient(tr), told: make(chan float64, 100)}
	a.c.OnNotification(func(n gomcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" && n.Params.AdditionalFields["progressToken"] == token {
			a.told <- n.Params.AdditionalFields["progress"].(float64)
		}
	})
	require.NoError(t, a.c.Start(t.Context()))
	var err error
	a.first, err = a.c.Initialize(t.Context(), gomcp.InitializeRequest{Params: gomcp.InitializeParams{
		ProtocolVersion: revision, ClientInfo: gomcp.Implementation{Name: "judge", Version: "1.0.0"},
	}})
	require.NoError(t, err)
	return a
}

func (a *mcpgo) revision() string         { return a.first.ProtocolVersion }
func (a *mcpgo) progress() <-chan float64 { return a.told }
func (a *mcpgo) close() error             { return a.c.Close() }

func (a *mcpgo) list(ctx context.Context) ([]tool, error) {
	got, err := a.c.ListTools(ctx, gomcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	var list []tool
	for _, t := range got.Tools {
		list = append(list, tool{t.Name, text(t.InputSchema), t.Annotations.ReadOnlyHint != nil && *t.Annotations.ReadOnlyHint})
	}
	return list, nil
}

func (a *mcpgo) call(ctx context.Context, name string) (answer, error) {
	got, err := a.c.CallTool(ctx, gomcp.CallToolRequest{Params: gomcp.CallToolParams{
		Name: name, Arguments: map[string]any{"q": "fjord"}, Meta: &gomcp.Meta{ProgressToken: token},
	}})
	if err != nil {
		return answer{}, err
	}
	out := answer{IsError: got.IsError}
	for _, c := range got.Content {
		out.Text += c.(gomcp.TextContent).Text
	}
	if got.StructuredContent != nil {
		out.Structured = text(got.StructuredContent)
	}
	return out, nil
}

// official is a client of the official SDK.
type official struct {
	s    *sdk.ClientSession
	told chan float64
}

func sdkHTTP(revision string) func(t *testing.T, v *server) agent {
	return func(t *testing.T, v *server) agent {
		return newSDK(t, revision, &sdk.StreamableClientTransport{Endpoint: v.url + "/mcp", HTTPClient: v.http})
	}
}

func sdkEvents(t *testing.T, v *server) agent {
	return newSDK(t, mcp.V20251125, &sdk.SSEClientTransport{Endpoint: v.url + "/sse", HTTPClient: v.http})
}

func sdkPipe(revision string) func(t *testing.T, v *server) agent {
	return func(t *testing.T, v *server) agent {
		r, w := v.pipe()
		return newSDK(t, revision, &sdk.IOTransport{Reader: r, Writer: w})
	}
}

func newSDK(t *testing.T, revision string, tr sdk.Transport) agent {
	a := &official{told: make(chan float64, 100)}
	c := sdk.NewClient(&sdk.Implementation{Name: "judge", Version: "1.0.0"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if r.Params.ProgressToken == token {
				a.told <- r.Params.Progress
			}
		},
	})
	var err error
	a.s, err = c.Connect(t.Context(), tr, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	require.NoError(t, err)
	return a
}

func (a *official) revision() string         { return a.s.InitializeResult().ProtocolVersion }
func (a *official) progress() <-chan float64 { return a.told }
func (a *official) close() error             { return a.s.Close() }

func (a *official) list(ctx context.Context) ([]tool, error) {
	got, err := a.s.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var list []tool
	for _, t := range got.Tools {
		list = append(list, tool{t.Name, text(t.InputSchema), t.Annotations != nil && t.Annotations.ReadOnlyHint})
	}
	return list, nil
}

func (a *official) call(ctx context.Context, name string) (answer, error) {
	params := &sdk.CallToolParams{Name: name, Arguments: map[string]any{"q": "fjord"}}
	params.SetProgressToken(token)
	got, err := a.s.CallTool(ctx, params)
	if err != nil {
		return answer{}, err
	}
	out := answer{IsError: got.IsError}
	for _, c := range got.Content {
		out.Text += c.(*sdk.TextContent).Text
	}
	if got.StructuredContent != nil {
		out.Structured = text(got.StructuredContent)
	}
	return out, nil
}

// text is a value as JSON.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(b)
}
