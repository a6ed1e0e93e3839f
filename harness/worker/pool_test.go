package worker_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/harness/worker"
)

func pool(t *testing.T, role string, bubbles int) *worker.Pool {
	executable, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(roleVar, role)
	return &worker.Pool{
		Command: []string{executable}, Bubbles: bubbles, Silence: 20 * time.Second, Find: find,
		Package: "github.com/stallwright/stallwright/harness/worker_test.underTest",
	}
}

func jobs(ids ...string) []harness.Job {
	var out []harness.Job
	for i, id := range ids {
		out = append(out, harness.Job{Case: id, Attempt: 1 + i, Seed: 7})
	}
	return out
}

// played runs a pool and returns the results by attempt. Nothing may be left of it.
func played(t *testing.T, p *worker.Pool, ctx context.Context, js []harness.Job) (map[int]verdict.Result, error) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	started, results := map[int]bool{}, map[int]verdict.Result{}
	err := p.Run(ctx, js, harness.Watch{
		Started: func(j harness.Job) {
			require.NotContains(t, started, j.Attempt, "a job is started twice")
			started[j.Attempt] = true
		},
		Played: func(j harness.Job, r verdict.Result) {
			require.NotContains(t, results, j.Attempt, "a job is played twice")
			require.Equal(t, j.Attempt, r.Attempt)
			require.Equal(t, j.Case, r.Case)
			results[j.Attempt] = r
		},
	})
	require.NoError(t, goleak.Find(before))
	return results, err
}

func TestEveryJobIsPlayed(t *testing.T) {
	var ids []string
	for i := range 1500 { // an order that no pipe holds
		ids = append(ids, []string{"test/ok", "test/print", "test/wait@3"}[i%3])
	}
	for _, bubbles := range []int{0, 4} {
		rs, err := played(t, pool(t, "worker", bubbles), t.Context(), jobs(ids...))
		require.NoError(t, err)
		require.Len(t, rs, len(ids))
		for _, r := range rs {
			require.Equal(t, verdict.Pass, r.Verdict, r)
			require.Equal(t, uint64(7), r.Seed)
		}
		require.Greater(t, rs[3].Virtual, time.Hour)
	}
}

func TestAnUnknownCaseAndABrokenScenarioAreErrors(t *testing.T) {
	rs, err := played(t, pool(t, "worker", 1), t.Context(), jobs("unknown", "test/error", "test/ok"))
	require.NoError(t, err)
	require.Equal(t, verdict.Error, rs[1].Verdict)
	require.Equal(t, verdict.Error, rs[2].Verdict)
	require.Equal(t, verdict.Pass, rs[3].Verdict)
}

func TestADeathIsJudged(t *testing.T) {
	for _, c := range []struct {
		name, id  string
		silence   time.Duration
		want      verdict.Verdict
		signature string
		kind      verdict.Kind
		why       string
	}{
		{"a panic of the server", "test/panic", 0, verdict.Fail, "crash/panic", verdict.Crash, "panic: the server's own"},
		{"a panic of ours", "test/ours", 0, verdict.Error, "", verdict.Crash, "panic: stallwright's own"},
		{"an exit of the server", "test/exit", 0, verdict.Fail, "crash/exit", verdict.Crash, "exited with status 0 before its end"},
		{"a spin of the server", "test/spin", 2 * time.Second, verdict.Fail, "hang/no-progress", verdict.Hang, "no progress for 2s"},
		{"a deadlock of the server", "test/mutex", 2 * time.Second, verdict.Fail, "hang/no-progress", verdict.Hang, "no progress for 2s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pool(t, "worker", 1)
			p.Silence = c.silence
			rs, err := played(t, p, t.Context(), jobs("test/ok", c.id, "test/ok"))
			require.NoError(t, err)
			require.Len(t, rs, 3)
			require.Equal(t, verdict.Pass, rs[1].Verdict)
			require.Equal(t, verdict.Pass, rs[3].Verdict, "another worker goes on")
			r := rs[2]
			require.Equal(t, c.want, r.Verdict, r)
			require.Contains(t, r.Why, c.why)
			if c.want == verdict.Fail && c.id != "test/exit" {
				require.Contains(t, r.Why, "worker_test.underTest", "the stack is shown")
			}
			require.Equal(t, c.signature, r.Findings[0].Signature)
			require.Equal(t, c.kind, r.Findings[0].Evidence.Kind)
			require.Equal(t, verdict.Blocked, r.Findings[1].Reason)
		})
	}
}

func TestTheCulpritAmongManyIsFound(t *testing.T) {
	for _, culprit := range []string{"test/panic", "test/mutex"} {
		var ids []string
		for i := range 30 {
			ids = append(ids, fmt.Sprintf("test/ok@%d", 1+i%9))
		}
		ids[12] = culprit
		p := pool(t, "worker", 4)
		p.Silence = 3 * time.Second
		rs, err := played(t, p, t.Context(), jobs(ids...))
		require.NoError(t, err)
		require.Len(t, rs, len(ids))
		for i, id := range ids {
			want := verdict.Pass
			if id == culprit {
				want = verdict.Fail
			}
			require.Equal(t, want, rs[1+i].Verdict, rs[1+i])
		}
	}
}

func TestAWorkerThatCannotWork(t *testing.T) {
	for _, c := range []struct {
		name, role, command, want string
		jobs                      int
	}{
		{"there is none", "worker", "./no-such-worker", "no such file", 1},
		{"it dies at its start", "broken", "", "it died before its first trial: exit status 9\nno such machine", 1},
		{"it plays nothing", "lazy", "", "it exited with status 0 before its end", 1},
		{"it never reads its order", "mute", "", "no progress for 500ms", 3000},
		{"it babbles", "babbling", "", "its report cannot be read", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pool(t, c.role, 1)
			if c.role == "mute" {
				p.Silence = 500 * time.Millisecond
			}
			if c.command != "" {
				p.Command = []string{c.command}
			}
			rs, err := played(t, p, t.Context(), jobs(make([]string, c.jobs)...))
			require.ErrorContains(t, err, c.want)
			require.Empty(t, rs)
		})
	}
}

func TestAStopComesBetweenTrials(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := pool(t, "worker", 2)
	results := 0
	err := p.Run(ctx, jobs(slices.Repeat([]string{"test/wait"}, 3000)...), harness.Watch{
		Started: func(harness.Job) { cancel() },
		Played: func(_ harness.Job, r verdict.Result) {
			results++
			require.Equal(t, verdict.Pass, r.Verdict)
		},
	})
	require.NoError(t, err)
	require.Positive(t, results, "what is under way finishes")
	require.Less(t, results, 3000)
	// One that comes before the first.
	rs, err := played(t, p, ctx, jobs("test/ok"))
	require.NoError(t, err)
	require.Empty(t, rs)
}
