package scenarios

import "time"

// pace is how far apart steady output comes under a stream window: inside the inactivity window, and never at the
// instant of the cap or of a heartbeat.
func pace(stream time.Duration) time.Duration { return stream * 2 / 61 }

// beyond is how many pieces at that pace outlast the stream window.
const beyond = 34
