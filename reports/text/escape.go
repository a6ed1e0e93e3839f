package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EscapeLimit is the number of characters that Escape lets through: some four lines of a terminal, enough for any
// sentence of ours and too few to bury the next one.
const EscapeLimit = 320

// What is printed of the parts of a line, in characters. A path or a command is of no use when cut.
const (
	nameLimit   = 200
	detailLimit = 120
	wholeLimit  = 4096
)

// Escape makes text of the server under test safe to show: one line, of at most EscapeLimit characters (the last is
// … when it was cut), in which control characters, bidirectional and invisible ones, odd spaces, line ends and
// bytes that are not UTF-8 are seen as \x1b, \u202e, \n or \xff. A backslash stays as it is, so that the text reads
// well; escaping twice is the same as once.
func Escape(s string) string { return escape(s, EscapeLimit, false) }

// Escape is [Escape] in the letters of the style.
func (s Style) Escape(text string) string { return s.escape(text, EscapeLimit) }

func (s Style) escape(text string, limit int) string { return escape(text, limit, s.ASCII) }

func escape(s string, limit int, ascii bool) string {
	ellipsis := "…"
	if ascii {
		ellipsis = "..."
	}
	var b strings.Builder
	width, fits := 0, 0 // fits: the bytes after which there is room for the ellipsis
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		piece := s[:size]
		if size == 1 && r == utf8.RuneError {
			piece = fmt.Sprintf(`\x%02x`, s[0])
		} else if !shown(r) || ascii && r > unicode.MaxASCII {
			piece = escaped(r)
		}
		s = s[size:]
		if width <= limit-utf8.RuneCountInString(ellipsis) {
			fits = b.Len()
		}
		b.WriteString(piece)
		if width += utf8.RuneCountInString(piece); width > limit {
			return b.String()[:fits] + ellipsis
		}
	}
	return b.String()
}

// shown reports whether a character is seen where it stands, takes room there, and leaves its neighbours in place.
func shown(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escaped(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r <= unicode.MaxASCII:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return fmt.Sprintf(`\U%08x`, r)
	}
}
