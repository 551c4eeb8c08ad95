package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hermes-nvim/hermes/gen/emit"
	"github.com/hermes-nvim/hermes/gen/emit/golang"
	"github.com/hermes-nvim/hermes/gen/emit/neovim"
	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

// overlay holds the overlay files beside the schemas.
type overlay struct {
	patches  schema.Patches
	defaults schema.Defaults
	pages    schema.Pages
	docs     *schema.Docs
	events   neovim.EventRows
	quirks   schema.Quirks
	ledger   *schema.Ledger
	names    *golang.Names
	tree     fs.FS // the schema folder
	loaded   map[schema.Edition]*schema.Document
}

func readOverlay(tree fs.FS) (*overlay, error) {
	o := &overlay{tree: tree}
	var err error
	if o.patches, err = schema.ReadPatches(tree); err != nil {
		return nil, err
	}
	if o.defaults, err = schema.ReadDefaults(tree); err != nil {
		return nil, err
	}
	if o.pages, err = schema.ReadPages(tree); err != nil {
		return nil, err
	}
	if o.docs, err = schema.ReadDocs(tree); err != nil {
		return nil, err
	}
	if o.events, err = schema.ReadOverlay[neovim.EventRows](tree, schema.EventsFile); err != nil {
		return nil, err
	}
	if o.quirks, err = schema.ReadOverlay[schema.Quirks](tree, schema.QuirksFile); err != nil {
		return nil, err
	}
	var entries []string
	for def := range o.quirks.Hand {
		entries = append(entries, "hand: "+def)
	}
	for m := range o.quirks.Calls {
		entries = append(entries, "calls: "+m)
	}
	for _, m := range o.quirks.Strict {
		entries = append(entries, "strict: "+m)
	}
	for _, m := range o.quirks.Secrets {
		entries = append(entries, "secrets: "+m)
	}
	o.ledger = schema.NewLedger(schema.QuirksFile, entries...)
	locked, err := readLock(tree)
	if err != nil {
		return nil, err
	}
	o.names = &golang.Names{Chosen: o.quirks.Names, Locked: locked}
	o.loaded, err = schema.LoadFrom(tree)
	return o, err
}

// Specs lowers all editions with the overlay of the module at root.
func Specs(root string) (map[schema.Edition]*ir.Spec, error) {
	o, err := readOverlay(os.DirFS(filepath.Join(root, "schema")))
	if err != nil {
		return nil, err
	}
	return o.lowerAll()
}

// lowerAll lowers all editions.
func (o *overlay) lowerAll() (map[schema.Edition]*ir.Spec, error) {
	specs := map[schema.Edition]*ir.Spec{}
	for _, p := range packages {
		s, err := ir.Lower(o.loaded[p.edition], o.of(p.edition))
		if err != nil {
			return nil, err
		}
		for _, m := range s.Methods {
			o.ledger.Use("calls: " + m.Wire)
		}
		specs[p.edition] = s
	}
	return specs, nil
}

// of is the overlay of one edition.
func (o *overlay) of(e schema.Edition) ir.Overlay {
	return ir.Overlay{
		Patches:  o.patches.Of(e),
		Strict:   o.marks("strict: ", o.quirks.Strict),
		Secrets:  o.marks("secrets: ", o.quirks.Secrets),
		Hand:     o.quirks.Hand,
		UseHand:  func(def string) { o.ledger.Use("hand: " + def) },
		Defaults: o.defaults[e],
		Pages:    o.pages[e],
		Words:    o.docs.For(e),
	}
}

func (o *overlay) calls() map[string]string { return o.quirks.Calls }

// marks is a list of the ledger.
type marks struct {
	prefix string
	set    map[string]bool
	ledger *schema.Ledger
}

func (o *overlay) marks(prefix string, list []string) marks {
	m := marks{prefix: prefix, set: map[string]bool{}, ledger: o.ledger}
	for _, e := range list {
		m.set[e] = true
	}
	return m
}

// Has reports whether a member is marked, and notes that it was met.
func (m marks) Has(member string) bool {
	if m.set[member] {
		m.ledger.Use(m.prefix + member)
	}
	return m.set[member]
}

// lock is the file of names for the next run.
func (o *overlay) lock() ([]emit.Output, error) {
	if err := o.names.Err(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(o.names.Lock()); err != nil {
		return nil, err
	}
	return []emit.Output{{Path: "schema/" + schema.NamesFile, Data: b.Bytes()}}, nil
}

// Wordless lists the definitions and methods that overlay/docs.json does not
// explain; their comments come from their structure.
func Wordless(specs map[schema.Edition]*ir.Spec) []string {
	missing := map[string]bool{}
	for _, s := range specs {
		for _, t := range s.Types {
			if t.Doc == "" && t.Kind != ir.Envelope {
				missing[t.Name] = true
			}
		}
		for _, m := range s.Methods {
			if m.Doc == "" {
				missing[m.Wire] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(missing))
}

// check reports overlay entries that match nothing in the schemas, and files
// that differ from the files of the published package.
func (o *overlay) check() error {
	errs := []error{o.ledger.Err(), o.patches.Check(o.loaded), o.defaults.Check(o.loaded), o.pages.Check(o.loaded), o.docs.Check(o.loaded)}
	sources, err := schema.ReadOverlay[schema.Sources](o.tree, schema.SourcesFile)
	if err == nil {
		err = sources.Verify(o.tree)
	}
	return errors.Join(append(errs, err)...)
}
