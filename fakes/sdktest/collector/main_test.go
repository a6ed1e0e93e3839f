package collector_test

import (
	"testing"

	"github.com/stallwright/stallwright/fakes/sdktest/fake"
)

func TestMain(m *testing.M) { fake.Main(m) }
