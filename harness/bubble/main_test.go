package bubble_test

import (
	"testing"

	"go.uber.org/goleak"
)

// The one goroutine that may be left is that of the server which leaks on purpose.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/stallwright/stallwright/harness/bubble_test.(*echo).ServeHTTP.func1"))
}
