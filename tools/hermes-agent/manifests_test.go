//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/hermes-nvim/hermes/test/llm"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/batch"
)

// task is one of the machines that a manifest asks for: what runs there, and with which
// variables.
type task struct{ argv, env []string }

// job is what examples/batch/job.yaml may hold. Kubernetes ignores or refuses other members.
type job struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		Parallelism          int
		BackoffLimitPerIndex int `yaml:"backoffLimitPerIndex"`
		Template             struct{ Spec pod }
	}
}

type pod struct {
	RestartPolicy string `yaml:"restartPolicy"`
	Containers    []struct {
		Name, Image   string
		Command, Args []string
		Env           []struct {
			Name, Value string
			ValueFrom   struct {
				FieldRef struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
				SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
			} `yaml:"valueFrom"`
		}
		VolumeMounts []struct {
			Name      string
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name                  string
		PersistentVolumeClaim struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	}
}

// kubernetes returns the tasks of a Job as the cluster would start them, with a folder of
// this machine as the volume.
func kubernetes(t *testing.T, manifest, volume string) []task {
	t.Helper()
	var j job
	if err := yaml.NewDecoder(strings.NewReader(manifest), yaml.Strict()).Decode(&j); err != nil {
		t.Fatal(err)
	}
	p := j.Spec.Template.Spec
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Spec.CompletionMode != "Indexed" || j.Metadata.Name == "" ||
		p.RestartPolicy != "Never" || // a limit for each index needs this
		j.Spec.BackoffLimitPerIndex < 1 || len(p.Containers) != 1 || len(p.Volumes) != 1 {
		t.Fatalf("not an indexed job of one container and one volume: %+v", j)
	}
	c := p.Containers[0]
	if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != p.Volumes[0].Name || c.VolumeMounts[0].MountPath != "/data" || p.Volumes[0].PersistentVolumeClaim.ClaimName == "" {
		t.Fatalf("the container does not mount the volume on /data: %+v", p)
	}
	var tasks []task
	for index := range j.Spec.Completions {
		variables := map[string]string{}
		for _, v := range c.Env {
			variables[v.Name] = v.Value
			if v.ValueFrom.FieldRef.FieldPath == "metadata.annotations['batch.kubernetes.io/job-completion-index']" {
				variables[v.Name] = fmt.Sprint(index)
			}
		}
		argv := append(append([]string{}, c.Command...), c.Args...)
		for i, word := range argv {
			word = regexp.MustCompile(`\$\((\w+)\)`).ReplaceAllStringFunc(word, func(reference string) string {
				value, ok := variables[reference[2:len(reference)-1]]
				if !ok {
					t.Errorf("%s is not a variable of the container", reference)
				}
				return value
			})
			argv[i] = strings.ReplaceAll(word, "/data", volume)
		}
		tasks = append(tasks, task{argv: argv})
	}
	return tasks
}

// slurm returns the tasks of a batch script as sbatch would start them.
func slurm(t *testing.T, script, file string) []task {
	t.Helper()
	array := regexp.MustCompile(`(?m)^#SBATCH --array=0-(\d+)$`).FindStringSubmatch(script)
	if array == nil || !strings.HasPrefix(script, "#!/bin/sh\n#SBATCH ") {
		t.Fatal("not a script with an array that starts with 0")
	}
	var last int
	fmt.Sscan(array[1], &last)
	var tasks []task
	for index := range last + 1 {
		tasks = append(tasks, task{[]string{"sh", file}, []string{fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", index), fmt.Sprintf("SLURM_ARRAY_TASK_COUNT=%d", last+1)}})
	}
	return tasks
}

// The examples run here as a cluster would run them, with the program of this test. Their
// comments say how the results are combined.
func TestTheExampleManifestsRunEachPromptOnce(t *testing.T) {
	t.Parallel()
	server, err := llm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := t.TempDir()
	if err := os.Symlink(self, filepath.Join(programs, "hermes-agent")); err != nil {
		t.Fatal(err)
	}
	const prompts = 20
	for name, tasks := range map[string]func(t *testing.T, text, file, dir string) []task{
		"job.yaml": func(t *testing.T, text, _, dir string) []task { return kubernetes(t, text, dir) },
		"slurm.sh": func(t *testing.T, text, file, _ string) []task { return slurm(t, text, file) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := filepath.Abs(filepath.Join("../../examples/batch", name))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			var dataset strings.Builder
			for i := range prompts {
				fmt.Fprintf(&dataset, "\"SAY answer %d\"\n", i)
			}
			if err := os.WriteFile(filepath.Join(dir, "prompts.jsonl"), []byte(dataset.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			play := func(argv, env []string) (string, error) {
				path := argv[0]
				if path == "hermes-agent" {
					path = filepath.Join(programs, path)
				}
				x := exec.CommandContext(t.Context(), path, argv[1:]...)
				x.Dir = dir
				x.Env = append(env, asProgram+"=1", "HOME="+dir, "OPENAI_BASE_URL="+server.URL+"/v1", "PATH="+programs+":"+os.Getenv("PATH"))
				out, err := x.CombinedOutput()
				return string(out), err
			}
			var running sync.WaitGroup
			machines := tasks(t, string(text), file, dir)
			faults := make([]error, len(machines))
			for i, m := range machines {
				running.Go(func() {
					if out, err := play(m.argv, m.env); err != nil {
						faults[i] = fmt.Errorf("%q: %w: %s", m.argv, err, out)
					}
				})
			}
			running.Wait()
			for _, err := range faults {
				if err != nil {
					t.Error(err)
				}
			}
			usage := regexp.MustCompile(`(?m)^#   (.+)$`).FindAllStringSubmatch(string(text), -1)
			if len(machines) < 2 || len(usage) != 2 || !strings.Contains(usage[0][1], name) {
				t.Fatalf("%d machines; the comment says %q", len(machines), usage)
			}
			merge := strings.ReplaceAll(usage[1][1], "/data", dir)
			if out, err := play([]string{"sh", "-c", merge}, nil); err != nil || !strings.Contains(out, fmt.Sprintf("%d prompts: %d completed, 0 failed", prompts, prompts)) {
				t.Fatalf("%s: %v: %s", merge, err, out)
			}
			merged, err := os.ReadFile(filepath.Join(dir, "all", "trajectories.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			times := map[string]int{}
			for line := range strings.Lines(string(merged)) {
				var r batch.Record
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				times[r.Prompt]++
			}
			for i := range prompts {
				if n := times[fmt.Sprintf("SAY answer %d", i)]; n != 1 {
					t.Errorf("prompt %d is there %d times", i, n)
				}
			}
		})
	}
}
