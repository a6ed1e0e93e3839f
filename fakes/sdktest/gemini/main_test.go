package gemini_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

// TestMain lets one goroutine be left: a package that genai imports starts it as the program begins.
func TestMain(m *testing.M) {
	fake.Main(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}
