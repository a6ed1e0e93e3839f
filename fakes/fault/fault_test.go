package fault

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKindsAreDistinctWords(t *testing.T) {
	faults := map[string]interface{ Kind() string }{
		"stall": Stall{}, "cut": Cut{}, "reset": Reset{}, "half-close": HalfClose{},
		"drip": Drip{}, "split": Split{}, "status": Status{}, "garble": Garble{},
	}
	for want, f := range faults {
		require.Equal(t, want, f.Kind())
	}
}
