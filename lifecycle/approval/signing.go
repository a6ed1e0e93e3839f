package approval

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a signed message.
const (
	SignatureHeader = "X-Aura-Signature-256"
	TimestampHeader = "X-Aura-Timestamp"
)

// Keys sign what goes to a webhook and verify what comes from it, and the decisions on the server's own endpoint. Without a Primary
// nothing is signed or verified.
type Keys struct {
	Primary   string
	Secondary string        // verifies as well, so that keys can be changed; may be empty
	Tolerance time.Duration // how far a timestamp may be off
}

// errSignature says no more: why a signature is wrong helps only those who forge one.
var errSignature = errors.New("invalid or missing webhook signature")

// On says whether anything is signed.
func (k Keys) On() bool { return k.Primary != "" }

// sign puts the signature of a body into the headers.
func (k Keys) sign(h http.Header, context string, body []byte) {
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	h.Set(TimestampHeader, stamp)
	h.Set(SignatureHeader, "sha256="+hex.EncodeToString(mac(k.Primary, stamp, context, body)))
}

// Verify checks the signature of a decision on the approval with this id, in the body's own bytes.
func (k Keys) Verify(h http.Header, id string, body []byte) error {
	stamps, signatures := h.Values(TimestampHeader), h.Values(SignatureHeader)
	if len(stamps) != 1 || len(signatures) != 1 {
		return errSignature
	}
	seconds, err := strconv.ParseInt(stamps[0], 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > k.Tolerance+time.Second { // a timestamp has whole seconds
		return errSignature
	}
	text, ok := strings.CutPrefix(signatures[0], "sha256=")
	given, err := hex.DecodeString(text)
	if !ok || err != nil {
		return errSignature
	}
	for _, key := range []string{k.Primary, k.Secondary} {
		if key != "" && hmac.Equal(given, mac(key, stamps[0], "approval-decision:"+id, body)) {
			return nil
		}
	}
	return errSignature
}

func mac(key, stamp, context string, body []byte) []byte {
	m := hmac.New(sha256.New, []byte(key))
	m.Write([]byte(stamp + "." + context + "."))
	m.Write(body)
	return m.Sum(nil)
}
