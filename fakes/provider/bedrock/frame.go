package bedrock

import (
	"encoding/binary"
	"hash/crc32"
)

// A frame, all its numbers big-endian:
//
//	length of all | length of headers | CRC of these two | headers | payload | CRC of all before
//	            4 |                 4 |                4 |         |         |                 4
//
// and a header is the length of its name in a byte, the name, 7 for a string, its length in two bytes, the string.
const (
	preludeLength = 12
	stringHeader  = 7
)

// begin appends an event up to its payload.
func begin(b []byte, event string) []byte {
	at := len(b)
	b = append(b, make([]byte, preludeLength)...)
	b = header(b, ":event-type", event)
	b = header(b, ":content-type", "application/json")
	return headed(header(b, ":message-type", "event"), at)
}

func header(b []byte, name, value string) []byte {
	value = value[:min(len(value), 1<<15-1)] // the official decoders read a signed length
	b = append(b, byte(len(name)))
	b = append(b, name...)
	b = append(b, stringHeader)
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}

// headed notes that the headers of the frame that begins at at are complete.
func headed(b []byte, at int) []byte {
	binary.BigEndian.PutUint32(b[at+4:], uint32(len(b)-at-preludeLength))
	return b
}

// seal completes the frame that begins at at and has its headers and payload. A checksum that is to be wrong has its last
// byte inverted.
func seal(b []byte, at int, badPrelude, badCRC bool) []byte {
	frame := b[at:]
	binary.BigEndian.PutUint32(frame, uint32(len(frame)+4))
	binary.BigEndian.PutUint32(frame[8:], wrong(crc32.ChecksumIEEE(frame[:8]), badPrelude))
	return binary.BigEndian.AppendUint32(b, wrong(crc32.ChecksumIEEE(frame), badCRC))
}

func wrong(sum uint32, bad bool) uint32 {
	if bad {
		return sum ^ 0xff
	}
	return sum
}
