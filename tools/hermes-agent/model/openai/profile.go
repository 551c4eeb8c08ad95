package openai

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hermes-nvim/hermes/internal/atomicfile"
)

// Profile is what has been learned of a model at an endpoint. The zero value is one that
// does everything as OpenAI does.
type Profile struct {
	// Reasoning is where the model's reasoning comes, and where it goes back: a member of
	// the message, "content" for parts of the content, or "text" for tags in the text.
	Reasoning string `json:"reasoning,omitempty"`
	// Opaque names members of messages and calls that go back to the model as they came.
	Opaque []string `json:"opaque,omitempty"`
	// Window is the size of the context window in tokens, as the endpoint named it when
	// the conversation was too long. 0: unknown.
	Window int `json:"window,omitempty"`
	// IDs says what is wrong with the ids of calls: "missing" or "repeated".
	IDs string `json:"ids,omitempty"`
	// Refuses is what requests do without: members by their names, and what concede knows.
	Refuses []string `json:"refuses,omitempty"`
	// Demands is what requests must have that others need not.
	Demands []string `json:"demands,omitempty"`
	// Tags are those that come in the text of answers, because nothing at the endpoint
	// reads them: think, tool_call, or open for reasoning whose first tag is missing.
	Tags []string `json:"tags,omitempty"`

	Learned time.Time `json:"learned"` // the newest of it
}

func (p Profile) refuses(what string) bool { return slices.Contains(p.Refuses, what) }
func (p Profile) demands(what string) bool { return slices.Contains(p.Demands, what) }

// outdated is when a profile is forgotten: endpoints are updated, too.
const outdated = 7 * 24 * time.Hour

// Profiles is what is known of all models, in one file. It is safe for concurrent use, also
// by several processes.
type Profiles struct {
	path string

	mu    sync.Mutex
	known map[string]Profile // by the name of the model and its endpoint
}

// OpenProfiles reads the profiles in a file, which need not exist. Without a path they are
// kept in memory only.
func OpenProfiles(path string) *Profiles {
	p := &Profiles{path: path, known: map[string]Profile{}}
	if path != "" {
		if b, err := atomicfile.ReadOwn(path); err == nil {
			p.known = parseProfiles(b)
		}
	}
	return p
}

// parseProfiles leaves out what is outdated. A file that is damaged holds nothing: all of
// it is learned again.
func parseProfiles(b []byte) map[string]Profile {
	known := map[string]Profile{}
	if json.Unmarshal(b, &known) != nil {
		return map[string]Profile{}
	}
	for name, p := range known {
		if time.Since(p.Learned) > outdated {
			delete(known, name)
		}
	}
	return known
}

func (p *Profiles) of(name string) Profile {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[name]
}

// learn changes a profile and reports whether that says anything new. A profile that cannot
// be stored is learned once more by the next process.
func (p *Profiles) learn(name string, change func(*Profile)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.known[name]
	changed := old
	for _, list := range []*[]string{&changed.Opaque, &changed.Refuses, &changed.Demands, &changed.Tags} {
		*list = slices.Clone(*list)
	}
	change(&changed)
	if reflect.DeepEqual(old, changed) {
		return false
	}
	changed.Learned = time.Now().UTC().Truncate(time.Second)
	p.known[name] = changed
	if p.path == "" {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	atomicfile.Update(ctx, p.path, 0o600, func(b []byte) ([]byte, error) {
		all := parseProfiles(b)
		all[name] = changed
		text, err := json.MarshalIndent(all, "", "  ")
		return append(text, '\n'), err
	})
	return true
}

// with adds a word to a list that lacks it.
func with(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}
