package approver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// sign puts a signature into the headers of an answer.
func (a *Approver) sign(h http.Header, how Signature, id string, body []byte) {
	if a.Secret == "" || how == Unsigned {
		return
	}
	secret, at := a.Secret, time.Now()
	switch how {
	case WrongKey:
		secret = "another secret of the same length"
	case OtherDecision:
		id = "00000000-0000-4000-8000-000000000000"
	case OldStamp:
		at = at.Add(-24*time.Hour - time.Minute)
	case FutureStamp:
		at = at.Add(24*time.Hour + time.Minute)
	}
	maps.Copy(h, SignDecision(secret, id, body, at))
	if how == Prefix {
		h.Set(SignatureHeader, h.Get(SignatureHeader)[:len("sha256=")+sha256.Size])
	}
}

// SignDecision are the headers of a decision on the approval of this id, as whoever has the secret sends it.
func SignDecision(secret, id string, body []byte, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return http.Header{TimestampHeader: {stamp}, SignatureHeader: {"sha256=" + mac(secret, stamp, "approval-decision:"+id, body)}}
}

// verify says of a request's signature that it is valid, missing or wrong, or off when nothing is signed.
func (a *Approver) verify(h http.Header, id string, body []byte) string {
	given := h.Get(SignatureHeader)
	switch {
	case a.Secret == "":
		return "off"
	case given == "" || h.Get(TimestampHeader) == "":
		return "missing"
	case !hmac.Equal([]byte(given), []byte("sha256="+mac(a.Secret, h.Get(TimestampHeader), "approval-request:"+id, body))):
		return "wrong"
	}
	return "valid"
}

func mac(secret, stamp, context string, body []byte) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(stamp + "." + context + "."))
	m.Write(body)
	return hex.EncodeToString(m.Sum(nil))
}
