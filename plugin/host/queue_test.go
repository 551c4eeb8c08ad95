package host

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// delivery is a batch and when it began.
type delivery struct {
	at    time.Time
	items []item
}

func number(i int) item { return costed(strconv.Itoa(i)) }

func sized(n int) item { return costed(strings.Repeat("x", n)) }

func costed(text string) item {
	return item{kind: kindNotice, json: []byte(text), cost: len(text) + valueCost}
}

func TestTheFirstItemIsDeliveredAtOnceThenBatchesKeepTheirDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueBytes)
		var got []delivery
		go q.run(func(b []item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			return 0
		})
		start := time.Now()
		for i := range 20 {
			q.push(number(i))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		q.close()
		synctest.Wait()
		if got[0].at != start || len(got[0].items) != 1 {
			t.Errorf("first batch after %v with %d items", got[0].at.Sub(start), len(got[0].items))
		}
		n := 0
		for i, d := range got {
			if i > 0 && d.at.Sub(got[i-1].at) < batchPeriod {
				t.Errorf("batch %d came %v after the one before", i, d.at.Sub(got[i-1].at))
			}
			for _, it := range d.items {
				if string(it.json) != strconv.Itoa(n) {
					t.Fatalf("item %s, want %d", it.json, n)
				}
				n++
			}
		}
		if n != 20 {
			t.Errorf("%d items, want 20", n)
		}
	})
}

func TestABacklogIsClockedByTheAnswersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueBytes)
		half := sized(q.limit/2 - valueCost)
		for range 9 {
			q.push(half)
		}
		var got []delivery
		go q.run(func(b []item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			time.Sleep(time.Millisecond) // Neovim answers
			return frame
		})
		time.Sleep(50 * time.Millisecond)
		q.push(number(0))
		time.Sleep(time.Millisecond)
		q.push(number(1)) // this one trickles in
		time.Sleep(50 * time.Millisecond)
		q.close()
		synctest.Wait()
		if len(got) != 7 {
			t.Fatalf("%d batches, want 7", len(got))
		}
		for i := 1; i < 5; i++ {
			if gap := got[i].at.Sub(got[i-1].at); gap != time.Millisecond {
				t.Errorf("batch %d of the backlog came %v after the one before", i, gap)
			}
		}
		if gap := got[6].at.Sub(got[5].at); gap != batchPeriod {
			t.Errorf("a single item came %v after the one before, want %v", gap, batchPeriod)
		}
	})
}

// An agent that is slower than Neovim never leaves a backlog, yet need not wait.
func TestItemsThatFillABatchAreNotCollectedAnyLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueBytes)
		third := sized(q.limit/3 - valueCost + 1)
		var got []delivery
		go q.run(func(b []item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			return frame
		})
		for range 31 {
			q.push(third)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		q.close()
		synctest.Wait()
		for i := 3; i < len(got)-1; i++ { // once the first has said how fast Neovim is
			if gap := got[i].at.Sub(got[i-1].at); gap > 3*time.Millisecond {
				t.Errorf("batch %d of %d came %v after the one before", i, len(got), gap)
			}
		}
	})
}

func TestTheEndOfAnOperationIsDeliveredAtOnceWithWhatCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueBytes)
		var got []delivery
		go q.run(func(b []item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			return 0
		})
		start := time.Now()
		end := costed("end")
		end.kind = kindDone
		for i, pause := range []time.Duration{0, time.Millisecond, time.Millisecond} {
			time.Sleep(pause)
			q.push(number(i))
		}
		synctest.Wait()
		q.push(end) // while the last two are collected
		synctest.Wait()
		q.push(number(3)) // what follows keeps its distance again
		time.Sleep(50 * time.Millisecond)
		q.close()
		synctest.Wait()
		if len(got) != 3 || len(got[1].items) != 3 {
			t.Fatalf("%d batches: %v", len(got), got)
		}
		if at := got[1].at.Sub(start); at != 2*time.Millisecond {
			t.Errorf("the end came after %v, want 2ms", at)
		}
		if gap := got[2].at.Sub(got[1].at); gap != batchPeriod {
			t.Errorf("the item after it came %v later, want %v", gap, batchPeriod)
		}
	})
}

func TestABatchKeepsNeovimBusyForOneFrame(t *testing.T) {
	for _, c := range []struct {
		name string
		unit time.Duration // that Neovim takes for 1024 units of cost
		most int           // cost of a batch once it is known
	}{
		{"as fast as can be", 1, mostBatch},
		{"usual", 10 * time.Microsecond, int(frame / (10 * time.Microsecond) << 10)},
		{"slow listeners", 50 * time.Microsecond, int(frame / (50 * time.Microsecond) << 10)},
		{"hardly at all", time.Millisecond, leastBatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(queueBytes)
				const size = 2000
				for range 20 * mostBatch / size {
					q.push(sized(size - valueCost))
				}
				var costs []int
				go q.run(func(b []item) time.Duration {
					cost := size * len(b)
					costs = append(costs, cost)
					took := c.unit * time.Duration(cost) >> 10
					time.Sleep(took)
					return took
				})
				time.Sleep(time.Minute)
				q.close()
				synctest.Wait()
				for _, cost := range costs[5 : len(costs)-1] {
					if cost > c.most || cost < c.most*9/10 {
						t.Fatalf("a batch of %d, want %d; all: %v", cost, c.most, costs)
					}
				}
			})
		})
	}
}

func TestOnlyOneBatchIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueBytes)
		busy, batches := false, 0
		go q.run(func(b []item) time.Duration {
			if busy {
				t.Error("two batches at a time")
			}
			busy = true
			time.Sleep(100 * time.Millisecond) // Neovim is slow
			busy = false
			batches++
			return 0
		})
		for i := range 50 {
			q.push(number(i))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		q.close()
		synctest.Wait()
		if batches != 6 {
			t.Errorf("%d batches, want one per reply: 6", batches)
		}
	})
}

func TestABatchIsBounded(t *testing.T) {
	limit := newQueue(queueBytes).limit
	cases := []struct {
		name  string
		items []item
		want  []int // sizes of the batches
	}{
		{"by the number of values", repeat(number(1), 2*(limit/(valueCost+1))+1), []int{limit / (valueCost + 1), limit / (valueCost + 1), 1}},
		{"by bytes", repeat(sized(limit*2/5), 5), []int{2, 2, 1}},
		{"a large item alone", []item{sized(1), sized(limit + 1), sized(1)}, []int{1, 1, 1}},
		{"exactly full", []item{sized(limit/2 - valueCost), sized(limit/2 - valueCost), sized(1)}, []int{2, 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := newQueue(queueBytes)
			for _, it := range c.items {
				q.push(it)
			}
			for i, want := range c.want {
				batch, _ := q.take()
				if got := len(batch); got != want {
					t.Fatalf("batch %d has %d items, want %d", i, got, want)
				}
			}
			if batch, more := q.take(); len(batch) != 0 || more || q.bytes != 0 || q.cost != 0 {
				t.Errorf("%d bytes of %d left", q.bytes, q.cost)
			}
		})
	}
}

func repeat(it item, n int) []item {
	list := make([]item, n)
	for i := range list {
		list[i] = it
	}
	return list
}

func TestAFullQueueHoldsUpWhoeverAsksForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1000)
		sent := 0
		go func() {
			for q.room(t.Context()) == nil {
				q.push(sized(400))
				sent++
			}
		}()
		synctest.Wait()
		if sent != 3 {
			t.Fatalf("%d items before it was full, want 3", sent)
		}
		q.push(sized(400)) // answers to Neovim pass
		q.take()
		synctest.Wait()
		if sent != 6 {
			t.Errorf("%d items after one batch, want 6", sent)
		}
		q.close()
		synctest.Wait()
		if err := q.room(t.Context()); !errors.Is(err, errQueueClosed) {
			t.Errorf("room after close: %v", err)
		}
	})
}

func TestWaitingForRoomEndsWithTheContext(t *testing.T) {
	q := newQueue(1)
	q.push(sized(2))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("agent gone")
	cancel(cause)
	if err := q.room(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestDeliveredWaitsUntilNeovimHandledTheItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(queueBytes)
		q.push(number(1))
		n := q.push(number(2))
		handled := false
		go q.run(func([]item) time.Duration {
			time.Sleep(time.Second)
			handled = true
			return time.Second
		})
		if err := q.delivered(t.Context(), n); err != nil || !handled {
			t.Errorf("%v, handled %v", err, handled)
		}
		q.close()
		if err := q.delivered(t.Context(), n+1); !errors.Is(err, errQueueClosed) {
			t.Errorf("after close: %v", err)
		}
	})
}

// count is how many items have been pushed.
func (q *queue) count() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return int(q.pushed)
}
