package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stallwright/stallwright/fakes/admin"
	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// secretVariable has the secret of signatures, as the server under test has it: a flag would show it to everybody on the machine.
const secretVariable = "AURA_HITL_WEBHOOK_SECRET"

// defaultApprover is where the fake webhook listens.
const defaultApprover = "127.0.0.1:4018"

func (c *cli) fakeApproverCommand() *cobra.Command {
	var listenAt, name string
	var list, remote bool
	cmd := &cobra.Command{
		Use:   "approver",
		Short: "run a fake approval webhook",
		Long: "Decides about the tool calls that an agent server asks about, as a script says, one of its own or one in a file, and shows\n" +
			"on stderr what comes and goes. When " + secretVariable + " is set it signs its decisions and verifies the\n" +
			"questions. Test suites steer it over HTTP, under /_stallwright/. Ctrl-C ends it.",
		Example: "  stallwright fake approver --script deny\n  stallwright fake approver --script ./slow.yaml\n  stallwright fake approver --list",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if list {
				return c.table(approverShelf().rows())
			}
			what, err := approverShelf().find(c, name)
			if err != nil {
				return err
			}
			return c.fakeApprover(cmd.Context(), listenAt, remote, what)
		},
	}
	cmd.Flags().StringVar(&listenAt, "listen", defaultApprover, "the address to listen on")
	cmd.Flags().StringVar(&name, "script", "approve", "what is played: a name, a file such as ./slow.yaml, or - for stdin")
	cmd.Flags().BoolVar(&list, "list", false, "list the scripts")
	cmd.Flags().BoolVar(&remote, "allow-remote", false, "let other machines reach it")
	approverShelf().complete(cmd)
	return cmd
}

func (c *cli) fakeApprover(ctx context.Context, addr string, remote bool, what approver.File) error {
	l, err := listenFor(addr, remote)
	if err != nil {
		return err
	}
	fake := &approver.Approver{}
	fake.Secret, _ = c.lookup(secretVariable)
	steered := admin.Approver{Approver: fake}
	handler := &admin.Handler{Fake: steered, AnyHost: remote}
	fake.Front = beside(handler, guard{remote})
	root := "http://" + reachable(l.Addr())
	greeting := fmt.Sprintf("%s/approve\nexport STALLWRIGHT_ADMIN_URL=%s%s\n", root, root, strings.TrimSuffix(admin.Prefix, "/"))
	return c.stand(ctx, l, fake, handler, steered.Script(what), greeting)
}

func approverShelf() shelf[approver.File] {
	return shelf[approver.File]{"approver", approverScripts(), approver.Parse}
}

// approverScripts lists the scripts: the decisions, what is slow, and what goes wrong.
func approverScripts() []named[approver.File] {
	plays := func(name, about string, steps ...script.Step) named[approver.File] {
		return named[approver.File]{name, about, approver.File{About: about, Script: approver.Script{{Times: script.Any, Steps: steps}}}}
	}
	yes := approver.Decide{Approved: true}
	signed := func(s approver.Signature) approver.Decide { return approver.Decide{Approved: true, Signature: s} }
	return []named[approver.File]{
		plays("approve", "says yes", yes),
		plays("deny", "says no, and why", approver.Decide{Reason: "not today"}),
		plays("slow", "says yes after 20 s", script.Pause{For: 20 * time.Second}, yes),
		plays("silent", "never answers", fault.Stall{}),
		plays("status-500", "answers with the status 500 and a yes in the body", fault.Status{Code: 500, Body: `{"approved":true}`}),
		plays("no-json", "answers with something that is no JSON", fault.Status{Code: 200, Body: "yes"}),
		plays("unknown-field", "says yes, and more than asked", fault.Status{Code: 200, Body: `{"approved":true,"for":"ever"}`}),
		plays("redirect", "redirects to another host", fault.Status{Code: 307, Blank: true, Header: map[string]string{"Location": "http://elsewhere.test/approve"}}),
		plays("huge", "says yes with 16 MiB behind it", approver.Decide{Approved: true, Pad: 16 << 20}),
		plays("cut", "closes the connection without an answer", fault.Cut{}),
		plays("reset", "resets the connection", fault.Reset{}),
		plays("unsigned", "says yes without a signature", signed(approver.Unsigned)),
		plays("wrong-key", "says yes with a signature of another secret", signed(approver.WrongKey)),
		plays("wrong-decision", "says yes with a signature of another approval's", signed(approver.OtherDecision)),
		plays("old-signature", "says yes with a signature of yesterday", signed(approver.OldStamp)),
	}
}
