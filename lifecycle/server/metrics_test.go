package server

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/lifecycle/llm"
	"github.com/stallwright/stallwright/lifecycle/run"
)

// measured are the samples of a scrape, by their name with its labels.
func measured(t *testing.T, f *fixture) map[string]string {
	t.Helper()
	resp := f.do(http.MethodGet, "/metrics", "")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", resp.Header.Get("Content-Type"))
	return samples(t, text(t, resp))
}

// samples reads the text format as strictly as it is written: one HELP and one TYPE before the samples of a family.
func samples(t *testing.T, body string) map[string]string {
	t.Helper()
	require.True(t, strings.HasSuffix(body, "\n"))
	out, family := map[string]string{}, ""
	sample := regexp.MustCompile(`^([a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? (-?[0-9.e+]+)$`)
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# HELP "):
			family, _, _ = strings.Cut(strings.TrimPrefix(line, "# HELP "), " ")
		case strings.HasPrefix(line, "# TYPE "):
			require.Regexp(t, "^# TYPE "+family+" (counter|gauge|histogram)$", line)
		default:
			m := sample.FindStringSubmatch(line)
			require.NotNil(t, m, "%q", line)
			require.True(t, strings.HasPrefix(m[1], family), "%q under %q", line, family)
			require.NotContains(t, out, m[1]+m[2])
			out[m[1]+m[2]] = m[3]
		}
	}
	return out
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := model(func(ctx context.Context, r llm.Request, emit func(llm.Item) error) error {
			switch last := r.Messages[len(r.Messages)-1].Content; last {
			case "fail":
				return context.DeadlineExceeded
			case "stall":
				return silent(ctx, r, emit)
			default:
				return late(2*time.Second)(ctx, r, emit)
			}
		})
		f := serve(t, answers, nil)
		ask := func(what string, stream string) *http.Response {
			return f.ask(`{"stream":` + stream + `,"messages":[{"role":"user","content":"` + what + `"}]}`)
		}
		before := measured(t, f)
		require.Equal(t, "1", before[`stallwright_build_info{version="1.2.3"}`])
		require.Equal(t, "0", before["stallwright_runs_running"])
		require.Equal(t, "0", before["stallwright_run_duration_seconds_count"])

		open := ask("answer", "true")
		during := measured(t, f)
		require.Equal(t, "1", during["stallwright_runs_running"])
		require.Equal(t, "1", during["stallwright_streams_open"])
		text(t, open)
		text(t, ask("answer", "false"))
		text(t, ask("fail", "true"))
		text(t, ask("stall", "true"))
		text(t, f.ask("{"))
		synctest.Wait()

		after := measured(t, f)
		require.Equal(t, "2", after[`stallwright_runs_total{ending="completed",code=""}`])
		require.Equal(t, "1", after[`stallwright_runs_total{ending="timed_out",code="first_chunk_timeout"}`])
		require.Equal(t, "1", after[`stallwright_runs_total{ending="failed",code="invalid_request"}`])
		require.Equal(t, "0", after["stallwright_streams_open"])
		require.Equal(t, "0", after["stallwright_runs_running"])
		require.Equal(t, "2", after[`stallwright_run_duration_seconds_bucket{le="1"}`])
		require.Equal(t, "4", after[`stallwright_run_duration_seconds_bucket{le="5"}`])
		require.Equal(t, "5", after[`stallwright_run_duration_seconds_bucket{le="+Inf"}`])
		require.Equal(t, "94", after["stallwright_run_duration_seconds_sum"])
		require.Equal(t, "2", after["stallwright_connections_open"], "the scrape during the run needed one of its own")
		require.NotEqual(t, "0", after["go_goroutines"])
		require.Equal(t, Exit{Clean: true}, f.end())
	})
}

// A duration that is a bound counts below it, as `le` says.
func TestABoundOfTheHistogramIsWithinIt(t *testing.T) {
	m := newMeasures()
	m.runEnded(run.Ending{How: run.Completed}, 500*time.Millisecond)
	m.runEnded(run.Ending{How: run.Completed}, time.Hour)
	var p page
	m.write(&p)
	got := samples(t, p.String())
	require.Equal(t, "0", got[`stallwright_run_duration_seconds_bucket{le="0.1"}`])
	require.Equal(t, "1", got[`stallwright_run_duration_seconds_bucket{le="0.5"}`])
	require.Equal(t, "1", got[`stallwright_run_duration_seconds_bucket{le="900"}`])
	require.Equal(t, "2", got[`stallwright_run_duration_seconds_bucket{le="+Inf"}`])
}

func TestLabelsAreEscaped(t *testing.T) {
	var p page
	p.sample("a", 1, "b", "x\"\\\ny", "c", "z")
	require.Equal(t, `a{b="x\"\\\ny",c="z"} 1`+"\n", p.String())
}
