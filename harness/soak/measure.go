package soak

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/provider"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
	"github.com/stallwright/stallwright/harness"
	"github.com/stallwright/stallwright/harness/caller"
	"github.com/stallwright/stallwright/harness/census"
	"github.com/stallwright/stallwright/harness/expect"
)

// held is what the server held at one instant at which it had nothing to do.
type held struct {
	name  string
	value int
	slack int // how much more it may be afterwards
	why   string
}

// The slack of each count. Both measurements come after the same full house and with nothing under way, so that what a pool keeps is the same.
const (
	// Of what is counted one by one: a connection, its goroutines and its descriptor may yet be going when the count is taken.
	few    = 4
	fewWhy = "one connection of the scrape, and its goroutines"
	// Of the heap: sync.Pools, maps that have grown and stacks of goroutines are kept by the runtime; a leak of 100 bytes a run is 2 MB in
	// 20,000 runs.
	heapSlack = 2 << 20
	heapWhy   = "maps and pools keep the size of the busiest instant; 100 bytes left of each of 20,000 runs are as much"
)

// quiet is how long the server may take to come to rest: above its cleanup, the last write, and a child's way out.
const quiet = 30 * time.Second

// house is how many runs meet for a full house: more than a server keeps connections for.
const house = 24

// fullHouse has runs meet, so that the server's pools are as full as they ever are when they have ended: what it keeps from then on is the same
// whatever came before.
func (s *soak) fullHouse(ctx context.Context) error {
	s.houses++
	marker, events, gates := fmt.Sprintf("house.%d", s.houses), timeline.New(), &script.Gates{}
	steps := append([]script.Step{script.Headers{}, script.Await{Gate: "all"}, script.Text{Chunks: []string{"well"}}}, closing("stop")...)
	program := script.Program{Times: house, Steps: steps}
	if err := s.fake.Open(marker, &provider.Session{Script: script.Script{program}, Timeline: events, Gates: gates}); err != nil {
		return err
	}
	defer s.fake.Release(marker)
	client := &caller.Caller{Dial: s.dialer.DialContext, Address: s.server.Address(), Timeline: events}
	defer client.LeaveAll()
	var all []*caller.Request
	for range house {
		all = append(all, client.Ask(caller.Ask{Prompt: "[[sw:" + marker + "]]", Stream: true}))
	}
	last := expect.Event{Lane: harness.ProviderLane, Kind: "request", Nth: house}
	if _, ok := events.Await(patience, last.Chosen()); !ok {
		return fmt.Errorf("soak: the %d runs of a full house did not reach the model within %s", house, patience)
	}
	gates.Open("all")
	for _, q := range all {
		select {
		case <-q.Ended():
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.server.Done():
			return errDied
		}
	}
	return nil
}

// measure brings the server to rest after a full house and counts what it holds.
func (s *soak) measure(ctx context.Context) ([]held, map[string]float64, error) {
	if err := s.fullHouse(ctx); err != nil {
		return nil, nil, err
	}
	samples, err := s.rest(ctx)
	if err != nil {
		return nil, nil, err
	}
	// What lives is known after a collection, and the scrapes are what allocates until there is one. The second frees what finalizers held.
	for wanted := samples["stallwright_collections_total"] + 2; samples["stallwright_collections_total"] < wanted; {
		if samples, err = s.scrape(ctx); err != nil {
			return nil, nil, err
		}
	}
	counts := census.Of(s.server.Pid())
	return []held{
		{"goroutines", int(samples["go_goroutines"]), few, fewWhy},
		{"files", counts[harness.Files], few, fewWhy},
		{"sockets", counts[harness.Sockets], few, fewWhy},
		{"children", counts[harness.Children], 0, "what is kept is the same"},
		{"tool sets kept", int(samples["stallwright_tool_sets_kept"]), 0, "what is kept is the same"},
		{"heap, live bytes", int(samples["stallwright_heap_live_bytes"]), heapSlack, heapWhy},
	}, samples, nil
}

// idle are what must be 0 when nothing is under way, by their names in /metrics.
var idle = []string{"stallwright_runs_running", "stallwright_streams_open", "stallwright_tool_calls_in_flight", "stallwright_approvals_pending"}

// rest waits until nothing is under way and two looks, a moment apart, show the same. Another process can only be asked again and again. What
// does not come to rest is counted as it is: it is a leak.
func (s *soak) rest(ctx context.Context) (samples map[string]float64, err error) {
	const moment = 300 * time.Millisecond
	var before [3]int
	for end := time.Now().Add(quiet); ; {
		if samples, err = s.scrape(ctx); err != nil {
			return nil, err
		}
		busy := 0.0
		for _, name := range idle {
			busy += samples[name]
		}
		counts := census.Of(s.server.Pid())
		now := [3]int{int(samples["go_goroutines"]), counts[harness.Sockets], counts[harness.Children]}
		if busy == 0 && now == before || time.Now().After(end) {
			return samples, nil
		}
		before = now
		timer := time.NewTimer(moment)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// scrape reads /metrics. The labels of a sample are dropped and its values summed.
func (s *soak) scrape(ctx context.Context) (map[string]float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.server.Address()+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.web.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("soak: /metrics answers %s", resp.Status)
	}
	samples := map[string]float64{}
	lines := bufio.NewScanner(io.LimitReader(resp.Body, 1<<20))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		if at := strings.LastIndexByte(lines.Text(), ' '); at >= 0 {
			value = lines.Text()[at+1:]
		}
		name, _, _ = strings.Cut(name, "{")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("soak: /metrics: %q", lines.Text())
		}
		samples[name] += v
	}
	return samples, cmp.Or(lines.Err(), ctx.Err())
}
