package main

import (
	"cmp"
	"slices"
	"strings"
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
		d := distance(word, w)
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

// distance is the number of bytes to insert, delete, change, or swap with their neighbour to make b of a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
