package dispatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/handrail-tools/handrail/tool"
	"pgregory.net/rapid"
)

func (q *queue) enter(class tool.Concurrency, key string) *place {
	p := &place{class: class, key: key}
	q.arrive(p)
	return p
}

func isRunning(q *queue, p *place) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return p.state == running
}

func TestQueueOrder(t *testing.T) {
	var q queue
	classes := []tool.Concurrency{tool.Safe, tool.Safe, tool.Exclusive, tool.Safe, tool.Safe}
	var places []*place
	for _, c := range classes {
		places = append(places, q.enter(c, ""))
	}
	want := func(states ...bool) {
		t.Helper()
		for i, p := range places {
			if got := isRunning(&q, p); got != states[i] {
				t.Errorf("place %d runs = %v, want %v", i, got, states[i])
			}
		}
	}
	want(true, true, false, false, false)
	q.leave(places[0])
	want(false, true, false, false, false)
	q.leave(places[1])
	want(false, false, true, false, false)
	q.leave(places[2])
	want(false, false, false, true, true)
}

func TestQueueKeysAndLimit(t *testing.T) {
	q := queue{limit: 2}
	a1, a2 := q.enter(tool.Keyed, "a"), q.enter(tool.Keyed, "a")
	b, s := q.enter(tool.Keyed, "b"), q.enter(tool.Safe, "")
	for p, want := range map[*place]bool{a1: true, a2: false, b: true, s: false} {
		if got := isRunning(&q, p); got != want {
			t.Errorf("%s %q runs = %v, want %v", p.class, p.key, got, want)
		}
	}
	q.leave(b)
	if !isRunning(&q, s) {
		t.Error("the safe call does not run although a slot is free")
	}
}

func TestQueueStuckTurnsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		x := q.enter(tool.Exclusive, "")
		later := q.enter(tool.Safe, "")
		done := make(chan error)
		go func() { done <- q.wait(context.Background(), later) }()
		synctest.Wait()
		q.markStuck(x)
		if err := <-done; !errors.Is(err, errStuck) {
			t.Fatalf("waiting behind a stuck call gave %v", err)
		}
		q.leave(later)
		q.leave(x)
		if p := q.enter(tool.Exclusive, ""); !isRunning(&q, p) {
			t.Error("the queue does not recover once the stuck call has left")
		}
	})
}

func TestQueueWaitIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		q.enter(tool.Exclusive, "")
		p := q.enter(tool.Safe, "")
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := q.wait(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		q.leave(p)
		q.leave(p)
	})
}

// TestQueueAgainstModel compares the queue with the definition: a place runs
// exactly when nothing before it that is still there conflicts with it.
func TestQueueAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var present []*place
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(present) == 0 || rapid.Bool().Draw(t, "arrive") {
				class := rapid.SampledFrom([]tool.Concurrency{tool.Safe, tool.Exclusive, tool.Keyed}).Draw(t, "class")
				present = append(present, q.enter(class, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")))
			} else {
				i := rapid.IntRange(0, len(present)-1).Draw(t, "leaver")
				q.leave(present[i])
				present = append(present[:i:i], present[i+1:]...)
			}
			for i, p := range present {
				free := true
				for _, before := range present[:i] {
					free = free && !before.conflicts(p)
				}
				if isRunning(&q, p) != free {
					t.Fatalf("place %d (%s %q) runs = %v, the model says %v", i, p.class, p.key, !free, free)
				}
			}
		}
	})
}

func BenchmarkQueue(b *testing.B) {
	b.ReportAllocs()
	var q queue
	for b.Loop() {
		q.leave(q.enter(tool.Safe, ""))
	}
}

// TestStuckCallsGiveTheirSlotsBack: calls that do not stop do not keep others
// from running until there are as many of them as slots; then nobody waits
// for ever.
func TestStuckCallsGiveTheirSlotsBack(t *testing.T) {
	q := queue{limit: 2}
	first, second := q.enter(tool.Safe, ""), q.enter(tool.Safe, "")
	third := q.enter(tool.Safe, "")
	q.markStuck(first)
	if !isRunning(&q, third) {
		t.Fatal("a stuck call keeps its slot")
	}
	q.leave(third)
	q.markStuck(second)
	late := q.enter(tool.Safe, "")
	if err := q.wait(context.Background(), late); !errors.Is(err, errStuck) {
		t.Fatalf("with every slot stuck a call waits: %v", err)
	}
	q.leave(late)
	q.leave(first)
	if p := q.enter(tool.Safe, ""); !isRunning(&q, p) {
		t.Error("the queue does not recover")
	}
}
