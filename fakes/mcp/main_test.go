package mcp_test

import (
	"fmt"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/fakes/mcp"
)

// controlVariable has the control address of a process of these tests that is a child, or with a word behind it a
// grandchild.
const controlVariable = "STALLWRIGHT_TEST_CONTROL"

func TestMain(m *testing.M) {
	if addr := os.Getenv(controlVariable); addr != "" {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		if len(os.Args) > 1 {
			mcp.RunGrandchild(conn)
		}
		(&mcp.Child{Control: conn, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Grandchild: []string{os.Args[0], "grandchild"}}).Run()
	}
	goleak.VerifyTestMain(m)
}
