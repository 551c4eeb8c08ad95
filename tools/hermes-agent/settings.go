package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/chat"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/config"
)

const settingsUsage = `config              show the settings
config set KEY VAL  change one, such as model.name; a name in capital letters is a secret of .env
config check        show which settings are missing or unknown
config migrate      add the missing ones with their defaults
config edit         open the file in EDITOR`

// settings shows and changes config.yaml and .env.
func settings(ctx context.Context, args []string, std stdio) error {
	dir, err := config.Dir(os.Getenv)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "config.yaml")
	switch {
	case len(args) == 0:
		return show(dir, file, std)
	case args[0] == "set" && len(args) == 3:
		if args[1] == strings.ToUpper(args[1]) {
			if !slices.Contains(config.Variables, args[1]) && !config.Refers(dir, args[1]) {
				return fmt.Errorf("config: nothing reads %s; a secret can be %s, or one that config.yaml names, as in ${%s}", args[1], strings.Join(config.Variables, ", "), args[1])
			}
			return config.SetSecret(dir, args[1], args[2])
		}
		return config.Set(dir, args[1], args[2])
	case args[0] == "check" && len(args) == 1:
		missing, err := config.Missing(dir)
		for _, m := range missing {
			fmt.Fprintln(std.out, "missing:", m)
		}
		if unknown := config.Unknown(dir); unknown != nil {
			fmt.Fprintln(std.out, "unknown:", chat.Clean(unknown.Error()))
		}
		return err
	case args[0] == "migrate" && len(args) == 1:
		added, err := config.Migrate(dir)
		for _, a := range added {
			fmt.Fprintln(std.out, "added:", a)
		}
		return err
	case args[0] == "edit" && len(args) == 1:
		if _, err := config.Migrate(dir); err != nil {
			return err
		}
		editor := strings.Fields(os.Getenv("EDITOR"))
		if len(editor) == 0 {
			editor = []string{"vi"}
		}
		x := exec.CommandContext(ctx, editor[0], append(editor[1:], file)...)
		x.Stdin, x.Stdout, x.Stderr = std.in, std.out, std.err
		return x.Run()
	}
	return errors.New("config: usage:\n" + settingsUsage)
}

// show prints the settings as they are, without the values of secrets.
func show(dir, file string, std stdio) error {
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		b, err = []byte(config.Template), nil
		fmt.Fprintf(std.out, "# %s does not exist; these are the defaults\n", file)
	} else {
		fmt.Fprintf(std.out, "# %s\n", file)
	}
	if err != nil {
		return err
	}
	fmt.Fprint(std.out, chat.Clean(string(b)))
	secrets, err := config.Secrets(dir)
	for _, name := range secrets {
		fmt.Fprintf(std.out, "# %s is set in .env\n", name)
	}
	return err
}
