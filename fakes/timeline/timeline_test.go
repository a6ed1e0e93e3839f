package timeline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func kind(k string) func(Event) bool { return func(e Event) bool { return e.Kind == k } }

func TestEventsAreStamped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := New()
		<-time.NewTimer(1500 * time.Millisecond).C
		e := tl.Add("client", "#1", "ask", "hello")
		want := Event{Seq: 1, At: 1500 * time.Millisecond, Lane: "client", Ref: "#1", Kind: "ask", Detail: "hello"}
		require.Equal(t, want, e)
		told := tl.Record(Event{Lane: "server", Kind: "evicted", Source: Reported, Seq: 99, At: time.Hour})
		require.Equal(t, Event{Seq: 2, At: 1500 * time.Millisecond, Lane: "server", Kind: "evicted", Source: Reported}, told)
		require.Equal(t, []Event{want, told}, tl.Events())
		require.Equal(t, 1500*time.Millisecond, tl.Now())
		b, err := json.Marshal(want)
		require.NoError(t, err)
		require.JSONEq(t, `{"seq":1,"at":1500000000,"lane":"client","ref":"#1","kind":"ask","detail":"hello"}`, string(b))
	})
}

func TestEventsAreACopy(t *testing.T) {
	tl := New()
	tl.Add("a", "", "one", "")
	tl.Events()[0].Kind = "changed"
	require.Equal(t, "one", tl.Events()[0].Kind)
}

func TestDetailIsBounded(t *testing.T) {
	tl := New()
	tl.Add("a", "", "k", strings.Repeat("x", DetailLimit))
	tl.Add("a", "", "k", strings.Repeat("x", DetailLimit+1))
	for _, e := range tl.Events() {
		require.Len(t, e.Detail, DetailLimit)
	}
}

func TestEventsAreBounded(t *testing.T) {
	tl := New()
	for range Limit + 3 {
		tl.Add("a", "", "k", "")
	}
	require.Len(t, tl.Events(), Limit)
	require.Equal(t, 3, tl.Lost())
}

func TestEventsOfManyGoroutinesAreOrderedByTime(t *testing.T) {
	tl := New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				tl.Add("a", "", "k", "")
			}
		})
	}
	wg.Wait()
	last := Event{}
	for _, e := range tl.Events() {
		require.Equal(t, last.Seq+1, e.Seq)
		require.GreaterOrEqual(t, e.At, last.At)
		last = e
	}
	require.Equal(t, 4000, last.Seq)
}

func TestAwait(t *testing.T) {
	tests := []struct {
		name  string
		limit time.Duration
		want  string // the Detail of the event found, "" for none
		takes time.Duration
	}{
		{"returns at the event", 10 * time.Second, "first", 5 * time.Second},
		{"gives up at the limit", 4 * time.Second, "", 4 * time.Second},
		{"looks once when there is no time", 0, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tl := New()
				for i, detail := range []string{"other", "first", "second"} {
					time.AfterFunc(time.Duration(5*i)*time.Second, func() {
						k := "wanted"
						if i == 0 {
							k = "unwanted"
						}
						tl.Add("a", "", k, detail)
					})
				}
				e, found := tl.Await(test.limit, kind("wanted"))
				require.Equal(t, test.want != "", found)
				require.Equal(t, test.want, e.Detail)
				require.Equal(t, test.takes, tl.Now())
			})
		})
	}
}

func TestAwaitAndFindReturnTheFirstOfThePast(t *testing.T) {
	tl := New()
	tl.Add("a", "", "k", "1")
	tl.Add("a", "", "k", "2")
	e, found := tl.Await(0, kind("k"))
	require.True(t, found)
	require.Equal(t, "1", e.Detail)
	e, found = tl.Find(kind("k"))
	require.True(t, found)
	require.Equal(t, "1", e.Detail)
	_, found = tl.Find(kind("none"))
	require.False(t, found)
}

func TestManyAwaitOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := New()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, found := tl.Await(time.Hour, kind("go"))
				require.True(t, found)
			})
		}
		time.AfterFunc(time.Minute, func() { tl.Add("a", "", "go", "") })
		wg.Wait()
		require.Equal(t, time.Minute, tl.Now())
	})
}

func TestAfter(t *testing.T) {
	tl := New()
	for range 5 {
		tl.Add("a", "", "k", "")
	}
	for _, test := range []struct {
		name    string
		n, most int
		want    []int
	}{
		{"all", 0, 10, []int{1, 2, 3, 4, 5}},
		{"some", 1, 2, []int{2, 3}},
		{"the last", 4, 2, []int{5}},
		{"none", 5, 2, nil},
		{"none of those that are not there", 9, 2, nil},
		{"none when none are wanted", 0, -1, nil},
		{"all behind a number below", -3, 2, []int{1, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for _, e := range tl.After(test.n, test.most) {
				got = append(got, e.Seq)
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestNextWaitsForAnEventOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tl := New()
		tl.Add("a", "", "one", "")
		events, err := tl.Next(t.Context(), 0, 10)
		require.NoError(t, err)
		require.Len(t, events, 1)
		time.AfterFunc(time.Hour, func() { tl.Add("a", "", "two", ""); tl.Add("a", "", "three", "") })
		events, err = tl.Next(t.Context(), 1, 1)
		require.NoError(t, err)
		require.Equal(t, "two", events[0].Kind)
		require.Equal(t, time.Hour, tl.Now())

		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { cancel(why) })
		_, err = tl.Next(ctx, 3, 1)
		require.Equal(t, why, err)
		require.Equal(t, 2*time.Hour, tl.Now())
		events, err = tl.Next(ctx, 2, 1)
		require.NoError(t, err, "what is there is told even then")
		require.Len(t, events, 1)
	})
}
