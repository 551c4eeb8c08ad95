package process

import (
	"context"
	"os"
	"os/signal"
)

// Notify is signal.Notify for the signals that are not ignored. A signal that is
// ignored, as by nohup, stays ignored, here and in programs that are started later.
func Notify(c chan<- os.Signal, signals ...os.Signal) {
	for _, s := range heeded(signals) {
		signal.Notify(c, s)
	}
}

// NotifyContext is signal.NotifyContext for the signals that are not ignored.
func NotifyContext(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	list := heeded(signals)
	if len(list) == 0 { // which would stand for all
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, list...)
}

func heeded(signals []os.Signal) (list []os.Signal) {
	for _, s := range signals {
		if !signal.Ignored(s) {
			list = append(list, s)
		}
	}
	return list
}
