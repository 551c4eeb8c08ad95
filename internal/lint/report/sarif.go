package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hermes-nvim/hermes/runtime/lint"
)

// The parts of SARIF 2.1.0 that are used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool       `json:"tool"`
		Calls   []sarifCall     `json:"invocations"`
		Results []sarifResult   `json:"results"`
		Columns string          `json:"columnKind"`
		Files   []sarifArtifact `json:"artifacts"`
		More    map[string]any  `json:"properties,omitempty"`
	}
	sarifCall struct {
		Success bool        `json:"executionSuccessful"`
		Status  int         `json:"exitCode"`
		Why     string      `json:"exitCodeDescription"`
		Notes   []sarifNote `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNote struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string         `json:"id"`
		Short   sarifText      `json:"shortDescription"`
		Full    sarifText      `json:"fullDescription"`
		HelpURI string         `json:"helpUri,omitempty"`
		Help    sarifText      `json:"help"`
		Config  sarifConfig    `json:"defaultConfiguration"`
		More    map[string]any `json:"properties"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifArtifact struct {
		Location sarifURI `json:"location"`
	}
	sarifURI struct {
		URI string `json:"uri"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		More         map[string]any    `json:"properties"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifURI     `json:"artifactLocation"`
		Region   *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct {
		Line    int       `json:"startLine"`
		Snippet sarifText `json:"snippet"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	guide       = "https://github.com/hermes-nvim/hermes/blob/main/docs/lint.md"
)

// SARIF writes findings in the Static Analysis Results Interchange Format 2.1.0, for
// GitHub's code scanning and other services. version is the version of this program.
func SARIF(to io.Writer, all Outcome, version string) error {
	files := all.Files
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "hermes lint", Version: version, InformationURI: guide, Rules: []sarifRule{}}},
		Results: []sarifResult{}, Columns: "unicodeCodePoints", Files: []sarifArtifact{},
	}
	call := sarifCall{Success: all.Status <= failed, Status: all.Status, Why: all.String()}
	rules := map[string]int{}
	seen := map[string]int{} // fingerprints
	for i := range files {
		f := &files[i]
		at := sarifURI{fileURI(f.Name)}
		run.Files = append(run.Files, sarifArtifact{at})
		if f.Problem != "" {
			call.Notes = append(call.Notes, sarifNote{"error", sarifText{clean(f.Name) + ": " + clean(f.Problem)}})
		}
		if f.Run != nil {
			run.steps(f.Run, at)
			run.More = map[string]any{"verdict": f.Run.Verdict(), "why": clean(strings.Join(f.Run.Why, "; ")), "peer": clean(f.Run.Peer)}
		}
		for _, v := range f.Verdicts {
			index, known := rules[v.Rule.ID]
			if !known {
				index = len(run.Tool.Driver.Rules)
				rules[v.Rule.ID] = index
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, describeRule(v.Rule))
			}
			for j := range v.Findings {
				r := describeFinding(&v.Findings[j], at)
				r.Index = index
				key := fingerprint(&v.Findings[j], at.URI)
				seen[key]++
				r.Fingerprints = map[string]string{"hermesLint/v1": key + ":" + strconv.Itoa(seen[key])}
				run.Results = append(run.Results, r)
			}
		}
	}
	run.Calls = []sarifCall{call}
	e := json.NewEncoder(to)
	e.SetIndent("", " ")
	return e.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

// steps adds the steps that did not pass, each as a rule of its own.
func (run *sarifRun) steps(r *Run, at sarifURI) {
	for i := range r.Steps {
		s := &r.Steps[i]
		level := "none"
		switch {
		case s.Failed:
			level = "error"
		case s.Open || s.Status == "FAIL":
			level = "warning"
		default:
			continue
		}
		id := "step/" + clean(s.ID)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: id, Short: sarifText{clean(s.Title)}, Full: sarifText{clean(s.Title)}, HelpURI: guide, Help: sarifText{clean(s.Title)},
			Config: sarifConfig{level}, More: map[string]any{"tags": append([]string{"acp", "step", s.Tier}, s.Requirements...)},
		})
		run.Results = append(run.Results, sarifResult{
			Rule: id, Index: len(run.Tool.Driver.Rules) - 1, Level: level, Message: sarifText{s.Status + ": " + s.says()},
			Locations:    []sarifLocation{{Physical: sarifPhysical{Artifact: at}}},
			Fingerprints: map[string]string{"hermesLint/v1": id + ":1"}, More: map[string]any{"tier": s.Tier},
		})
	}
}

func sarifLevel(s lint.Severity) string {
	return [...]string{"none", "note", "warning", "error"}[s]
}

func describeRule(r *lint.Rule) sarifRule {
	return sarifRule{
		ID: r.ID, Short: sarifText{r.Summary}, Full: sarifText{r.Summary + " " + r.Why}, HelpURI: r.Catalogue(),
		Help:   sarifText{r.Why + " hermes lint --explain " + r.ID + " shows a capture that fails and one that passes."},
		Config: sarifConfig{sarifLevel(r.Severity)},
		More: map[string]any{
			"tags":     []string{"acp", r.Area(), string(r.Side)},
			"strength": r.Strength, "protocolVersions": r.Versions.String(),
		},
	}
}

func describeFinding(f *lint.Finding, at sarifURI) sarifResult {
	text := clean(f.Text)
	if w := where(f); w != "" {
		text = w + ": " + text
	}
	place := sarifLocation{Physical: sarifPhysical{Artifact: at}}
	if f.Line > 0 {
		place.Physical.Region = &sarifRegion{f.Line, sarifText{clean(f.Excerpt)}}
	}
	if f.Pointer != "" {
		place.Logical = []sarifLogical{{clean(f.Pointer), "member"}}
	}
	more := map[string]any{"side": f.By.String()}
	if f.Message > 0 {
		more["message"] = f.Message
	}
	if len(f.Also) > 0 {
		more["alsoMessages"] = f.Also
	}
	if f.Quote != "" {
		more["value"] = clean(f.Quote)
	}
	return sarifResult{Rule: f.Rule.ID, Level: sarifLevel(f.Severity), Message: sarifText{text}, Locations: []sarifLocation{place}, More: more}
}

// fingerprint is what a finding has in common with itself in the next run, where lines and
// numbers are others, so that a service recognizes it.
func fingerprint(f *lint.Finding, uri string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule.ID, uri, f.By.String(), f.Pointer, f.Text}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// fileURI names a file for SARIF: relative to the working folder if it is below it, which
// services take for the top of the repository.
func fileURI(name string) string {
	if name == "-" {
		return "stdin"
	}
	if filepath.IsAbs(name) {
		if here, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
				name = rel
			}
		}
	}
	slashed := filepath.ToSlash(filepath.Clean(name))
	if filepath.IsAbs(name) {
		if !strings.HasPrefix(slashed, "/") {
			slashed = "/" + slashed // a drive
		}
		return (&url.URL{Scheme: "file", Path: slashed}).String()
	}
	return (&url.URL{Path: slashed}).String()
}
