package proof

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// pacing are the faults of borders and instants.
func pacing() []proof {
	// shaped shapes the first frame of a stream, or the body in one piece, which leaves at the end.
	shaped := func(f script.Step) func(variant, time.Duration) []script.Step {
		return func(v variant, _ time.Duration) []script.Step {
			if v.stream() {
				return ending(f, text("one"), fault.Split{}, text("two"))
			}
			return ending(f, text("one"))
		}
	}
	first := func(cut func(string) []string) func(x *exchange) {
		return func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			var want []string
			for i, f := range x.frames() {
				if i == 0 {
					want = append(want, cut(f)...)
				} else {
					want = append(want, f)
				}
			}
			x.wantPieces(want)
			x.wantWrites(want)
			x.wantAgain()
		}
	}
	return []proof{
		{name: "a split after every so many bytes", proves: []string{"split.every"}, steps: shaped(fault.Split{Every: 7}),
			judge: first(func(f string) []string { return cutUp(f, 7) })},
		{name: "a split at offsets", proves: []string{"split.at"}, steps: shaped(fault.Split{At: []int{1, 5, 1 << 20}}),
			judge: first(func(f string) []string { return []string{f[:1], f[1:5], f[5:]} })},
		{name: "a drip", proves: []string{"drip.bytes", "drip.every"}, steps: func(_ variant, u time.Duration) []script.Step {
			return ending(fault.Drip{Bytes: 50, Every: u / 10}, text("one"))
		}, judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			var want []string
			for _, f := range x.frames() {
				want = append(want, cutUp(f, 50)...)
			}
			x.wantPieces(want)
			x.wantWrites(want)
			if x.virtual {
				require.Len(x.t, x.pieces, len(want), "pieces that leave apart arrive apart")
			}
			for i, c := range x.pieces {
				if x.virtual || x.chunks() {
					x.wantInstant(time.Duration(i)*x.u/10, c)
				}
			}
			require.Greater(x.t, len(want), 1)
		}},
		{name: "a batch", proves: []string{"batch.frames"}, steps: ended2(fault.Batch{Frames: 3}, text("a", "b", "c", "d", "e")), judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			var want []string
			for some := range slices.Chunk(x.frames(), 3) {
				want = append(want, strings.Join(some, ""))
			}
			require.Greater(x.t, len(want), 1)
			x.wantPieces(want)
			x.wantWrites(want)
		}},
	}
}

// shapes are the faults of the bytes in a frame.
func shapes() []proof {
	all := []proof{
		linesProof("lines that end in LF", "lines.end=lf", fault.Lines{End: "lf"}, func(_ *exchange, f string, _ bool) string { return f }),
		linesProof("lines that end in CRLF", "lines.end=crlf", fault.Lines{End: "crlf"}, func(_ *exchange, f string, _ bool) string { return strings.ReplaceAll(f, "\n", "\r\n") }),
		linesProof("lines that end in CR", "lines.end=cr", fault.Lines{End: "cr"}, func(_ *exchange, f string, _ bool) string { return strings.ReplaceAll(f, "\n", "\r") }),
		linesProof("a byte order mark", "lines.bom", fault.Lines{BOM: true}, func(_ *exchange, f string, first bool) string {
			if first {
				return "\xef\xbb\xbf" + f
			}
			return f
		}),
		linesProof("no space behind the colon", "lines.no-space", fault.Lines{NoSpace: true}, func(_ *exchange, f string, _ bool) string {
			return strings.NewReplacer("\ndata: ", "\ndata:", "\nevent: ", "\nevent:").Replace("\n" + f)[1:]
		}),
		{name: "data over several lines", proves: []string{"lines.several"}, steps: ended2(fault.Lines{Several: true}, text("one, two", "three")), nothing: notEvents, judge: severalLines},
		{name: "raw bytes", proves: []string{"raw.bytes"}, steps: list(script.Raw{Bytes: "data: \x00\xff{\r\n"}, script.End{}), judge: func(x *exchange) {
			x.begin()
			require.Equal(x.t, complete, x.finish())
			x.wantPieces([]string{"data: \x00\xff{\r\n"})
			x.wantAgain()
		}},
	}
	for _, how := range fault.Garbles() {
		all = append(all, proof{name: "garble " + how, proves: []string{"garble.how=" + how}, steps: func(v variant, _ time.Duration) []script.Step {
			if v.stream() {
				return ending(text("before"), fault.Garble{How: how}, text("broken"), text("after"))
			}
			return ending(fault.Garble{How: how}, text("broken"))
		}, nothing: func(v variant) string {
			if v.framing == array && slices.Contains([]string{"doubled", "no-blank", "no-event", "no-data"}, how) {
				return "an array has no events"
			}
			return ""
		}, judge: func(x *exchange) { garbled(x, how) }})
	}
	return all
}

func notEvents(v variant) string {
	if v.framing != events {
		return "only server-sent events have such lines"
	}
	return ""
}

func linesProof(name, proves string, f fault.Lines, want func(x *exchange, frame string, first bool) string) proof {
	return proof{name: name, proves: []string{proves}, steps: ended2(f, text("one", "two")), quiet: f.End == "lf", nothing: func(v variant) string {
		if v.framing == array {
			return "a JSON array has no lines of its own"
		}
		return ""
	}, judge: func(x *exchange) {
		x.begin()
		require.Equal(x.t, complete, x.finish())
		var all []string
		for i, frame := range x.frames() {
			all = append(all, want(x, frame, i == 0))
		}
		require.Equal(x.t, f.End == "lf", slices.Equal(all, x.frames()))
		x.wantPieces(all)
	}}
}

// severalLines reads events as their specification says, and wants the same JSON in each.
func severalLines(x *exchange) {
	x.begin()
	require.Equal(x.t, complete, x.finish())
	require.Len(x.t, x.pieces, len(x.frames()))
	data := func(frame string) (list [][]string) {
		var event []string
		for line := range strings.SplitSeq(frame, "\n") {
			switch value, ok := strings.CutPrefix(line, "data: "); {
			case ok:
				event = append(event, value)
			case line == "" && event != nil:
				list, event = append(list, event), nil
			}
		}
		return list
	}
	broken := 0
	for i, frame := range x.frames() {
		got, want := data(x.pieces[i].bytes), data(frame)
		require.Len(x.t, got, len(want))
		for j := range want {
			require.Len(x.t, want[j], 1)
			require.Equal(x.t, want[j][0], strings.Join(got[j], ""), "nothing but line breaks has come in")
			for _, line := range got[j][:len(got[j])-1] {
				require.True(x.t, strings.HasSuffix(line, ","), line)
				broken++
			}
			if json.Valid([]byte(want[j][0])) {
				require.JSONEq(x.t, want[j][0], strings.Join(got[j], "\n"))
			}
		}
	}
	require.Positive(x.t, broken)
}

// garbled wants one frame to be broken, in this way and no other, and those around it to be whole.
func garbled(x *exchange, how string) {
	x.begin()
	require.Equal(x.t, complete, x.finish())
	want := x.frames()
	at := 0
	if x.stream() {
		at = slices.IndexFunc(want, func(f string) bool { return strings.Contains(f, "broken") })
		require.Positive(x.t, at)
		require.Contains(x.t, want[at-1], "before")
		require.Contains(x.t, want[at+1], "after")
	}
	whole := want[at]
	want[at] = breakFrame(x, whole, how)
	require.NotEqual(x.t, whole, want[at])
	x.wantPieces(want)
}

// breakFrame is a frame as it must be when it is broken.
func breakFrame(x *exchange, frame, how string) string {
	// The JSON of the frame, which in messages stands between headers and a checksum.
	from, to := 0, len(frame)
	if x.framing == messages {
		from, to = 12+int(binary.BigEndian.Uint32([]byte(frame[4:]))), len(frame)-4
		require.Equal(x.t, uint32(len(frame)), binary.BigEndian.Uint32([]byte(frame)), "one message")
	}
	first, last := from+strings.Index(frame[from:to], "{"), from+strings.LastIndex(frame[from:to], "}")
	switch how {
	case "brace":
		return frame[:last] + frame[last+1:]
	case "plain":
		return frame[:first] + "Internal Server Error" + frame[last+1:]
	case "doubled":
		return strings.Replace(frame, "data: ", "data: data: ", 1)
	case "no-blank":
		return strings.TrimSuffix(frame, "\n")
	case "no-event":
		require.True(x.t, strings.HasPrefix(frame, "event: "))
		return frame[strings.Index(frame, "\n")+1:]
	case "no-data":
		head, _, _ := strings.Cut(frame, "data: ")
		return head + "data:\n\n"
	case "utf-8":
		return strings.Replace(frame, "broken", "\xffbroken", 1)
	case "crc":
		b := []byte(frame)
		b[len(b)-1] ^= 0xff
		require.NotEqual(x.t, crc32.ChecksumIEEE(b[:len(b)-4]), binary.BigEndian.Uint32(b[len(b)-4:]))
		return string(b)
	case "prelude-crc":
		b := []byte(frame)
		b[11] ^= 0xff
		require.NotEqual(x.t, crc32.ChecksumIEEE(b[:8]), binary.BigEndian.Uint32(b[8:]))
		return string(binary.BigEndian.AppendUint32(b[:len(b)-4], crc32.ChecksumIEEE(b[:len(b)-4])))
	}
	x.t.Fatalf("nobody has said what garble %s is", how)
	return ""
}
