package text

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Moment writes an instant of a trial as seconds since its start: +4.300.
func Moment(at time.Duration) string {
	return fmt.Sprintf("%+.3f", at.Seconds())
}

// Duration writes a length of time for a sentence: to three digits below a second, to a hundredth of a second below
// a minute, to the second above. Zeros at the end go: 840ms, 30.65s, 1m30s, 2h.
func Duration(d time.Duration) string {
	switch a := d.Abs(); {
	case a >= time.Minute-5*time.Millisecond:
		text := d.Round(time.Second).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	case a >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	default:
		unit := time.Duration(1)
		for a >= 1000*unit {
			unit *= 10
		}
		return d.Round(unit).String()
	}
}

// clock writes how long a run took: 3.1 s, 3m52s.
func clock(d time.Duration) string {
	if d >= time.Minute-50*time.Millisecond {
		return Duration(max(d, time.Minute))
	}
	return strconv.FormatFloat(d.Round(time.Millisecond).Seconds(), 'g', 3, 64) + " s"
}

// total writes a sum of virtual time: 96 h, 1 h 30 min, 12 min, 8 s.
func total(d time.Duration) string {
	if d < time.Minute {
		return clock(d)
	}
	minutes := int(d.Round(time.Minute) / time.Minute)
	h, m := minutes/60, minutes%60
	switch {
	case h >= 10:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour)/time.Hour))
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	default:
		return fmt.Sprintf("%d h %d min", h, m)
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
