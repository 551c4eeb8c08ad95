package wire

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
	items []Item
}

func number(i int) Item { return costed(strconv.Itoa(i)) }

func sized(n int) Item { return costed(strings.Repeat("x", n)) }

func costed(text string) Item {
	return Item{Kind: KindNotice, JSON: []byte(text), cost: len(text) + ValueCost}
}

var errEnded = errors.New("the test has ended")

func TestTheFirstItemIsDeliveredAtOnceThenBatchesKeepTheirDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(QueueBytes, errEnded)
		var got []delivery
		go q.Run(func(b []Item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			return 0
		})
		start := time.Now()
		for i := range 20 {
			q.Push(number(i))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		q.Close()
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
				if string(it.JSON) != strconv.Itoa(n) {
					t.Fatalf("item %s, want %d", it.JSON, n)
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
		q := NewQueue(QueueBytes, errEnded)
		half := sized(q.limit/2 - ValueCost)
		for range 9 {
			q.Push(half)
		}
		var got []delivery
		go q.Run(func(b []Item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			time.Sleep(time.Millisecond) // Neovim answers
			return frame
		})
		time.Sleep(50 * time.Millisecond)
		q.Push(number(0))
		time.Sleep(time.Millisecond)
		q.Push(number(1)) // this one trickles in
		time.Sleep(50 * time.Millisecond)
		q.Close()
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
		q := NewQueue(QueueBytes, errEnded)
		third := sized(q.limit/3 - ValueCost + 1)
		var got []delivery
		go q.Run(func(b []Item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			return frame
		})
		for range 31 {
			q.Push(third)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond)
		q.Close()
		synctest.Wait()
		for i := 3; i < len(got)-1; i++ { // once the first deliveries have shown how fast Neovim is
			if gap := got[i].at.Sub(got[i-1].at); gap > 3*time.Millisecond {
				t.Errorf("batch %d of %d came %v after the one before", i, len(got), gap)
			}
		}
	})
}

func TestTheEndOfAnOperationIsDeliveredAtOnceWithWhatCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(QueueBytes, errEnded)
		var got []delivery
		go q.Run(func(b []Item) time.Duration {
			got = append(got, delivery{time.Now(), b})
			return 0
		})
		start := time.Now()
		end := costed("end")
		end.Kind = KindDone
		for i, pause := range []time.Duration{0, time.Millisecond, time.Millisecond} {
			time.Sleep(pause)
			q.Push(number(i))
		}
		synctest.Wait()
		q.Push(end) // while the last two are collected
		synctest.Wait()
		q.Push(number(3)) // what follows keeps its distance again
		time.Sleep(50 * time.Millisecond)
		q.Close()
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
				q := NewQueue(QueueBytes, errEnded)
				const size = 2000
				for range 20 * mostBatch / size {
					q.Push(sized(size - ValueCost))
				}
				var costs []int
				go q.Run(func(b []Item) time.Duration {
					cost := size * len(b)
					costs = append(costs, cost)
					took := c.unit * time.Duration(cost) >> 10
					time.Sleep(took)
					return took
				})
				time.Sleep(time.Minute)
				q.Close()
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
		q := NewQueue(QueueBytes, errEnded)
		busy, batches := false, 0
		go q.Run(func(b []Item) time.Duration {
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
			q.Push(number(i))
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		q.Close()
		synctest.Wait()
		if batches != 6 {
			t.Errorf("%d batches, want one per reply: 6", batches)
		}
	})
}

func TestABatchIsBounded(t *testing.T) {
	limit := NewQueue(QueueBytes, errEnded).limit
	cases := []struct {
		name  string
		items []Item
		want  []int // sizes of the batches
	}{
		{"by the number of values", repeat(number(1), 2*(limit/(ValueCost+1))+1), []int{limit / (ValueCost + 1), limit / (ValueCost + 1), 1}},
		{"by bytes", repeat(sized(limit*2/5), 5), []int{2, 2, 1}},
		{"a large item alone", []Item{sized(1), sized(limit + 1), sized(1)}, []int{1, 1, 1}},
		{"exactly full", []Item{sized(limit/2 - ValueCost), sized(limit/2 - ValueCost), sized(1)}, []int{2, 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			q := NewQueue(QueueBytes, errEnded)
			for _, it := range c.items {
				q.Push(it)
			}
			for i, want := range c.want {
				batch, _ := q.Take()
				if got := len(batch); got != want {
					t.Fatalf("batch %d has %d items, want %d", i, got, want)
				}
			}
			if batch, more := q.Take(); len(batch) != 0 || more || q.bytes != 0 || q.cost != 0 {
				t.Errorf("%d bytes of %d left", q.bytes, q.cost)
			}
		})
	}
}

func repeat(it Item, n int) []Item {
	list := make([]Item, n)
	for i := range list {
		list[i] = it
	}
	return list
}

func TestAFullQueueHoldsUpWhoeverAsksForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1000, errEnded)
		sent := 0
		go func() {
			for q.Room(t.Context()) == nil {
				q.Push(sized(400))
				sent++
			}
		}()
		synctest.Wait()
		if sent != 3 {
			t.Fatalf("%d items before it was full, want 3", sent)
		}
		q.Push(sized(400)) // answers to Neovim pass
		q.Take()
		synctest.Wait()
		if sent != 6 {
			t.Errorf("%d items after one batch, want 6", sent)
		}
		q.Close()
		synctest.Wait()
		if err := q.Room(t.Context()); !errors.Is(err, errEnded) {
			t.Errorf("room after close: %v", err)
		}
	})
}

func TestWaitingForRoomEndsWithTheContext(t *testing.T) {
	q := NewQueue(1, errEnded)
	q.Push(sized(2))
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("agent gone")
	cancel(cause)
	if err := q.Room(ctx); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

func TestDeliveredWaitsUntilNeovimHandledTheItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(QueueBytes, errEnded)
		q.Push(number(1))
		n := q.Push(number(2))
		handled := false
		go q.Run(func([]Item) time.Duration {
			time.Sleep(time.Second)
			handled = true
			return time.Second
		})
		if err := q.Delivered(t.Context(), n); err != nil || !handled {
			t.Errorf("%v, handled %v", err, handled)
		}
		q.Close()
		if err := q.Delivered(t.Context(), n+1); !errors.Is(err, errEnded) {
			t.Errorf("after close: %v", err)
		}
	})
}
