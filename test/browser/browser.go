// Package browser opens reports in a headless Chromium. It is a module of its own, so
// that what drives the browser is no dependency of Hermes.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/hermes-nvim/hermes/internal/lint/capture"
	"github.com/hermes-nvim/hermes/internal/lint/report"
	"github.com/hermes-nvim/hermes/runtime/lint"
)

// ErrNone is returned by Find if there is no browser.
var ErrNone = errors.New("no Chromium: run 'make test', or set HERMES_CHROMIUM")

// Find returns the path of a headless Chromium: the one in HERMES_CHROMIUM, or the
// machine's own.
func Find() (string, error) {
	if p := os.Getenv("HERMES_CHROMIUM"); p != "" {
		return p, nil
	}
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p, nil
		}
	}
	return "", ErrNone
}

// Start starts a browser with a window of some size. It ends with cancel.
func Start(ctx context.Context, program string, width, height int) (browser context.Context, cancel func(), err error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.WindowSize(width, height),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("hide-scrollbars", false))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	browser, end := chromedp.NewContext(ctx)
	cancel = func() { end(); stop() }
	if err := chromedp.Do(browser); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("%s: %w", program, err)
	}
	return browser, cancel, nil
}

// Tab is an open page.
type Tab struct {
	context.Context
	mu     sync.Mutex
	faults []string
}

// Open opens a file in a tab of its own, and notes what a report must never do.
func Open(browser context.Context, file string) (t *Tab, cancel func(), err error) {
	url := "file://" + filepath.ToSlash(file)
	t = &Tab{}
	t.Context, cancel = chromedp.NewContext(browser)
	err = chromedp.Listen(t, func(event any) { t.note(event, url) })
	if err == nil {
		err = chromedp.Do(t, chromedp.Navigate(url))
	}
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return t, cancel, nil
}

// note keeps an event that must not happen.
func (t *Tab) note(event any, url string) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		t.fault("the console says %s: %s", e.Type, arguments(e.Args))
	case *runtime.EventExceptionThrown:
		t.fault("an exception: %s", e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		t.fault("the log says %s: %s", e.Entry.Level, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if e.Request.URL != url {
			t.fault("a request of %s", e.Request.URL)
		}
	case *page.EventJavascriptDialogOpening:
		t.fault("a dialog: %s", e.Message)
		go func() {
			_, _ = chromedp.Call(t, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}()
	case *page.EventWindowOpen:
		t.fault("a window with %s", e.URL)
	case *page.EventFrameAttached:
		t.fault("a frame")
	case *page.EventFrameNavigated:
		if e.Frame.URL != url {
			t.fault("it left for %s", e.Frame.URL)
		}
	}
}

func arguments(list []*runtime.RemoteObject) string {
	var words []string
	for _, a := range list {
		words = append(words, string(a.Value)+" "+a.Description)
	}
	return strings.Join(words, " ")
}

func (t *Tab) fault(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

// Faults returns what the page did and must not: errors, requests, dialogs, windows.
func (t *Tab) Faults() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.faults
}

// Write judges captures by all rules and writes the report to a file.
func Write(ctx context.Context, to string, captures ...string) error {
	var recorder report.Recorder
	var files []report.File
	for _, name := range captures {
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		r, err := capture.NewReader(name, in)
		if err != nil {
			return err
		}
		defer r.Close()
		c := recorder.Conversation()
		l := lint.New(lint.Options{Profile: lint.Strict, Watch: c.Watch})
		if err := capture.Each(ctx, r, l.Add); err != nil {
			return err
		}
		files = append(files, report.File{Name: filepath.Base(name), Report: l.Report(), Conversation: c})
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if err := report.HTML(out, report.Sum(files, lint.Error)); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
