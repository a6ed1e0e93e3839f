package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxWindow is far above any sensible window: what is longer is a wrong unit.
const maxWindow = 30 * 24 * time.Hour

const maxBuffer = 100_000 // events of one run; more is memory, not buffering

const maxConnections = 1_000_000 // above what one process can have

var logFormats = []string{"json", "text"}

// logLevels are the levels of the log by their names.
var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

var toolResultModes = []string{"none", "open-web-ui", "aura"}

// FromEnv reads the settings that lookup knows (such as [os.LookupEnv], or flags laid over it); the others are those of
// [Defaults]. Windows are given in seconds or as Go durations. A variable that is set but empty is an error like any
// other wrong value. All errors are reported at once, a line each.
func FromEnv(lookup func(string) (string, bool)) (Settings, error) {
	s := Defaults()
	e := env{lookup: lookup}
	e.read("HOST", host(&s.Host))
	e.read("PORT", number(&s.Port, 0, 65535))
	e.read("CONFIG_PATH", text(&s.ConfigPath))
	e.read("MAX_CONNECTIONS", number(&s.Connections, 0, maxConnections))
	e.read("LOG_LEVEL", level(&s.LogLevel))
	e.read("LOG_FORMAT", oneOf(&s.LogFormat, logFormats))
	e.read("STREAMING_BUFFER_SIZE", number(&s.Buffer, 1, maxBuffer))
	e.read("AURA_CUSTOM_EVENTS", boolean(&s.CustomEvents))
	e.read("AURA_EMIT_REASONING", boolean(&s.EmitReasoning))
	e.read("TOOL_RESULT_MODE", oneOf(&s.ToolResultMode, toolResultModes))
	e.read("FIRST_CHUNK_TIMEOUT_SECS", window(&s.FirstChunk))
	e.read("STREAM_INACTIVITY_TIMEOUT_SECS", window(&s.Inactivity))
	e.read("STREAMING_TIMEOUT_SECS", window(&s.Stream))
	e.read("HEARTBEAT_SECS", window(&s.Heartbeat))
	e.read("SHUTDOWN_TIMEOUT_SECS", window(&s.Shutdown))
	e.read("SHUTDOWN_STRAGGLER_SECS", window(&s.Straggler))
	e.read("SHUTDOWN_ABORT_SECS", window(&s.Abort))
	e.read("MCP_CLEANUP_SECS", window(&s.Cleanup))
	e.read("MCP_CONNECT_SECS", positive(&s.Connect))
	e.read("HITL_TIMEOUT_SECS", positive(&s.Approval))
	e.read("ORCHESTRATION_PER_CALL_SECS", positive(&s.PerCall))
	e.read("ORCHESTRATION_INACTIVITY_SECS", positive(&s.TaskInactivity))
	e.read("LAST_WRITE_SECS", positive(&s.LastWrite))
	e.read("TELEMETRY_FLUSH_SECS", window(&s.Flush))
	e.telemetry(&s.Telemetry)
	e.readSigning(&s.Signing)
	return s, errors.Join(e.errs...)
}

type env struct {
	lookup func(string) (string, bool)
	errs   []error
}

// read hands the value of name to set, which returns what it wanted instead, or nothing when all is well.
func (e *env) read(name string, set func(value string) (wanted string)) {
	value, ok := e.lookup(name)
	if !ok {
		return
	}
	if wanted := set(value); wanted != "" {
		e.errs = append(e.errs, fmt.Errorf("%s=%s: %s", name, quote(value), wanted))
	}
}

// secretly is read for a value that errors must not show.
func (e *env) secretly(name string, set func(value string) (wanted string)) {
	if value, ok := e.lookup(name); ok {
		if wanted := set(value); wanted != "" {
			e.errs = append(e.errs, fmt.Errorf("%s: %s", name, wanted))
		}
	}
}

// quote shows a value that may be anything: escaped, cut.
func quote(s string) string {
	const enough = 64
	if len(s) > enough {
		return strconv.Quote(s[:enough]) + "…"
	}
	return strconv.Quote(s)
}

func choices(words []string) string { return "want one of " + strings.Join(words, ", ") }

func text(to *string) func(string) string {
	return func(v string) string {
		if v == "" {
			return "must not be empty"
		}
		*to = v
		return ""
	}
}

func host(to *string) func(string) string {
	return func(v string) string {
		_, err := netip.ParseAddr(v)
		if v == "" || err != nil && strings.ContainsAny(v, ":/[] \t\r\n") {
			return "want an address or a name, without a port"
		}
		*to = v
		return ""
	}
}

func number(to *int, low, high int) func(string) string {
	return func(v string) string {
		n, err := strconv.ParseUint(v, 10, 31)
		if err != nil || int(n) < low || int(n) > high {
			return fmt.Sprintf("want a whole number from %d to %d", low, high)
		}
		*to = int(n)
		return ""
	}
}

func boolean(to *bool) func(string) string {
	return func(v string) string {
		switch strings.ToLower(v) {
		case "1", "true", "yes", "on", "t", "y":
			*to = true
		case "0", "false", "no", "off", "f", "n":
			*to = false
		default:
			return "want true or false"
		}
		return ""
	}
}

func oneOf(to *string, words []string) func(string) string {
	return func(v string) string {
		if !slices.Contains(words, v) {
			return choices(words)
		}
		*to = v
		return ""
	}
}

func level(to *slog.Level) func(string) string {
	return func(v string) string {
		l, ok := logLevels[v]
		if !ok {
			return choices([]string{"debug", "info", "warn", "error"})
		}
		*to = l
		return ""
	}
}

func positive(to *time.Duration) func(string) string {
	return func(v string) string {
		var d time.Duration
		if wanted := window(&d)(v); wanted != "" {
			return wanted
		}
		if d == 0 {
			return "must be above 0"
		}
		*to = d
		return ""
	}
}

func window(to *time.Duration) func(string) string {
	return func(v string) string {
		d, err := time.ParseDuration(v)
		seconds, errSeconds := strconv.ParseFloat(v, 64)
		switch {
		case errSeconds == nil && !math.IsInf(seconds, 0) && !math.IsNaN(seconds), errors.Is(errSeconds, strconv.ErrRange):
			// Beyond the bounds the product does not fit a Duration; there the sign is enough.
			seconds = max(-1, min(seconds, 2*maxWindow.Seconds()))
			d = time.Duration(math.Round(seconds * float64(time.Second)))
			if d == 0 && seconds > 0 {
				return "must be 0 or at least 1ns" // rounding would turn the clock off
			}
		case err != nil:
			return `want seconds ("90", "0.25") or a duration ("250ms")`
		}
		switch {
		case d < 0:
			return "must not be negative"
		case d > maxWindow:
			return "want at most 30 days"
		}
		*to = d
		return ""
	}
}
