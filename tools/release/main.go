// Command release builds what a release of Hermes consists of. Run it at the
// root of the repository:
//
//	release VERSION          build the archives, pin them in release.json, and
//	                         begin the version's section of CHANGELOG.md
//	release -check VERSION   build the archives again and prove that they are
//	                         what release.json pins
//	release -notes VERSION   print the version's section of CHANGELOG.md
//
// The archives, manifest.json and SHA256SUMS go to the folder of -o. The bytes
// depend on the committed files, the version and the version of Go alone, so
// that whoever doubts a release builds it again. release.json and CHANGELOG.md
// are not in the archives: the commit that is tagged holds the sum of what is
// built from it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/hermes-nvim/hermes/plugin/host"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], ".", targets, os.Stdout, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// pin is release.json, what an installation trusts.
type pin struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"` // between host and plugin
	Go       string `json:"go"`       // what builds the same bytes
	Manifest string `json:"manifest"` // SHA-256 of manifest.json
}

const (
	pinFile       = "release.json"
	changelogFile = "CHANGELOG.md"
)

var (
	versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)
	released = regexp.MustCompile(`^go1\.\d+(\.\d+|rc\d+)?$`)
)

func run(ctx context.Context, args []string, root string, targets []target, out, problems io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(problems)
	check := flags.Bool("check", false, "build again and compare with "+pinFile)
	notes := flags.Bool("notes", false, "print the version's section of "+changelogFile)
	dir := flags.String("o", filepath.Join(root, "dist"), "the `folder` for the archives")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := release{root: root, version: flags.Arg(0), targets: targets, out: out}
	switch {
	case flags.NArg() != 1 || *check && *notes:
		return errors.New("usage: release [-check | -notes] [-o FOLDER] VERSION")
	case !versions.MatchString(r.version):
		return fmt.Errorf("version %q: want one such as v1.2.3 or v1.2.3-rc.1", r.version)
	case *notes:
		return r.printNotes()
	case !released.MatchString(runtime.Version()):
		return fmt.Errorf("this is %s; only a released version of Go can be had again", runtime.Version())
	}
	if err := r.clean(ctx); err != nil {
		return err
	}
	if *check {
		return r.check(ctx, *dir)
	}
	return r.make(ctx, *dir)
}

// release is what is built from the repository at root.
type release struct {
	root, version string
	targets       []target
	out           io.Writer
}

// clean fails when files are not committed: nobody else could build from them.
func (r release) clean(ctx context.Context) error {
	out, err := r.git(ctx, "status", "--porcelain", "--", ".", ":!"+pinFile, ":!"+changelogFile)
	if err != nil {
		return err
	}
	if out != "" {
		return fmt.Errorf("not everything is committed:\n%s", out)
	}
	return nil
}

// pin returns what release.json has to say of a manifest.
func (r release) pin(manifest string) pin {
	return pin{r.version, host.Protocol, runtime.Version(), manifest}
}

// make builds the archives and pins them.
func (r release) make(ctx context.Context, dir string) error {
	manifest, err := r.buildAll(ctx, dir)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(r.root, pinFile), r.pin(manifest)); err != nil {
		return err
	}
	if err := r.addSection(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, `Edit %[1]s for its readers, then publish:
  git add %[1]s %[2]s && git commit -m 'Release %[3]s' && git tag %[3]s && git push origin HEAD %[3]s
`, changelogFile, pinFile, r.version)
	return err
}

// check builds the archives again and compares them with what is pinned.
func (r release) check(ctx context.Context, dir string) error {
	text, err := os.ReadFile(filepath.Join(r.root, pinFile))
	if err != nil {
		return err
	}
	var pinned pin
	if err := json.Unmarshal(text, &pinned); err != nil {
		return fmt.Errorf("%s: %w", pinFile, err)
	}
	if pinned != r.pin(pinned.Manifest) {
		return fmt.Errorf("%s pins %+v, this is %+v (GOTOOLCHAIN=%s runs its Go)", pinFile, pinned, r.pin(""), pinned.Go)
	}
	manifest, err := r.buildAll(ctx, dir)
	if err != nil {
		return err
	}
	if manifest != pinned.Manifest {
		return fmt.Errorf("the manifest has the SHA-256 %s, %s pins %s", manifest, pinFile, pinned.Manifest)
	}
	_, err = fmt.Fprintf(r.out, "%s pins these bytes\n", pinFile)
	return err
}

func (r release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	out, err := output(cmd)
	return string(out), err
}

// output runs a command. Its error has the standard error of the command.
func output(cmd *exec.Cmd) ([]byte, error) {
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(problems.Bytes()))
	}
	return out, nil
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
