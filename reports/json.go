package reports

import (
	_ "embed"
	"encoding/json"
	"io"
	"time"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Schema is the JSON Schema (draft 2020-12) of what Write writes.
//
//go:embed results.schema.json
var Schema []byte

// Write writes results.json: the report, indented. Durations are Go's ("4.3s"), but for the seconds of the summary.
func Write(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r.document())
}

// MarshalJSON gives the same document as Write, in one line.
func (r Report) MarshalJSON() ([]byte, error) { return json.Marshal(r.document()) }

// The shape of results.json. It is kept apart from the values of verdict, so that those may change without a new
// version of the schema.
type (
	document struct {
		SchemaVersion int         `json:"schemaVersion"`
		Tool          Tool        `json:"tool"`
		Run           run         `json:"run"`
		Summary       Summary     `json:"summary"`
		Guarantees    []Guarantee `json:"guarantees"`
		Results       []result    `json:"results"`
	}
	run struct {
		ID      string    `json:"id"`
		Server  string    `json:"server"`
		Time    string    `json:"time"`
		Seed    uint64    `json:"seed"`
		Started time.Time `json:"started"`
		Wall    duration  `json:"wall"`
		Jobs    int       `json:"jobs"`
		Args    []string  `json:"args"`
		Strict  bool      `json:"strict"`
		Stopped string    `json:"stopped,omitempty"`
	}
	result struct {
		Case     string          `json:"case"`
		Claim    string          `json:"claim"`
		Verdict  verdict.Verdict `json:"verdict"`
		Reason   verdict.Reason  `json:"reason,omitempty"`
		Why      string          `json:"why,omitempty"`
		Findings []finding       `json:"findings"`
		Events   int             `json:"events"`
		Attempt  int             `json:"attempt"`
		Seed     uint64          `json:"seed"`
		Virtual  duration        `json:"virtual"`
		Wall     duration        `json:"wall"`
	}
	finding struct {
		Check     string          `json:"check"`
		Guarantee string          `json:"guarantee"`
		Verdict   verdict.Verdict `json:"verdict"`
		Reason    verdict.Reason  `json:"reason,omitempty"`
		Signature string          `json:"signature,omitempty"`
		Promised  string          `json:"promised"`
		Observed  string          `json:"observed"`
		Evidence  *evidence       `json:"evidence,omitempty"`
		Excerpt   []moment        `json:"excerpt,omitempty"`
	}
	evidence struct {
		Kind     verdict.Kind `json:"kind"`
		At       duration     `json:"at"`
		ArmedBy  int          `json:"armedBy,omitempty"`
		Because  []int        `json:"because,omitempty"`
		Limit    duration     `json:"limit,omitempty"`
		Measured duration     `json:"measured,omitempty"`
		Expected string       `json:"expected,omitempty"`
		Found    string       `json:"found,omitempty"`
	}
	moment struct {
		At     duration `json:"at"`
		Lane   string   `json:"lane"`
		Ref    string   `json:"ref,omitempty"`
		Kind   string   `json:"kind"`
		Detail string   `json:"detail,omitempty"`
		Here   bool     `json:"here,omitempty"`
	}
	duration time.Duration
)

func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (r Report) document() document {
	d := document{
		SchemaVersion: r.SchemaVersion, Tool: r.Tool, Summary: r.Summary, Guarantees: r.Guarantees,
		Run: run{
			ID: r.Run.ID, Server: r.Run.Server, Time: r.Run.Time, Seed: r.Run.Seed, Started: r.Run.Started,
			Wall: duration(r.Run.Wall), Jobs: r.Run.Jobs, Args: r.Run.Args, Strict: r.Run.Strict, Stopped: r.Run.Stopped,
		},
		Results: []result{},
	}
	// A reader shall find a list, never null.
	if d.Run.Args == nil {
		d.Run.Args = []string{}
	}
	if d.Guarantees == nil {
		d.Guarantees = []Guarantee{}
	}
	for _, res := range r.Results {
		out := result{
			Case: res.Case, Claim: res.Claim, Verdict: res.Verdict, Reason: res.Reason, Why: res.Why,
			Findings: []finding{}, Events: res.Events, Attempt: res.Attempt, Seed: res.Seed,
			Virtual: duration(res.Virtual), Wall: duration(res.Wall),
		}
		for _, f := range res.Findings {
			out.Findings = append(out.Findings, findingOf(f))
		}
		d.Results = append(d.Results, out)
	}
	return d
}

func findingOf(f verdict.Finding) finding {
	out := finding{
		Check: f.Check, Guarantee: f.Guarantee, Verdict: f.Verdict, Reason: f.Reason, Signature: f.Signature,
		Promised: f.Promised, Observed: f.Observed,
	}
	if e := f.Evidence; e.Kind != "" {
		out.Evidence = &evidence{
			Kind: e.Kind, At: duration(e.At), ArmedBy: e.ArmedBy, Because: e.Because, Limit: duration(e.Limit),
			Measured: duration(e.Measured), Expected: e.Expected, Found: e.Found,
		}
	}
	for _, m := range f.Excerpt {
		out.Excerpt = append(out.Excerpt, moment{
			At: duration(m.At), Lane: m.Lane, Ref: m.Ref, Kind: m.Kind, Detail: m.Detail, Here: m.Here,
		})
	}
	return out
}
