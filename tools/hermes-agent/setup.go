package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/chat"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model/openai"
)

// setup asks for the endpoint, its key and a model, tries them, and keeps them once they
// work or the user wants them anyway.
func setup(ctx context.Context, args []string, std stdio) error {
	if len(args) > 0 {
		return fmt.Errorf("setup: unexpected argument %q", args[0])
	}
	c, err := config.Load(os.Getenv)
	if err != nil && !lacksModel(err) {
		return err
	}
	defer context.AfterFunc(ctx, func() { // a signal; reading does not end by itself
		echo(std.in, true)
		os.Exit(130)
	})()
	in := bufio.NewReader(std.in)
	ask := func(question, otherwise string) (string, error) {
		if otherwise != "" {
			question += " [" + otherwise + "]"
		}
		fmt.Fprint(std.out, chat.OneLine(question)+": ")
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			return line, nil
		}
		if err != nil {
			fmt.Fprintln(std.out)
		}
		if err != nil && otherwise == "" {
			return "", errors.New("setup: the input has ended; nothing was changed")
		}
		return otherwise, nil
	}
	base, err := ask("Address of an OpenAI-compatible endpoint", orDefault(c.Model.BaseURL, "http://127.0.0.1:8080/v1"))
	for err == nil && config.CheckEndpoint(base) != nil {
		std.say("", "%v", config.CheckEndpoint(base))
		base, err = ask("Address", "")
	}
	if err != nil {
		return err
	}
	shown := "none"
	if c.Key != "" {
		shown = "keep the one that is set"
	}
	echo(std.in, false)
	key, err := ask("Key", shown)
	echo(std.in, true)
	fmt.Fprintln(std.out)
	if err != nil {
		return err
	}
	if key == shown {
		key = c.Key
	}
	tried := c
	tried.Model.BaseURL, tried.Key = base, key
	names, err := endpointModels(ctx, tried)
	if err != nil {
		std.say("The endpoint does not work: ", "%v", err)
		if answer, err := ask("Keep these settings anyway? (y/n)", "n"); err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
			return errors.New("setup: nothing was changed")
		}
	} else {
		std.say("It works. ", "%s", describe(names))
	}
	name := c.Model.Name
	if !slices.Contains(names, name) && len(names) > 0 {
		name = names[0]
	}
	if name, err = ask("Model", orDefault(name, "the first of the endpoint")); err != nil {
		return err
	}
	if name == "the first of the endpoint" {
		name = ""
	}
	return keep(c, base, key, name, std)
}

func keep(c config.Config, base, key, name string, std stdio) error {
	if _, err := config.Migrate(c.Dir); err != nil {
		return err
	}
	for _, s := range [][2]string{{"model.base_url", base}, {"model.name", name}} {
		if err := config.Set(c.Dir, s[0], fmt.Sprintf("%q", s[1])); err != nil {
			return err
		}
	}
	if key != c.Key {
		if err := config.SetSecret(c.Dir, "OPENAI_API_KEY", key); err != nil {
			return err
		}
	}
	fmt.Fprintf(std.out, "The settings are in %s.\n", c.Dir)
	for _, s := range [][2]string{{"OPENAI_BASE_URL", base}, {"OPENAI_API_KEY", key}, {"OPENAI_MODEL", name}} {
		if value := os.Getenv(s[0]); value != "" && value != s[1] {
			fmt.Fprintf(std.out, "But %s is set in the environment, which wins.\n", s[0])
		}
	}
	return nil
}

// describe lists the models of an endpoint, at most 20.
func describe(names []string) string {
	const most = 20
	text := fmt.Sprintf("%d models", len(names))
	if len(names) == 1 {
		text = "1 model"
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names[:min(len(names), most)], ", ")
	}
	if len(names) > most {
		text += " …"
	}
	return text
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// endpointModels lists the models of an endpoint by name.
func endpointModels(ctx context.Context, c config.Config) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, endpointTime)
	defer cancel()
	opts := options(c, nil)
	opts.Retries = -1
	models, err := openai.New(opts).Models(ctx)
	return slices.Sorted(maps.Keys(models)), err
}

// echo shows or hides what the user types, if a terminal is there and can.
func echo(in io.Reader, on bool) {
	terminal, ok := in.(*os.File)
	if !ok {
		return
	}
	word := "-echo"
	if on {
		word = "echo"
	}
	x := exec.Command("stty", word)
	x.Stdin = terminal
	x.Run() // without a terminal there is nothing to hide
}
