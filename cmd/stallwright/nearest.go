package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stallwright/stallwright/fakes/script"
)

// nearest returns the at most three words that were perhaps meant by word, the nearest first: those a few letters
// away, or else those of which it is a part.
func nearest(word string, words []string) []string {
	type candidate struct {
		word     string
		distance int
	}
	var near, part []candidate
	for _, w := range words {
		d := script.Slips(word, w)
		switch {
		case d <= max(2, len(word)/4):
			near = append(near, candidate{w, d})
		case len(word) > 2 && strings.Contains(w, word):
			part = append(part, candidate{w, d})
		}
	}
	if near == nil {
		near = part
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var out []string
	for _, c := range near {
		if !slices.Contains(out, c.word) && len(out) < 3 {
			out = append(out, c.word)
		}
	}
	return out
}

// didYouMean is the hint for a wrong word, or "".
func didYouMean(word string, words []string, prefix string) string {
	near := nearest(word, words)
	for i := range near {
		near[i] = prefix + near[i]
	}
	switch len(near) {
	case 0:
		return ""
	case 1:
		return "did you mean " + near[0] + "?"
	default:
		return "did you mean " + strings.Join(near[:len(near)-1], ", ") + " or " + near[len(near)-1] + "?"
	}
}
