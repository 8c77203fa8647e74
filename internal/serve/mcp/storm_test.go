package mcp

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// stormTools are what the attackers and the one good client call.
func stormTools() []tool.Tool {
	type number struct {
		N int64 `json:"n" jsonschema:"a number"`
	}
	return append(picture(), tool.Typed[number]{
		Spec: tool.Spec{Name: "echo", Description: "Says it back.", Effects: tool.Pure, Concurrency: tool.Safe},
		Handle: func(_ context.Context, _ *tool.Call, in number) (*tool.Result, error) {
			return tool.Text(fmt.Sprintf("<%d>", in.N)), nil
		},
	}.Tool(), tool.Typed[nothing]{
		Spec: tool.Spec{Name: "slow", Description: "Waits.", Effects: tool.Pure, Concurrency: tool.Safe},
		Handle: func(ctx context.Context, c *tool.Call, _ nothing) (*tool.Result, error) {
			for i := range 50 {
				c.Progress(tool.Progress{Done: float64(i), Message: "on"})
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(2 * time.Millisecond):
				}
			}
			return tool.Text("done"), nil
		},
	}.Tool())
}

// stormIdle ends the sessions that attackers leave behind, and is longer than
// a call of the good client takes on a busy machine with the race detector.
const stormIdle = 20 * time.Second

// TestStorm makes every attack over HTTP at once, while one client does its
// work: it gets each of its answers, and in the end nothing is left.
func TestStorm(t *testing.T) {
	sameDescriptors(t)
	f := listening(t, HTTPOptions{Sessions: 64, Idle: stormIdle, Rate: 1e6}, func(h *HTTP) {
		h.headers, h.bodies, h.patience = 3*time.Second, 3*time.Second, 3*time.Second
	}, stormTools)
	good := f.open(t)
	before := inUse(true)
	done := memory(t, 640<<20)
	ctx, stop := context.WithTimeout(t.Context(), attackTime(t, 70)+time.Second)
	defer stop()
	hostile := foe{f, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 10}}}
	var attackers sync.WaitGroup
	var made atomic.Int64
	for _, attack := range attacks {
		attackers.Go(func() {
			for ctx.Err() == nil {
				attack(ctx, hostile)
				made.Add(1)
			}
		})
	}
	n, slowest := int64(0), time.Duration(0)
	for ctx.Err() == nil {
		n++
		began := time.Now()
		a := f.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d}}}`, n, n), sessionHeader, good)
		if a.status != http.StatusOK || string(a.message.ID) != fmt.Sprint(n) || !strings.Contains(fmt.Sprint(a.message.Result), fmt.Sprintf("<%d>", n)) {
			t.Errorf("call %d of the good client: %d %.300s", n, a.status, a.body)
			break
		}
		slowest = max(slowest, time.Since(began))
		time.Sleep(time.Millisecond)
	}
	stop()
	attackers.Wait()
	done()
	t.Logf("%d attacks; %d good calls, the slowest %v", made.Load(), n, slowest)
	hostile.client.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	f.calm(t)
	settled(t, before, 24<<20)
}

// calm waits until nothing of any client is left.
func (f face) calm(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(stormIdle + 30*time.Second)
	for {
		f.calls.mu.Lock()
		calls := len(f.calls.open) + len(f.calls.load)
		f.calls.mu.Unlock()
		f.mu.Lock()
		sessions := len(f.sessions) + f.reserved
		f.mu.Unlock()
		held := f.held.Load()
		if calls == 0 && sessions == 0 && held == 0 {
			return
		}
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d calls, %d sessions and %d bytes are left\n%s", calls, sessions, held, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// foe is an attacker. The connections are its own: the server may close one
// while another client takes it for its next request.
type foe struct {
	face
	client *http.Client
}

// ask sends a request of an attacker's, who does not care for the answer.
func (f foe) ask(ctx context.Context, method, body string, header ...string) http.Header {
	r, err := http.NewRequestWithContext(ctx, method, f.url, strings.NewReader(body))
	if err != nil {
		return nil // a header that no client could send
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return nil
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, int64(rand.IntN(1<<16))))
	_ = resp.Body.Close() // in the middle of an answer, often
	return resp.Header
}

// throw sends a text over a connection of its own and drops it.
func (f foe) throw(text string, linger time.Duration) {
	c, err := net.DialTimeout("tcp", strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), Path), time.Second)
	if err != nil {
		return
	}
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(c, text)
	time.Sleep(linger)
	if rand.IntN(2) == 0 {
		_ = c.(*net.TCPConn).SetLinger(0) // as if the machine had lost its power
	}
	_ = c.Close()
}

func soon() time.Duration { return time.Duration(rand.IntN(20)) * time.Millisecond }

// attacks are one attacker each.
var attacks = []func(ctx context.Context, f foe){
	func(ctx context.Context, f foe) { // opens a session and forgets it
		if id := f.ask(ctx, http.MethodPost, openBody).Get(sessionHeader); id != "" && rand.IntN(2) == 0 {
			f.ask(ctx, http.MethodPost, toolCall(1, "slow"), sessionHeader, id)
		}
		time.Sleep(soon())
	},
	func(ctx context.Context, f foe) { // calls, and dies; or ends its session while it calls
		id := f.ask(ctx, http.MethodPost, openBody).Get(sessionHeader)
		for range 10 {
			short, die := context.WithTimeout(ctx, soon())
			f.ask(short, http.MethodPost, toolCall(rand.IntN(3), "slow"), sessionHeader, id)
			die()
		}
		f.ask(ctx, http.MethodDelete, "", sessionHeader, id)
	},
	func(ctx context.Context, f foe) { // the same without a session
		short, die := context.WithTimeout(ctx, soon())
		defer die()
		name := []string{"slow", "echo", "picture"}[rand.IntN(3)]
		f.ask(short, http.MethodPost, strings.Replace(toolCall(1, name), `"arguments"`, metaBody+`,"arguments"`, 1), versionHeader, modern, "Mcp-Method", callMethod, "Mcp-Name", name)
	},
	func(ctx context.Context, f foe) { // listens for a moment, and twice at once
		id := f.ask(ctx, http.MethodPost, openBody).Get(sessionHeader)
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				short, die := context.WithTimeout(ctx, soon())
				defer die()
				f.ask(short, http.MethodGet, "", sessionHeader, id)
			})
		}
		both.Wait()
		f.ask(ctx, http.MethodDelete, "", sessionHeader, id)
		short, die := context.WithTimeout(ctx, soon())
		defer die()
		f.ask(short, http.MethodPost, `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+metaBody+`}}`,
			versionHeader, modern, "Mcp-Method", "subscriptions/listen")
	},
	func(ctx context.Context, f foe) { // sends nonsense
		bad := []byte(toolCall(7, "echo"))
		bad[rand.IntN(len(bad))] = byte(rand.IntN(256))
		f.ask(ctx, http.MethodPost, string(bad), versionHeader, []string{modern, "2025-11-25", "x"}[rand.IntN(3)], "Mcp-Method", callMethod)
	},
	func(ctx context.Context, f foe) { // sends half a request
		whole := head(200_000) + strings.Repeat("x", 100_000)
		f.throw(whole[:rand.IntN(len(whole))], soon())
	},
	func(ctx context.Context, f foe) { // says nothing for as long as it may
		f.throw([]string{"", "POST", head(maxLine), head(10) + "{"}[rand.IntN(4)], 400*time.Millisecond)
	},
	func(ctx context.Context, f foe) { // asks for much and reads nothing
		call := strings.Replace(toolCall(1, "picture"), `"arguments"`, metaBody+`,"arguments"`, 1)
		f.throw(head(len(call), versionHeader, modern, "Mcp-Method", callMethod, "Mcp-Name", "picture")+call, 500*time.Millisecond)
	},
	func(ctx context.Context, f foe) { // sends long bodies
		f.ask(ctx, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"`+strings.Repeat("x", rand.IntN(maxLine+1000))+`"}`, versionHeader, modern)
		time.Sleep(10 * soon())
	},
}
