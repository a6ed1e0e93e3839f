package harness

import (
	"cmp"
	"fmt"
	"net"
	"sync"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/collector"
)

// The names under which [OpenPeers] asks for the listeners of those that are no MCP servers.
const (
	ApproverName  = "approver"
	CollectorName = "collector"
)

// Peers are the fakes that one server under test has to itself, as its set asks for them: MCP servers, an approval webhook and a collector.
type Peers struct {
	*Toolkit
	Approver  *approver.Approver   // nil when there is none
	Collector *collector.Collector // nil when there is none

	asks, exports string // the URLs of these two
	serving       sync.WaitGroup
}

// OpenPeers starts them, each on a listener of its own; see [OpenTools]. The collector refuses everything until a session is open.
func OpenPeers(s Set, shared bool, child []string, listen func(name string) (net.Listener, error)) (*Peers, error) {
	kit, err := OpenTools(s.Tools, shared, child, listen)
	if err != nil {
		return nil, fmt.Errorf("the MCP servers do not start: %w", err)
	}
	p := &Peers{Toolkit: kit}
	if s.Approval == Webhook {
		l, err := listen(ApproverName)
		if err != nil {
			p.Close()
			return nil, fmt.Errorf("the approval webhook does not start: %w", err)
		}
		p.Approver, p.asks = &approver.Approver{Secret: ApprovalSecret}, "http://"+l.Addr().String()+ApprovalPath
		p.serving.Go(func() { p.Approver.Serve(l) })
	}
	if s.Telemetry {
		l, err := listen(CollectorName)
		if err != nil {
			p.Close()
			return nil, fmt.Errorf("the collector does not start: %w", err)
		}
		p.Collector, p.exports = &collector.Collector{}, "http://"+l.Addr().String()
		p.serving.Go(func() { p.Collector.Serve(l) })
	}
	return p, nil
}

// Setup is what a server with these peers is told on any stage.
func (p *Peers) Setup(s Set, t Target, w Windows, provider string) Setup {
	return Setup{
		Windows: w, Provider: provider, Dialect: s.Dialect, Tools: p.Servers, Approval: s.Approval, Approver: p.asks, Signed: s.Approval == Webhook || s.Signed, Collector: p.exports,
		Execution: cmp.Or(s.Execution, t.Execution), Workers: Workers(s),
	}
}

// Close ends them and waits for them.
func (p *Peers) Close() {
	p.Toolkit.Close()
	if p.Approver != nil {
		p.Approver.Close()
	}
	if p.Collector != nil {
		p.Collector.Close()
	}
	p.serving.Wait()
}
