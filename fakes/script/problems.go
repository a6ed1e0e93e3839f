package script

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong with a script file, and where.
type Problem struct {
	File         string
	Line, Column int // from 1; columns are counted in characters
	Text         string
	Hint         string // what was perhaps meant, or ""
}

// Error is the problem on one line, which begins with the place as compilers write it.
func (p Problem) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return text
}

// Problems are the problems of a file in the order in which they were found, at most 20 and one that says that there
// are more. It is the error of [Parse] and [Format].
type Problems []Problem

// Error has a line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// MostProblems is how many problems of a file are told before the one that says that there are more.
const MostProblems = tooMany

// tooMany bounds the problems that are told: who made more made one mistake many times.
const tooMany = 20

// shown is text of a file as it stands in messages: in quotes, on one line, and bounded.
func shown(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return strconv.Quote(s)
}

// harmless is a message of the YAML parser, which may repeat what the file has: on one line, and bounded.
func harmless(message string) string {
	var b strings.Builder
	for i, r := range []rune(message) {
		switch {
		case i == 120:
			return b.String() + "…"
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
