package text

import (
	"fmt"
	"io"

	"github.com/stallwright/stallwright/harness/verdict"
	"github.com/stallwright/stallwright/reports"
)

// Passed writes the line of a case that passed or was skipped, which is shown with -v.
func (s Style) Passed(w io.Writer, r verdict.Result) error {
	text := string(r.Verdict)
	if r.Verdict == verdict.Skip {
		text = because("skip", string(r.Reason), r.Why)
	}
	return s.line(w, r.Verdict, verdict.Must, r.Case, text)
}

// Result writes a line for each check of a case that neither passed nor was skipped; it writes nothing for a case of
// which all were. Level gives the level of a guarantee; of "" too, which is a case's own.
func (s Style) Result(w io.Writer, r verdict.Result, level func(guarantee string) verdict.Level) error {
	for _, f := range reports.Judgements(r) {
		at, text := level(f.Guarantee), ""
		switch f.Verdict {
		case verdict.Pass, verdict.Skip:
			continue
		case verdict.Fail:
			text = "new"
			if at != verdict.Must {
				text = because(string(at), f.Observed)
			}
		default:
			text = because(string(f.Verdict), f.Observed)
		}
		if err := s.line(w, f.Verdict, at, f.Check, text); err != nil {
			return err
		}
	}
	return nil
}

func (s Style) line(w io.Writer, v verdict.Verdict, level verdict.Level, id, text string) error {
	glyph, c := s.mark(v, level)
	_, err := fmt.Fprintf(w, "%s %s   %s\n", s.paint(c, glyph), s.escape(id, nameLimit), s.escape(text, EscapeLimit))
	return err
}

// because joins a word and what is known of its reasons.
func because(text string, reasons ...string) string {
	for _, r := range reasons {
		if r != "" {
			text += ": " + r
		}
	}
	return text
}
