package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hermes-nvim/hermes/gen/ir"
	"github.com/hermes-nvim/hermes/schema"
)

// release is one version of the protocol, verified.
type release struct {
	version string
	docs    map[schema.Edition]*schema.Document
	specs   map[schema.Edition]*ir.Spec
	prose   schema.Prose
	files   map[string][]byte // the files made from a published package, by path below schema/
}

// build verifies the originals and makes all files that are written from them.
func build(p *specPackage) (*release, error) {
	r := &release{version: p.version, docs: map[schema.Edition]*schema.Document{}, prose: schema.Prose{}, files: map[string][]byte{}}
	sources := schema.Sources{Package: p.name, Version: p.version, License: p.license, Author: p.author}
	patches, defaults, pages := schema.Patches{}, schema.Defaults{}, schema.Pages{}
	var errs []error
	for _, e := range schema.Editions {
		original := p.originals[e]
		d, err := schema.Parse(p.where+"/"+e.File(), original)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if defaults[e], err = defaultValues(d); err != nil {
			errs = append(errs, err)
			continue
		}
		patches[e] = threeStates(d)
		pages[e] = pagesOf(d)
		r.prose[e] = schema.HashProse(d)
		reduced := schema.Reduce(d.Raw).Format()
		if r.docs[e], err = schema.Parse("schema/"+e.File(), reduced); err != nil {
			errs = append(errs, fmt.Errorf("after reduction: %w", err))
			continue
		}
		r.files[e.File()] = reduced
		sources.Schemas = append(sources.Schemas, schema.Source{
			Edition: e, Path: e.File(), Origin: origin(e),
			Original: schema.Sum(original), Reduced: schema.Sum(reduced),
		})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if p.name == "" {
		return r, r.lower(patches, defaults) // nothing of it can be written to the tree
	}
	sources.Prose = map[string]string{}
	for _, f := range []struct {
		name  string
		value any
	}{{schema.ProseFile, r.prose}, {schema.PatchesFile, patches}, {schema.DefaultsFile, defaults}, {schema.PagesFile, pages}, {schema.SourcesFile, &sources}} {
		b, err := encode(f.value)
		if err != nil {
			return nil, fmt.Errorf("schema/%s: %w", f.name, err)
		}
		r.files[f.name] = b
		if slices.Contains(schema.ProseFiles, f.name) {
			sources.Prose[f.name] = schema.Sum(b)
		}
	}
	return r, r.lower(patches, defaults)
}

// lower makes the specs, which proves that the generator knows every shape.
func (r *release) lower(patches schema.Patches, defaults schema.Defaults) error {
	quirks, err := schema.ReadOverlay[schema.Quirks](schema.Tree, schema.QuirksFile)
	if err != nil {
		return err
	}
	r.specs = map[schema.Edition]*ir.Spec{}
	var errs []error
	for _, e := range schema.Editions {
		s, err := ir.Lower(r.docs[e], ir.Overlay{Patches: patches.Of(e), Defaults: defaults[e], Hand: quirks.Hand})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.version, err))
		}
		r.specs[e] = s
	}
	return errors.Join(errs...)
}

// encode writes a value in the format of the schema folder.
func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	n, err := schema.ParseNode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return n.Format(), nil
}
