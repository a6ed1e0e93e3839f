// Package junit writes a report as JUnit XML, which every CI reads.
package junit

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
	"github.com/stallwright/stallwright/reports/text"
)

type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		counts
		Suites []*suite `xml:"testsuite"`
	}
	suite struct {
		Name      string `xml:"name,attr"`
		Timestamp string `xml:"timestamp,attr"`
		counts
		Properties []property `xml:"properties>property"`
		Cases      []testcase `xml:"testcase"`

		unclaimed, lenient int
	}
	counts struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     seconds `xml:"time,attr"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testcase struct {
		Classname string   `xml:"classname,attr"`
		Name      string   `xml:"name,attr"`
		Time      seconds  `xml:"time,attr"`
		Failure   *outcome `xml:"failure"`
		Error     *outcome `xml:"error"`
		Skipped   *outcome `xml:"skipped"`
	}
	outcome struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"` // keeps its lines readable in the file
	}
	seconds time.Duration
)

func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', 6, 64), nil
}

// Write writes r as JUnit XML: a suite an area, a testcase a check. A failure that fails the run is a failure; one
// that does not, of a should without --strict or of an info, is skipped with the level in its message, since a
// reader of JUnit knows no third thing and a plain pass would hide it. Checks of what the server does not claim are
// left out and counted in the suite's property not-claimed. All of it is ASCII.
func Write(w io.Writer, r reports.Report) error {
	all := suites{Name: "stallwright"}
	areas := map[string]*suite{}
	for _, res := range r.Results {
		area, _, _ := strings.Cut(res.Case, "/")
		s := areas[area]
		if s == nil {
			s = &suite{Name: plain(area), Timestamp: r.Run.Started.Format("2006-01-02T15:04:05Z")}
			areas[area] = s
			all.Suites = append(all.Suites, s) // results are sorted, and so are the areas
		}
		if err := s.add(r, res); err != nil {
			return err
		}
	}
	for _, s := range all.Suites {
		s.Properties = []property{
			{"run", plain(r.Run.ID)},
			{"server", plain(r.Run.Server)},
			{"seed", strconv.FormatUint(r.Run.Seed, 10)},
			{"not-claimed", strconv.Itoa(s.unclaimed)},
			{"failed-not-binding", strconv.Itoa(s.lenient)},
		}
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
		all.Time += s.Time
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// add appends a testcase for each judgement of res. They were won in one playing, so the first one bears its time.
func (s *suite) add(r reports.Report, res verdict.Result) error {
	left := seconds(res.Wall)
	for _, f := range reports.Judgements(res) {
		if f.Verdict == verdict.Skip && f.Reason == verdict.NotClaimed {
			s.unclaimed++
			continue
		}
		c := testcase{Classname: classname(res.Case), Name: name(res, f), Time: left}
		s.Time += left
		left = 0
		s.Tests++
		level := r.Level(f.Guarantee)
		switch {
		case f.Verdict == verdict.Pass:
		case f.Verdict == verdict.Skip:
			s.Skipped++
			c.Skipped = &outcome{Message: message(string(f.Reason), cmp.Or(f.Observed, res.Why))}
		default:
			var block strings.Builder
			if err := (text.Style{ASCII: true}).Failure(&block, text.Of(r, res, f)); err != nil {
				return err
			}
			o := &outcome{Message: plain(f.Observed), Text: "\n" + block.String()}
			switch {
			case f.Verdict == verdict.Inconclusive:
				s.Errors++
				o.Type, c.Error = "inconclusive", o
			case f.Verdict != verdict.Fail:
				s.Errors++
				o.Type, c.Error = "harness", o
			case r.Binding(level):
				s.Failures++
				o.Type, c.Failure = plain(f.Guarantee), o
			default:
				s.Skipped++
				s.lenient++
				o.Message, c.Skipped = message(string(level), f.Observed), o
			}
		}
		s.Cases = append(s.Cases, c)
	}
	return nil
}

// classname is stallwright.AREA.SCENARIO.VARIANT.
func classname(id string) string {
	return plain("stallwright." + strings.NewReplacer("/", ".", "@", ".").Replace(id))
}

// name is the check's own; a case that was judged as a whole is called case. The attempt keeps the names of a
// repeated check apart.
func name(res verdict.Result, f verdict.Finding) string {
	_, check, _ := strings.Cut(f.Check, "::")
	check = plain(cmp.Or(check, "case"))
	if res.Attempt > 1 {
		check += fmt.Sprintf(" (attempt %d)", res.Attempt)
	}
	return check
}

func message(word, why string) string {
	if why == "" {
		return plain(word)
	}
	return plain(word + ": " + why)
}

// plain makes text fit for XML 1.0 whatever it holds: printable ASCII is all that is left.
func plain(s string) string { return text.Style{ASCII: true}.Escape(s) }
