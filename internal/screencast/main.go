// Screencast makes the pictures of the documentation: it runs scripts/demo in a
// terminal of its own, types what a user would, and draws what is on the screen
// as SVG. The animated picture is drawn from a recording, docs/images/demo.cast,
// which programs for asciicast play, too.
//
//	go run ./internal/screencast [NAME...]
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

const columns, lines = 108, 30

// scene is what happens before the picture is taken.
type scene []step

// step waits for a text, then for a while, and then types.
type step struct {
	wait  string
	pause time.Duration
	keys  string
}

func main() {
	dir := flag.String("o", "docs/images", "the `folder` of the pictures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "screencast:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, names []string) error {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(scenes))
	}
	for _, name := range names {
		steps, ok := scenes[name]
		if !ok {
			return fmt.Errorf("there is no picture %q, but %q", name, slices.Sorted(maps.Keys(scenes)))
		}
		if err := play(ctx, dir, name, steps); err != nil {
			return fmt.Errorf("picture %s: %w", name, err)
		}
	}
	return nil
}

func play(ctx context.Context, dir, name string, steps scene) error {
	t, err := open(ctx, columns, lines, "scripts/demo")
	if err != nil {
		return err
	}
	defer t.close()
	for _, s := range steps {
		if err := t.wait(s.wait); err != nil {
			return err
		}
		time.Sleep(s.pause)
		if err := t.keys(s.keys); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	path := filepath.Join(dir, name)
	if name != animated {
		return os.WriteFile(path+".svg", still(t.screen), 0o644)
	}
	t.record.title = "Hermes"
	cast, err := t.record.joined().encode()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".cast", cast, 0o644); err != nil {
		return err
	}
	r, err := decode(cast)
	if err != nil {
		return err
	}
	return os.WriteFile(path+".svg", animation(r), 0o644)
}
