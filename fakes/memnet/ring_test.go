package memnet

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRingIsAQueue(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
	}{
		{"of one byte", 1},
		{"smaller than its first size", 100},
		{"that grows by doubling", 8 << 10},
		{"whose limit is no power of two", 5000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			r := ring{limit: tt.limit}
			var want []byte
			next := byte(0)
			for range 5000 {
				p := make([]byte, random.IntN(tt.limit/2+2))
				if random.IntN(2) == 0 {
					for i := range p {
						p[i] = next + byte(i)
					}
					n := r.write(p)
					require.Equal(t, min(len(p), tt.limit-len(want)), n)
					next += byte(n)
					want = append(want, p[:n]...)
				} else {
					n := r.read(p)
					require.Equal(t, min(len(p), len(want)), n)
					require.True(t, bytes.Equal(want[:n], p[:n]))
					want = want[n:]
				}
				require.Equal(t, len(want), r.len())
				require.LessOrEqual(t, len(r.buf), tt.limit)
			}
		})
	}
}
