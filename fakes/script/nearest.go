package script

import "strings"

// meant is a hint at the known word that was perhaps meant, or "".
func meant(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, k := range known {
		// Longer words are nobody's slip, and comparing them takes time.
		if len(word) > 40 {
			return ""
		}
		if d := Slips(strings.ToLower(word), strings.ToLower(k)); d < least && d < len(k) {
			best, least = k, d
		}
	}
	for _, k := range known {
		if best == "" && len(word) > 2 && (strings.HasPrefix(k, word) || strings.HasPrefix(word, k+" ")) {
			best = k
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + best + "?"
}

// Slips counts the bytes to insert, delete, change, or swap with their neighbour to make b of a: how far a mistyped word
// is from a known one. It takes time of the product of their lengths.
func Slips(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
