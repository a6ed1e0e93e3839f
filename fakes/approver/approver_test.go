package approver_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/stallwright/stallwright/fakes/approver"
	"github.com/stallwright/stallwright/fakes/fault"
	"github.com/stallwright/stallwright/fakes/memnet"
	"github.com/stallwright/stallwright/fakes/script"
	"github.com/stallwright/stallwright/fakes/timeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "a secret that is long enough for it"

// world is a fake on a network of its own.
type world struct {
	t      *testing.T
	fake   *approver.Approver
	tl     *timeline.Timeline
	client *http.Client
}

// in plays in a bubble, on a fake with this script.
func in(t *testing.T, s approver.Script, secret string, play func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		l, err := network.Listen("approver.test:80")
		require.NoError(t, err)
		w := &world{t: t, tl: timeline.New(), client: &http.Client{
			Transport:     &http.Transport{DialContext: network.DialContext, DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
		w.fake = &approver.Approver{Secret: secret, Fallback: &approver.Session{Script: s, Timeline: w.tl}}
		served := make(chan error, 1)
		go func() { served <- w.fake.Serve(l) }()
		play(w)
		w.fake.Close()
		require.NoError(t, <-served)
	})
}

func body(id, more string) string {
	return fmt.Sprintf(`{"version":1,"decision_id":%q,"items":[{"tool_name":"book","arguments":{"note":%q}}]}`, id, more)
}

// ask asks, signed with a key, and returns the answer.
func (w *world) ask(ctx context.Context, text, id, key string) (*http.Response, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://approver.test/approve", strings.NewReader(text))
	require.NoError(w.t, err)
	if key != "" {
		stamp := strconv.FormatInt(time.Now().Unix(), 10)
		m := hmac.New(sha256.New, []byte(key))
		m.Write([]byte(stamp + ".approval-request:" + id + "." + text))
		r.Header.Set(approver.TimestampHeader, stamp)
		r.Header.Set(approver.SignatureHeader, "sha256="+hex.EncodeToString(m.Sum(nil)))
	}
	resp, err := w.client.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp, string(answer), err
}

// kinds are those of the events so far.
func (w *world) kinds() (out []string) {
	synctest.Wait()
	for _, e := range w.tl.Events() {
		out = append(out, e.Kind)
	}
	return out
}

func once(steps ...script.Step) approver.Script { return approver.Script{{Steps: steps}} }

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script approver.Script
		status int
		body   string
		kinds  []string
	}{
		{"yes without a script", nil, 200, `{"approved":true}`, []string{"request", "decide"}},
		{"no, with a reason", once(approver.Decide{Reason: "no"}), 200, `{"approved":false,"reason":"no"}`, []string{"request", "decide"}},
		{"late", once(script.Pause{For: time.Minute}, approver.Decide{Approved: true}), 200, `{"approved":true}`, []string{"request", "decide"}},
		{"a pause alone ends in a yes", once(script.Pause{For: time.Minute}), 200, `{"approved":true}`, []string{"request", "decide"}},
		{"a status", once(fault.Status{Code: 502, Body: "x"}), 502, "x", []string{"request", "status"}},
		{"a redirect", once(fault.Status{Code: 307, Blank: true, Header: map[string]string{"Location": "http://elsewhere.test/"}}), 307, "", []string{"request", "status"}},
		{"padded", once(approver.Decide{Approved: true, Pad: 5}), 200, `{"approved":true}     `, []string{"request", "decide", "pad"}},
		{"none left", approver.Script{{When: approver.When{Tool: "other"}, Steps: []script.Step{approver.Decide{}}}}, 500, "stallwright: no program left\n", []string{"request", "violation"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in(t, tt.script, "", func(w *world) {
				resp, got, err := w.ask(context.Background(), body("id", ""), "id", "")
				require.NoError(t, err)
				require.Equal(t, tt.status, resp.StatusCode)
				require.Equal(t, tt.body, got)
				require.Equal(t, tt.kinds, w.kinds())
				require.Empty(t, resp.Header.Get(approver.SignatureHeader))
			})
		})
	}
}

func TestBrokenConnections(t *testing.T) {
	for kind, step := range map[string]script.Step{"cut": fault.Cut{}, "reset": fault.Reset{}} {
		in(t, once(step), "", func(w *world) {
			_, _, err := w.ask(context.Background(), body("id", ""), "id", "")
			require.Error(t, err)
			require.Equal(t, []string{"request", kind}, w.kinds())
		})
	}
}

func TestThePeerLeaves(t *testing.T) {
	in(t, once(fault.Stall{}), "", func(w *world) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _, err := w.ask(ctx, body("id", ""), "id", "")
		require.Error(t, err)
		require.Equal(t, []string{"request", "stall", "left"}, w.kinds())
		require.Equal(t, time.Second, w.tl.Events()[2].At)
	})
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	in(t, once(fault.Stall{}), "", func(w *world) {
		ended := make(chan error)
		go func() {
			_, _, err := w.ask(context.Background(), body("id", ""), "id", "")
			ended <- err
		}()
		synctest.Wait()
		w.fake.Close()
		require.Error(t, <-ended)
		require.Equal(t, []string{"request", "stall", "closed"}, w.kinds())
	})
}

func TestSignatures(t *testing.T) {
	in(t, nil, secret, func(w *world) {
		for key, want := range map[string]string{secret: "valid", "another": "wrong", "": "missing"} {
			_, _, err := w.ask(context.Background(), body("id-"+want, ""), "id-"+want, key)
			require.NoError(t, err)
			_, seen := w.tl.Find(func(e timeline.Event) bool { return strings.HasSuffix(e.Detail, "signature="+want) })
			require.True(t, seen, want)
		}
	})
	for _, s := range append(approver.Signatures(), approver.Signed) {
		in(t, once(approver.Decide{Approved: true, Signature: s}), secret, func(w *world) {
			resp, got, err := w.ask(context.Background(), body("id", ""), "id", secret)
			require.NoError(t, err)
			proper := approver.SignDecision(secret, "id", []byte(got), time.Now())
			require.Equal(t, s == approver.Signed, resp.Header.Get(approver.SignatureHeader) == proper.Get(approver.SignatureHeader), s)
			for _, e := range w.tl.Events() {
				require.NotContains(t, e.Detail, secret)
			}
		})
	}
}

func TestAQuestionThatComesTwiceIsSeen(t *testing.T) {
	in(t, nil, "", func(w *world) {
		for range 2 {
			_, _, err := w.ask(context.Background(), body("id", ""), "id", "")
			require.NoError(t, err)
		}
		require.Equal(t, []string{"request", "decide", "request", "again", "decide"}, w.kinds())
	})
}

func TestWhatIsNoQuestionIsAViolation(t *testing.T) {
	in(t, nil, "", func(w *world) {
		for _, text := range []string{"", "{}", "[]", "nonsense"} {
			resp, _, err := w.ask(context.Background(), text, "", "")
			require.NoError(t, err)
			require.Equal(t, 500, resp.StatusCode)
		}
		resp, _, err := w.ask(context.Background(), strings.Repeat("x", 2<<20), "", "")
		if err == nil {
			require.Equal(t, 413, resp.StatusCode)
		}
		require.Contains(t, w.kinds(), "violation")
	})
}

func TestSessions(t *testing.T) {
	in(t, nil, "", func(w *world) {
		tl, gates := timeline.New(), &script.Gates{}
		require.NoError(t, w.fake.Open("m", &approver.Session{Timeline: tl, Gates: gates, Script: approver.Script{
			{When: approver.When{Ordinal: 1}, Steps: []script.Step{script.Await{Gate: "g"}, approver.Decide{}}}, {Times: 3, Steps: []script.Step{approver.Decide{}}},
		}}))
		require.Error(t, w.fake.Open("m", &approver.Session{}))
		answered := make(chan string)
		go func() {
			_, got, _ := w.ask(context.Background(), body("id", "[[sw:m]]"), "id", "")
			answered <- got
		}()
		synctest.Wait()
		gates.Open("g")
		require.Equal(t, `{"approved":false}`, <-answered)
		resp, _, err := w.ask(context.Background(), body("id", "[[sw:unknown]]"), "id", "")
		require.NoError(t, err)
		require.Equal(t, 500, resp.StatusCode)
		require.Equal(t, 1, w.fake.Strays())
		require.Equal(t, []string{"program 2 was taken by 0 of 3 requests"}, w.fake.Release("m"))
		require.Empty(t, w.fake.Release("m"))
		require.Len(t, tl.Events(), 2)
	})
}

func TestValidate(t *testing.T) {
	for want, s := range map[string]approver.Script{
		"program 1 has no steps":                             {{}},
		"program 1, step 1 (decide): signature is \"odd\"":   once(approver.Decide{Signature: "odd"}),
		"program 1, step 1 (decide): pad -1":                 once(approver.Decide{Pad: -1}),
		"program 1, step 1: an approver has no step":         once(script.Text{}),
		"program 1, step 1 (decide): nothing comes after it": once(approver.Decide{}, script.Pause{For: 1}),
		"program 1: want times of -1":                        {{Times: -2, Steps: []script.Step{approver.Decide{}}}},
		"program 1, step 1 (pause): jitter 1s":               once(script.Pause{For: 1, Jitter: time.Second}),
		"program 1, step 1 (stall): nothing comes after it":  once(fault.Stall{}, approver.Decide{}),
	} {
		require.ErrorContains(t, s.Validate(), want)
	}
}

func TestYAML(t *testing.T) {
	f := approver.File{About: "no, and late", Script: approver.Script{
		{When: approver.When{Tool: "book", Ordinal: 1}, Steps: []script.Step{script.Pause{For: time.Second}, approver.Decide{Reason: "no", Signature: approver.OldStamp}}},
		{Times: script.Any, Steps: []script.Step{fault.Status{Code: 500}}},
	}}
	text, err := f.YAML()
	require.NoError(t, err)
	got, err := approver.Parse("f.yaml", text)
	require.NoError(t, err, "%s", text)
	require.Equal(t, f, got)
	tidy, err := approver.Format("f.yaml", text)
	require.NoError(t, err)
	require.Equal(t, string(text), string(tidy))
	for _, broken := range []string{"programs: [{steps: [{decde: true}]}]", "programs: [{steps: []}]", "tools: []", "programs: [{steps: [text]}]"} {
		_, err := approver.Parse("f.yaml", []byte(broken))
		require.ErrorContains(t, err, "f.yaml:1:", broken)
	}
	require.True(t, bytes.Contains(approver.Schema(), []byte("decide")))
}
