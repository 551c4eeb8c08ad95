package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hermes-nvim/hermes/schema"
)

// release is what a package gives: the files of schema/ that specupdate owns.
type release struct {
	version string
	files   map[string][]byte // by path below schema/
	loaded  map[schema.Edition]*schema.Document
	patches schema.Patches
}

// build verifies the originals and makes everything that is written from them.
func build(p *specPackage) (*release, error) {
	r := &release{version: p.version, files: map[string][]byte{}, loaded: map[schema.Edition]*schema.Document{}, patches: schema.Patches{}}
	sources := schema.Sources{Package: p.name, Version: p.version, License: p.license, Author: p.author}
	defaults := schema.Defaults{}
	var errs []error
	for _, e := range schema.Editions {
		original := p.originals[e]
		d, err := schema.Parse(p.name+"@"+p.version+"/"+origin(e), original)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.patches[e] = threeStates(d)
		if defaults[e], err = defaultValues(d); err != nil {
			errs = append(errs, err)
			continue
		}
		reduced := schema.Reduce(d.Raw).Format()
		if r.loaded[e], err = schema.Parse("schema/"+e.File(), reduced); err != nil {
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
	for file, v := range map[string]any{
		schema.SourcesFile: sources, schema.PatchesFile: r.patches, schema.DefaultsFile: defaults,
	} {
		b, err := encode(v)
		if err != nil {
			return nil, fmt.Errorf("schema/%s: %w", file, err)
		}
		r.files[file] = b
	}
	return r, nil
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
