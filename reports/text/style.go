// Package text writes what a person reads at a terminal or in a CI log: progress lines, failure blocks, closing
// lines. Everything that came from the server under test is escaped on the way.
package text

import (
	"cmp"
	"strings"

	"github.com/stallwright/stallwright/harness/verdict"
)

// Style is how lines are drawn. The zero value is UTF-8 without colour.
type Style struct {
	Color bool // with ANSI escape sequences
	ASCII bool // nothing but ASCII; other letters become escapes
}

// ColorFor decides on colour for one stream: by the flag ("auto", "always" or "never"), then NO_COLOR,
// CLICOLOR_FORCE and FORCE_COLOR, TERM=dumb, GitHub and GitLab, and last by whether the stream is a terminal.
func ColorFor(flag string, isTTY bool, getenv func(string) string) bool {
	forced := func(name string) bool { v := getenv(name); return v != "" && v != "0" }
	switch {
	case flag == "always":
		return true
	case flag == "never", getenv("NO_COLOR") != "":
		return false
	case forced("CLICOLOR_FORCE"), forced("FORCE_COLOR"):
		return true
	case getenv("TERM") == "dumb":
		return false
	case getenv("GITHUB_ACTIONS") != "", getenv("GITLAB_CI") != "":
		return true
	default:
		return isTTY
	}
}

// ASCIIFor decides on ASCII: by the flag, else by whether the locale names another encoding than UTF-8. An
// environment that names no locale at all, as most containers do, is taken for UTF-8.
func ASCIIFor(flag bool, getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return flag || locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}

type color string

const (
	red     color = "31"
	green   color = "32"
	yellow  color = "33"
	magenta color = "35"
	bold    color = "1"
	dim     color = "2"
)

// paint colours text of our own, or text that is escaped already.
func (s Style) paint(c color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// mark is the glyph of a judgement and its colour. It never stands without a word.
func (s Style) mark(v verdict.Verdict, level verdict.Level) (string, color) {
	glyphs := strings.Split("✓ ✗ △ ? – !", " ")
	if s.ASCII {
		glyphs = strings.Split("+ x ^ ? - !", " ")
	}
	switch v {
	case verdict.Pass:
		return glyphs[0], green
	case verdict.Fail:
		if level == verdict.Must {
			return glyphs[1], red
		}
		return glyphs[2], yellow
	case verdict.Inconclusive:
		return glyphs[3], yellow
	case verdict.Skip:
		return glyphs[4], dim
	default:
		return glyphs[5], magenta
	}
}
