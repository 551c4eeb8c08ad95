package main

import (
	"os/exec"
	"strings"
	"testing"
)

func TestTheProgramDoesNotLinkGeneratorOrValidator(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "go-client/msgpack/rpc") {
		t.Fatalf("the list is not that of the program:\n%s", out)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, unwanted := range []string{"go-jsonschema", "jennifer", "santhosh-tekuri"} {
			if strings.Contains(dep, unwanted) {
				t.Errorf("the program links %s", dep)
			}
		}
	}
}
