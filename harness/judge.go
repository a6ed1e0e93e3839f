package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness/expect"
	"github.com/stallwright/stallwright/harness/invariant"
	"github.com/stallwright/stallwright/harness/verdict"
)

// Judge says what the trial showed. It is called once, after Strike.
func (t *Trial) Judge() verdict.Result {
	h := t.history
	r := verdict.Result{Case: t.Case.ID(), Claim: t.Case.Scenario.Claim, Seed: t.Seed, Attempt: 1, Events: len(h.Events)}
	if t.broke != "" {
		r.Verdict, r.Why = verdict.Error, "the scenario panicked: "+t.broke
		return r
	}
	at, unmet, doubted := t.at(), t.unmet(h), ""
	found := func(name, guarantee, noun string, j expect.Judgement) verdict.Finding {
		why := t.excuse(j, unmet)
		if why == "" {
			return finding(t.Case, name, guarantee, noun, j, h)
		}
		j.Verdict, doubted = verdict.Inconclusive, why
		f := finding(t.Case, name, guarantee, noun, j, h)
		f.Observed = why
		return f
	}
	for _, c := range t.Case.Checks() {
		if lack, lacks := t.lack(c); lacks {
			r.Findings = append(r.Findings, skipped(t.Case, c, lack))
			continue
		}
		r.Findings = append(r.Findings, found(c.Name, c.Guarantee, c.Noun, c.Expect(at).Judge(h)))
	}
	for _, v := range invariant.All() {
		if j := v.Judge(h); j.Verdict != verdict.Skip {
			f := found(v.Name, v.Guarantee, v.Noun, j)
			f.Promised = j.Evidence.Expected // whatever the scenario is about
			r.Findings = append(r.Findings, f)
		}
	}
	if why := t.notReached(h); why != "" {
		r.Why = why
		doubt(r.Findings, why)
	}
	r.Verdict = verdict.Worst(r.Findings)
	if r.Verdict == verdict.Inconclusive && r.Why == "" {
		r.Why = doubted
	}
	return r
}

// at is what checks may know of the stage.
func (t *Trial) at() At {
	return At{Windows: t.Stage.Windows, Once: t.Stage.Once, Tick: t.Stage.Tick, Stage: t.Stage, Dialect: t.Case.Dialect()}
}

// lack is what the stage cannot show of a check.
func (t *Trial) lack(c Check) (Lack, bool) {
	for _, f := range c.Needs {
		if lack, ok := t.Stage.Lacks[f]; ok {
			return lack, true
		}
	}
	return Lack{}, false
}

// excuse says why a check that fails is not held against the server, or "". What is absent may be so because the
// situation never came; what is there, too early, too often or wrong, stands whatever the situation. A trial that waited
// in vain for the whole of its patience has seen enough to be above every other doubt.
func (t *Trial) excuse(j expect.Judgement, unmet string) string {
	switch {
	case j.Verdict != verdict.Fail:
	case j.Absent && unmet != "":
		return unmet
	case t.stopped == "" && t.Doubt != nil:
		return t.Doubt(j)
	}
	return ""
}

func finding(c Case, name, guarantee, noun string, j expect.Judgement, h expect.History) verdict.Finding {
	f := verdict.Finding{
		Check: c.ID() + "::" + name, Guarantee: guarantee, Verdict: j.Verdict, Evidence: j.Evidence,
		Promised: c.Scenario.Claim, Observed: j.Evidence.Found,
	}
	if j.Verdict == verdict.Fail {
		f.Signature = string(j.Evidence.Kind) + "/" + noun
	}
	if j.Verdict != verdict.Pass {
		f.Excerpt = excerpt(h.Events, j.Evidence)
	}
	return f
}

func skipped(c Case, check Check, lack Lack) verdict.Finding {
	reason := verdict.NotClaimed
	if lack.Claimed {
		reason = verdict.Unavailable
	}
	return verdict.Finding{Check: c.ID() + "::" + check.Name, Guarantee: check.Guarantee, Verdict: verdict.Skip, Reason: reason, Observed: lack.Why}
}

// Skipped is the result of a case that the stage cannot play; ok is false when it can.
func Skipped(c Case, lacks map[Feature]Lack, seed uint64) (r verdict.Result, ok bool) {
	for _, f := range c.Needs() {
		if lack, missing := lacks[f]; missing {
			return skippedCase(c, lack, seed), true
		}
	}
	return verdict.Result{}, false
}

func skippedCase(c Case, lack Lack, seed uint64) verdict.Result {
	r := verdict.Result{Case: c.ID(), Claim: c.Scenario.Claim, Verdict: verdict.Skip, Why: lack.Why, Seed: seed, Attempt: 1}
	for _, check := range c.Checks() {
		r.Findings = append(r.Findings, skipped(c, check, lack))
	}
	r.Reason = r.Findings[0].Reason
	return r
}

// Fell is the result of a case during which the server, or stallwright, died or stopped moving: its first check
// carries the verdict, the others are blocked by it.
func Fell(c Case, seed uint64, v verdict.Verdict, kind verdict.Kind, noun, observed string) verdict.Result {
	r := verdict.Result{Case: c.ID(), Claim: c.Scenario.Claim, Verdict: v, Why: observed, Seed: seed, Attempt: 1}
	for i, check := range c.Checks() {
		f := verdict.Finding{Check: c.ID() + "::" + check.Name, Guarantee: check.Guarantee, Verdict: verdict.Skip, Reason: verdict.Blocked, Observed: observed}
		if i == 0 {
			f.Verdict, f.Reason = v, ""
			f.Promised, f.Evidence = "the server lives through the case", verdict.Evidence{Kind: kind, Found: observed}
			if v == verdict.Fail {
				f.Signature = string(kind) + "/" + noun
			}
		}
		r.Findings = append(r.Findings, f)
	}
	return r
}

// notReached says why what passed proves nothing, or "".
func (t *Trial) notReached(h expect.History) string {
	if t.stopped != "" {
		return "the scenario stopped: " + t.stopped
	}
	if lost := t.Stage.Timeline.Lost(); lost > 0 {
		return fmt.Sprintf("evidence was lost: %d events past the %d that are kept", lost, timeline.Limit)
	}
	if why := t.unmet(h); why != "" {
		return why
	}
	// It may be why a fault did not strike.
	if e, ok := h.Find(expect.Event{Kind: "violation"}); ok {
		return "the script and the server did not fit: " + e.Detail
	}
	if left := t.unstruck(h.Events); left != nil {
		return "a scripted fault never struck: " + strings.Join(left, ", ")
	}
	if t.unplayed != nil {
		return "the script was not played to its end: " + strings.Join(t.unplayed, "; ")
	}
	return ""
}

// unmet says which event is missing that makes the test a test, or "".
func (t *Trial) unmet(h expect.History) string {
	for _, s := range slices.Concat(t.Case.Scenario.Reached, t.Case.Variant.Reached) {
		if _, ok := h.Find(s); !ok {
			return "the situation was not reached: no " + s.String()
		}
	}
	return ""
}

// doubt turns passes into no verdict: a check that passes because nothing happened proves nothing.
func doubt(fs []verdict.Finding, why string) {
	for i := range fs {
		if fs[i].Verdict == verdict.Pass {
			fs[i].Verdict, fs[i].Observed = verdict.Inconclusive, why
		}
	}
}

// What an excerpt shows: the events that decided, and their neighbours up to this many lines.
const excerptLines = 6

// excerpt picks the lines of the timeline that show a moment: what armed it, what decided, and what stands around.
func excerpt(events []timeline.Event, e verdict.Evidence) []verdict.Moment {
	picked := map[int]bool{}
	pick := func(seq int) {
		if seq > 0 && seq <= len(events) && len(picked) < excerptLines {
			picked[seq] = true
		}
	}
	pick(e.ArmedBy)
	here := 0
	if len(e.Because) > 0 {
		here = e.Because[len(e.Because)-1]
		for _, seq := range e.Because {
			pick(seq)
		}
	}
	// The neighbours of the moment, nearest first, heartbeats aside.
	after := slices.IndexFunc(events, func(x timeline.Event) bool { return x.At > e.At })
	if after < 0 {
		after = len(events)
	}
	for d := 0; d < 3*excerptLines && len(picked) < excerptLines; d++ {
		for _, i := range []int{after - 1 - d, after + d} {
			if i >= 0 && i < len(events) && events[i].Kind != "comment" && events[i].Kind != "keepalive" {
				pick(events[i].Seq)
			}
		}
	}
	var out []verdict.Moment
	for _, x := range events {
		if picked[x.Seq] {
			out = append(out, verdict.Moment{At: x.At, Lane: x.Lane, Ref: x.Ref, Kind: x.Kind, Detail: bounded(x.Detail), Here: x.Seq == here && x.At == e.At})
		}
	}
	return out
}

func bounded(s string) string {
	const most = 160
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
