package approval

import "strings"

// Rules are the patterns of tool names that need approval: * stands for any text, ? for one byte, and everything else for itself.
type Rules []string

// Match is the first pattern that a tool's name fits.
func (r Rules) Match(tool string) (pattern string, matched bool) {
	for _, p := range r {
		if fits(p, tool) {
			return p, true
		}
	}
	return "", false
}

// fits goes back to the last * only, so its time is bounded by the product of the lengths.
func fits(pattern, name string) bool {
	p, n := 0, 0
	star, from := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
