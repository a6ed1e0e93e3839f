// Package proof has no code of its own. Its tests are the proof that every fault of the script language is applied, not
// only declared: they play it in each dialect, over HTTP/1.1 and HTTP/2, with and without TLS, to a peer that knows no
// client library and looks at what arrives on its socket: the bytes and their borders, the silence between them, the last
// chunk or its absence, the FIN, the RST, the frame of HTTP/2. What a dialect, an answer in one piece or a version of HTTP
// has no form for is played too, and must change nothing.
package proof

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
