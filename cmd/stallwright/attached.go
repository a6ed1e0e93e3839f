package main

import (
	"slices"
	"strings"

	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/process"
)

// claimed are what a server that runs already is taken to offer. What only a server started by us can be shown stands
// among them, so that it counts as unavailable and not as declined; the rest is off unless it is claimed.
func claimed(besides []harness.Feature) []harness.Feature {
	return append([]harness.Feature{
		harness.Streaming, harness.NonStreaming, harness.ErrorFrames, harness.Signals, harness.LogFields, harness.Goroutines,
		harness.Files, harness.Sockets, harness.Children,
	}, besides...)
}

// claimable lists what --claim may say of a server that runs already.
func claimable() []string {
	var words []string
	for _, f := range []harness.Feature{harness.SequentialTools, harness.CustomEvents, harness.ErrorFrames} {
		words = append(words, string(f))
	}
	return words
}

// claims are the features of --claim.
func (f *runFlags) claims() ([]harness.Feature, error) {
	var out []harness.Feature
	for _, word := range once(f.claim) {
		if !slices.Contains(claimable(), word) {
			hint := didYouMean(word, claimable(), "")
			if hint == "" {
				hint = "a server may claim " + or(claimable())
			}
			return nil, misuse(hint, "--claim %q is nothing that a server can claim", word)
		}
		out = append(out, harness.Feature(word))
	}
	return out, nil
}

// playable is an error when none of the chosen cases can be played on an attached server as the flags describe it: a run of
// nothing must not look like one that passed. When that is so of one of the patterns alone, it is told.
func (c *cli) playable(p plan, patterns []string, chosen []harness.Case) error {
	if !p.attached() || len(chosen) == 0 {
		return nil
	}
	if why, hint := c.library.unfit(p, chosen); why != "" {
		return misuse(hint, "nothing that was chosen can be played on %s: %s", p.url, why)
	}
	for _, pattern := range patterns {
		of, err := c.library.choose([]string{pattern})
		if err != nil {
			return err
		}
		if why, hint := c.library.unfit(p, of); why != "" {
			c.say("stallwright: note: ", "nothing of "+pattern+" can be played: "+why)
			c.say("stallwright: hint: ", hint)
		}
	}
	return nil
}

// unfit says why none of the cases can be played on an attached server, and what to do about the first; both are empty when one can.
// The canary does not count.
func (l library) unfit(p plan, cases []harness.Case) (why, hint string) {
	var whys []string
	for _, c := range cases {
		if l.isCanary(c.ID()) {
			return "", ""
		}
		w, h := process.Unfit(c, p.windows, p.tools)
		if w == "" {
			return "", ""
		}
		if hint == "" {
			hint = h
		}
		if !slices.Contains(whys, w) {
			whys = append(whys, w)
		}
	}
	const most = 2
	if n := len(whys); n > most {
		whys = append(whys[:most], plural(n-most, "other reason"))
	}
	return strings.Join(whys, "; "), hint
}
