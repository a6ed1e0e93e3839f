package bedrock

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/script"
)

// frame is a decoded one.
type frame struct {
	headers [][2]string // in their order
	payload string
}

func (f frame) get(name string) string {
	for _, h := range f.headers {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// decode reads the frame that b begins with, and what is left.
func decode(b []byte) (f frame, rest []byte, err error) {
	if len(b) < 16 {
		return f, nil, fmt.Errorf("%d bytes are no frame", len(b))
	}
	total, headers := int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
	switch {
	case binary.BigEndian.Uint32(b[8:]) != crc32.ChecksumIEEE(b[:8]):
		return f, nil, errors.New("prelude checksum")
	case total > len(b) || total < 16+headers:
		return f, nil, fmt.Errorf("length %d with headers of %d, of %d bytes", total, headers, len(b))
	case binary.BigEndian.Uint32(b[total-4:]) != crc32.ChecksumIEEE(b[:total-4]):
		return f, nil, errors.New("message checksum")
	}
	f.payload = string(b[12+headers : total-4])
	for h := b[12 : 12+headers]; len(h) > 0; {
		name := string(h[1 : 1+h[0]])
		h = h[1+h[0]:]
		if h[0] != 7 {
			return f, nil, fmt.Errorf("header %s of type %d", name, h[0])
		}
		n := binary.BigEndian.Uint16(h[1:])
		f.headers = append(f.headers, [2]string{name, string(h[3 : 3+n])})
		h = h[3+n:]
	}
	return f, b[total:], nil
}

func decodeAll(t *testing.T, b []byte) (list []frame) {
	t.Helper()
	for len(b) > 0 {
		f, rest, err := decode(b)
		require.NoError(t, err)
		list = append(list, f)
		b = rest
	}
	return list
}

// The frames of recorded answers, by their lengths and checksums.
func TestVectors(t *testing.T) {
	empty := seal(make([]byte, preludeLength), 0, false, false)
	require.Equal(t, "000000100000000005c248eb7d98c8ff", hex.EncodeToString(empty))

	tests := []struct {
		name         string
		frame        []byte
		length       int
		prelude, crc string
	}{
		{"an event", seal(append(begin(nil, "messageStart"), `{"role":"assistant"}`...), 0, false, false), 118, "000000760000005296d5fade", "6fa8c599"},
		{"an exception", (&answer{}).failure(nil, script.Error{Type: "throttlingException", Message: "slow down"}), 136, "0000008800000061de0175f4", "832ee072"},
		{"an error that the model of the API does not know", (&answer{}).failure(nil, script.Error{Type: "InternalError", Message: "boom", Form: script.FlatForm}), 88, "0000005800000048154692c1", "961cb456"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Len(t, tt.frame, tt.length)
			require.Equal(t, tt.prelude, hex.EncodeToString(tt.frame[:12]))
			require.Equal(t, tt.crc, hex.EncodeToString(tt.frame[len(tt.frame)-4:]))
		})
	}
}

func TestAnyFlippedByteIsSeen(t *testing.T) {
	good := seal(append(begin(nil, "messageStart"), `{"role":"assistant"}`...), 0, false, false)
	for at := range good {
		b := append([]byte(nil), good...)
		b[at] ^= 0x40
		_, _, err := decode(b)
		require.Error(t, err, "byte %d", at)
	}
}

func TestBadChecksums(t *testing.T) {
	for _, tt := range []struct {
		name    string
		dialect Dialect
		how     string
		want    []string // of each frame
	}{
		{"none", Dialect{}, "", []string{"", "", "", "", ""}},
		{"of the second frame", Dialect{}, "crc", []string{"", "message checksum"}},
		{"of the second prelude", Dialect{}, "prelude-crc", []string{"", "prelude checksum"}},
		{"of the second frame, by the dialect", Dialect{BadCRC: 2}, "", []string{"", "message checksum"}},
		{"of the second prelude, by the dialect", Dialect{BadPrelude: 2}, "", []string{"", "prelude checksum"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps := []script.Step{script.Text{Chunks: []string{"b"}}, script.Finish{Reason: "stop"}, script.Done{}}
			if tt.how != "" {
				steps = append([]script.Step{fault.Garble{How: tt.how}}, steps...)
			}
			b, err := ask(t, tt.dialect, append([]script.Step{script.Role{}}, steps...), "/model/m/converse-stream", []byte(`{}`))
			require.NoError(t, err)
			for _, want := range tt.want {
				require.NotEmpty(t, b)
				_, rest, err := decode(b)
				if want != "" {
					require.EqualError(t, err, want)
					// Nothing else is wrong with it.
					length := int(binary.BigEndian.Uint32(b))
					sum := crc32.ChecksumIEEE(b[:length-4])
					require.Equal(t, want == "prelude checksum", sum == binary.BigEndian.Uint32(b[length-4:]))
					require.Equal(t, want == "message checksum", crc32.ChecksumIEEE(b[:8]) == binary.BigEndian.Uint32(b[8:]))
					_, _, err = decode(b[length:])
				}
				require.NoError(t, err)
				b = rest
			}
		})
	}
}

// Lengths and checksums have all values, those of braces too.
func TestGarbledFramesKeepWhatIsAroundTheirJSON(t *testing.T) {
	for _, how := range []string{"brace", "plain"} {
		for length := range 300 {
			text := strings.Repeat("x", length+1)
			whole, err := ask(t, Dialect{}, []script.Step{script.Role{}, script.Text{Chunks: []string{"a", text}}, script.End{}}, "/model/m/converse-stream", []byte(`{}`))
			require.NoError(t, err)
			broken, err := ask(t, Dialect{}, []script.Step{script.Role{}, script.Text{Chunks: []string{"a"}}, fault.Garble{How: how}, script.Text{Chunks: []string{text}}, script.End{}}, "/model/m/converse-stream", []byte(`{}`))
			require.NoError(t, err)
			list := decodeAll(t, whole)
			payload := list[len(list)-1].payload
			from := len(whole) - 4 - len(payload)
			require.Equal(t, string(whole[:from]), string(broken[:from]))
			require.Equal(t, string(whole[len(whole)-4:]), string(broken[len(broken)-4:]))
			want := "Internal Server Error"
			if how == "brace" {
				want = payload[:len(payload)-1]
			}
			require.Equal(t, want, string(broken[from:len(broken)-4]))
		}
	}
}

func TestExceptions(t *testing.T) {
	tests := []struct {
		name        string
		e           script.Error
		kind, wants string
	}{
		{"nothing said", script.Error{Message: "m"}, "internalServerException", `{"message":"m"}`},
		{"as the API says it before a stream", script.Error{Type: "ValidationException"}, "validationException", `{"message":""}`},
		{"as another dialect says it", script.Error{Code: "overloaded_error"}, "serviceUnavailableException", `{"message":""}`},
		{"of the model", script.Error{Type: "modelStreamErrorException", Code: "424", Message: "m"}, "modelStreamErrorException", `{"message":"m","originalStatusCode":424,"originalMessage":"m"}`},
		{"one that nobody knows", script.Error{Type: "fooException"}, "fooException", `{"message":""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list := decodeAll(t, (&answer{}).Append(nil, tt.e, 0))
			require.Equal(t, []frame{{[][2]string{{":exception-type", tt.kind}, {":content-type", "application/json"}, {":message-type", "exception"}}, tt.wants}}, list)
		})
	}
}

func TestLongHeadersAreCut(t *testing.T) {
	list := decodeAll(t, (&answer{}).Append(nil, script.Error{Message: strings.Repeat("x", 1<<17), Form: script.FlatForm}, 0))
	require.Len(t, list[0].get(":error-message"), 1<<15-1)
	require.Equal(t, "InternalError", list[0].get(":error-code"))
}
