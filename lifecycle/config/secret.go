package config

import (
	"fmt"
	"io"
)

// Secret is a text that shows itself to nobody who formats it, logs it or encodes it as JSON. string(s) is the text.
type Secret string

const redacted = "[redacted]"

// Format implements [fmt.Formatter], so that no verb prints the text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// String tells only whether there is a text.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// MarshalText implements [encoding.TextMarshaler] for JSON and structured logs.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
