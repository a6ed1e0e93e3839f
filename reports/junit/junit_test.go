package junit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
)

// The reader's own view of the file, so that a mistake in the writer's types shows.
type (
	file struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     float64 `xml:"time,attr"`
		Suites   []struct {
			Name       string `xml:"name,attr"`
			Tests      int    `xml:"tests,attr"`
			Timestamp  string `xml:"timestamp,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Cases []readCase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	readCase struct {
		Classname string  `xml:"classname,attr"`
		Name      string  `xml:"name,attr"`
		Time      float64 `xml:"time,attr"`
		Failure   *read   `xml:"failure"`
		Error     *read   `xml:"error"`
		Skipped   *read   `xml:"skipped"`
	}
	read struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

const hostile = "\x1b[2J \u202e\u0000\x0b\ufffe \xff ]]> <a b=\"'\">&amp;\r\n"

func finding(check, guarantee string, v verdict.Verdict, reason verdict.Reason) verdict.Finding {
	return verdict.Finding{Check: check, Guarantee: guarantee, Verdict: v, Reason: reason, Promised: "this", Observed: "that " + hostile}
}

func report(strict bool) reports.Report {
	stream := "stream/cut@openai"
	return reports.New(
		reports.Run{ID: "7f3c5a01", Server: "reference", Seed: 7, Strict: strict, Started: time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)},
		[]verdict.Guarantee{{ID: "a.must", Level: verdict.Must}, {ID: "b.should", Level: verdict.Should}, {ID: "c.info", Level: verdict.Info}}, nil,
		[]verdict.Result{
			{Case: stream, Verdict: verdict.Fail, Attempt: 1, Wall: 250 * time.Millisecond, Findings: []verdict.Finding{
				finding(stream+"::one", "a.must", verdict.Pass, ""),
				finding(stream+"::two", "a.must", verdict.Fail, ""),
				finding(stream+"::three", "b.should", verdict.Fail, ""),
				finding(stream+"::four", "c.info", verdict.Fail, ""),
				finding(stream+"::five", "a.must", verdict.Inconclusive, ""),
				finding(stream+"::six", "a.must", verdict.Skip, verdict.Unavailable),
				finding(stream+"::seven", "a.must", verdict.Skip, verdict.NotClaimed),
			}},
			{Case: "cancel/leave", Verdict: verdict.Error, Why: "the worker died " + hostile, Attempt: 2, Wall: time.Millisecond},
		})
}

func parse(t *testing.T, r reports.Report) (file, string) {
	var b bytes.Buffer
	require.NoError(t, Write(&b, r))
	for _, c := range b.Bytes() {
		require.True(t, c == '\n' || c >= ' ' && c < 0x7f, "byte %#x", c)
	}
	var f file
	require.NoError(t, xml.Unmarshal(b.Bytes(), &f), b.String())
	return f, b.String()
}

func TestATestcaseForEachCheck(t *testing.T) {
	f, _ := parse(t, report(false))
	require.Equal(t, []int{7, 1, 2, 3}, []int{f.Tests, f.Failures, f.Errors, f.Skipped})
	require.InDelta(t, 0.251, f.Time, 1e-9)
	require.Len(t, f.Suites, 2)

	cancel := f.Suites[0]
	require.Equal(t, "cancel", cancel.Name)
	require.Equal(t, "2026-11-30T06:00:00Z", cancel.Timestamp)
	require.Len(t, cancel.Cases, 1)
	broke := cancel.Cases[0]
	require.Equal(t, "stallwright.cancel.leave", broke.Classname)
	require.Equal(t, "case (attempt 2)", broke.Name)
	require.Equal(t, "harness", broke.Error.Type)
	require.True(t, strings.HasPrefix(broke.Error.Message, `the worker died \x1b[2J \u202e\x00\x0b\ufffe \xff ]]> <a b="'">&amp;\r\n`))

	stream := f.Suites[1]
	require.Equal(t, 6, stream.Tests)
	require.Len(t, stream.Cases, 6)
	properties := map[string]string{}
	for _, p := range stream.Properties {
		properties[p.Name] = p.Value
	}
	require.Equal(t, map[string]string{"run": "7f3c5a01", "server": "reference", "seed": "7", "not-claimed": "1", "failed-not-binding": "2"}, properties)
	for _, c := range stream.Cases {
		require.Equal(t, "stallwright.stream.cut.openai", c.Classname)
	}
	passed, failed, should, info, doubt, skipped := stream.Cases[0], stream.Cases[1], stream.Cases[2], stream.Cases[3], stream.Cases[4], stream.Cases[5]
	require.Equal(t, readCase{Classname: passed.Classname, Name: "one", Time: 0.25}, passed)
	require.Equal(t, "two", failed.Name)
	require.Equal(t, "a.must", failed.Failure.Type)
	require.NotContains(t, failed.Failure.Message, "\n")
	require.Contains(t, failed.Failure.Text, "x VIOLATED  a.must  MUST")
	require.Contains(t, failed.Failure.Text, "]]> <a b=")
	require.Contains(t, failed.Failure.Text, "again      stallwright run stream/cut@openai --seed 0")
	require.Nil(t, should.Failure)
	require.True(t, strings.HasPrefix(should.Skipped.Message, "should: that"))
	require.Contains(t, should.Skipped.Text, "^ VIOLATED  b.should  SHOULD")
	require.True(t, strings.HasPrefix(info.Skipped.Message, "info: that"))
	require.Equal(t, "inconclusive", doubt.Error.Type)
	require.True(t, strings.HasPrefix(skipped.Skipped.Message, "unavailable: that"))
}

func TestAShouldFailsAStrictRun(t *testing.T) {
	f, _ := parse(t, report(true))
	require.Equal(t, []int{7, 2, 2, 2}, []int{f.Tests, f.Failures, f.Errors, f.Skipped})
	require.Equal(t, "b.should", f.Suites[1].Cases[2].Failure.Type)
}

func TestHostileNames(t *testing.T) {
	r := report(false)
	for i := range r.Results {
		r.Results[i].Case += hostile
		for j := range r.Results[i].Findings {
			r.Results[i].Findings[j].Check += hostile
			r.Results[i].Findings[j].Guarantee += hostile
		}
	}
	f, _ := parse(t, r)
	require.Equal(t, 7, f.Tests)
}

func TestAnEmptyRunIsAFileToo(t *testing.T) {
	f, text := parse(t, reports.New(reports.Run{}, nil, nil, nil))
	require.Zero(t, f.Tests)
	require.True(t, strings.HasPrefix(text, "<?xml "))
}

func TestWriteTellsThatItCouldNot(t *testing.T) {
	require.Error(t, Write(full{}, report(false)))
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }
