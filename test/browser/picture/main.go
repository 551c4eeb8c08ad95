// Picture takes the picture of a report in the documentation, of the recording of a real
// agent.
//
//	go run ./picture RECORDING PICTURE
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"github.com/hermes-nvim/hermes/test/browser"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: picture RECORDING PICTURE")
		os.Exit(2)
	}
	if err := take(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func take(ctx context.Context, recording, picture string) error {
	program, err := browser.Find()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hermes-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "report.html")
	if err := browser.Write(ctx, file, recording); err != nil {
		return err
	}
	b, cancel, err := browser.Start(ctx, program, 1280, 720)
	if err != nil {
		return err
	}
	defer cancel()
	tab, done, err := browser.Open(b, file)
	if err != nil {
		return err
	}
	defer done()
	if err := chromedp.Do(tab,
		chromedp.Click(chromedp.CSS("#findings li a")), // the worst finding
		chromedp.WaitVisible(chromedp.CSS("#message mark")),
	); err != nil {
		return err
	}
	image, err := chromedp.Run(tab, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(picture, image, 0o644)
}
