package scenarios

import (
	"time"

	"github.com/stallwright/stallwright/harness"
)

// pace is how far apart steady output comes under a stream window: inside the inactivity window, and never at the
// instant of the cap or of a heartbeat.
func pace(stream time.Duration) time.Duration { return stream * 2 / 61 }

// beyond is how many pieces at that pace outlast the stream window.
const beyond = 34

// usual are the windows as they are when no clock is off: what a scenario about a clock that is off must outlast.
func usual(s *harness.Stage) harness.Windows {
	if s.Virtual {
		return harness.Production()
	}
	return harness.Short()
}
