package provider

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// repeat plays steps again and again. A round without end that lets no time go by would never let another go on: it
// is a violation, and the exchange waits for the peer to leave.
func (pl *play) repeat(r script.Repeat) error {
	for n := 0; r.Times == 0 || n < r.Times; n++ {
		began := pl.due
		if err := pl.play(r.Steps); err != nil {
			return err
		}
		if r.Times == 0 && !pl.due.After(began) {
			pl.record("violation", "a repeat without end took no time")
			if err := pl.flush(); err != nil {
				return err
			}
			return pl.rest()
		}
	}
	return nil
}

// jitter draws a duration from 0 to most. What an exchange draws follows from the session's seed and the request's
// ordinal.
func (pl *play) jitter(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	if pl.rand == nil {
		pl.rand = rand.New(rand.NewPCG(pl.s.seed(pl.p), uint64(pl.ordinal)))
	}
	return time.Duration(pl.rand.Int64N(int64(most) + 1))
}

// seed is the session's, chosen and recorded at its first use.
func (s *session) seed(p *Provider) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.drawn == nil {
		seed := s.Seed
		for seed == 0 {
			seed = rand.Uint64()
		}
		s.drawn = &seed
		if s.Timeline != nil {
			s.Timeline.Add(Lane, "", "seed", strconv.FormatUint(seed, 10))
		}
	}
	return *s.drawn
}
