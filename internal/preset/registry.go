package preset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	goruntime "runtime"
	"strings"
	"time"
)

// RegistryURL is the registry of the ACP project. Nothing reads it unless asked
// to. See https://agentclientprotocol.com/get-started/registry.
const RegistryURL = "https://cdn.agentclientprotocol.com/registry/v1/latest/registry.json"

const (
	fetchTime = 30 * time.Second
	shortWait = 100 * time.Millisecond // for an end of input to be noticed by an agent that does not
)

// registry is the format of a registry: https://github.com/agentclientprotocol/registry. It leaves
// out members that do not matter for starting an agent.
type registry struct {
	Version string  `json:"version"`
	Agents  []entry `json:"agents"`
}

type entry struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Website      string `json:"website"`
	Repository   string `json:"repository"`
	Distribution struct {
		Npx    *source           `json:"npx"`
		Uvx    *source           `json:"uvx"`
		Binary map[string]binary `json:"binary"`
	} `json:"distribution"`
}

// source is a package that npx or uvx runs.
type source struct {
	Package string            `json:"package"`
	Cmd     string            `json:"cmd"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

type binary struct {
	Archive string            `json:"archive"`
	SHA256  string            `json:"sha256"`
	Cmd     string            `json:"cmd"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// LoadRegistry reads a registry from a file or an https URL. Its agents run
// through npx or uvx, which install them, or otherwise from the PATH: only the
// registry itself is downloaded here. Agents that cannot run on this machine
// are left out and reported; the error is about the registry as a whole.
func LoadRegistry(ctx context.Context, from string) (set *Set, skipped []error, err error) {
	if scheme, _, ok := strings.Cut(from, "://"); ok {
		if scheme != "https" {
			return nil, nil, fmt.Errorf("registry %s: only https URLs and files can be read, not %s", from, scheme)
		}
		return fetch(ctx, from, &http.Client{Timeout: fetchTime})
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, nil, fmt.Errorf("registry: %w", err)
	}
	defer f.Close()
	return ReadRegistry(from, f)
}

// fetch reads a registry over https. A redirect to anything else is refused.
func fetch(ctx context.Context, from string, client *http.Client) (*Set, []error, error) {
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.URL.Scheme != "https" {
			return fmt.Errorf("redirect to %s, which is not https", req.URL.Redacted())
		} else if len(via) >= 5 {
			return errors.New("too many redirects")
		}
		return nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("registry: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err
		}
		return nil, nil, fmt.Errorf("registry %s: %w", from, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("registry %s: the server answers %s", from, resp.Status)
	}
	return ReadRegistry(from, resp.Body)
}

// ReadRegistry is LoadRegistry from r; name is for messages.
func ReadRegistry(name string, r io.Reader) (*Set, []error, error) {
	data, err := readAll(r)
	if err != nil {
		return nil, nil, fmt.Errorf("registry %s: %w", name, err)
	}
	var reg registry
	if err := json.Unmarshal(data, &reg); err != nil {
		return nil, nil, fmt.Errorf("registry %s: %w", name, place(data, err))
	}
	if major, _, _ := strings.Cut(reg.Version, "."); major != "1" {
		return nil, nil, fmt.Errorf("registry %s: version %q; this program reads version 1", name, reg.Version)
	}
	set := &Set{byName: map[string]Preset{}}
	var skipped []error
	for i, e := range reg.Agents {
		p, err := e.preset(goruntime.GOOS, goruntime.GOARCH)
		if _, twice := set.byName[e.ID]; err == nil && twice {
			err = errors.New("listed twice")
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("registry %s: agent %d (%q): %w", name, i+1, e.ID, err))
			continue
		}
		set.byName[e.ID] = p
	}
	return set, skipped, set.index(name)
}

func (e *entry) preset(goos, arch string) (Preset, error) {
	p := Preset{Name: e.ID, Title: e.Name, Website: e.Website}
	if p.Website == "" {
		p.Website = e.Repository
	}
	if !validID(e.ID) {
		return p, errors.New("the id needs a lower-case letter, then lower-case letters, digits and hyphens")
	}
	d := e.Distribution
	target := platform(goos, arch)
	b, built := d.Binary[target]
	switch {
	case d.Npx != nil && d.Npx.Package != "":
		p.Install = "npx installs it; it comes with Node.js (https://nodejs.org)"
		p.run("npx", "--package", d.Npx, "-y")
	case d.Uvx != nil && d.Uvx.Package != "":
		p.Install = "uvx installs it; it comes with uv (https://docs.astral.sh/uv)"
		p.run("uvx", "--from", d.Uvx)
	case built && b.Cmd != "":
		p.Command = path.Base(strings.ReplaceAll(b.Cmd, `\`, "/"))
		p.Args, p.Env = b.Args, b.Env
		p.Install = fmt.Sprintf("unpack %s and put %s into a folder of the PATH", b.Archive, p.Command)
		if b.SHA256 != "" {
			p.Install += " (sha256 of the archive: " + b.SHA256 + ")"
		}
	case d.Binary != nil:
		return p, fmt.Errorf("there is no build for %s", target)
	default:
		return p, errors.New("it has no npx, uvx or binary entry")
	}
	return p, nil
}

// run makes p run a package; from is the flag before the package when the
// command in it has a name of its own.
func (p *Preset) run(runner, from string, s *source, flags ...string) {
	p.Command, p.Env = runner, s.Env
	p.Args = flags
	if s.Cmd != "" {
		p.Args = append(p.Args, from, s.Package, s.Cmd)
	} else {
		p.Args = append(p.Args, s.Package)
	}
	p.Args = append(p.Args, s.Args...)
}

func validID(id string) bool {
	for i, c := range id {
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-') {
			return false
		}
	}
	return id != ""
}

// platform names a system as registries do.
func platform(goos, arch string) string {
	switch arch {
	case "amd64":
		arch = "x86_64"
	case "arm64":
		arch = "aarch64"
	}
	return goos + "-" + arch
}
