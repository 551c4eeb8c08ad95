package neovim

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/test/editors"
)

func TestMain(m *testing.M) {
	if !Role() {
		os.Exit(m.Run())
	}
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTheAgentSendsWhatTheProtocolAllows guards the comparison: Hermes must not
// be measured at refusing messages.
func TestTheAgentSendsWhatTheProtocolAllows(t *testing.T) {
	var sent bytes.Buffer
	for _, script := range []string{"flood 3 200", "flood 2 20480", "trickle 2 1us"} {
		if err := play(&sent, script); err != nil {
			t.Fatal(err)
		}
	}
	sent.Write(history(100 << 10))
	for line := range strings.Lines(sent.String()) {
		_, params, _ := strings.Cut(line, `"params":`)
		params = strings.TrimSuffix(params, "}\n")
		var n acp.SessionNotification
		if err := n.UnmarshalJSON([]byte(params)); err != nil {
			t.Fatalf("%s\n%v", line, err)
		}
		if _, other := n.Update.(*acp.SessionUpdateOther); other {
			t.Errorf("no such update: %s", line)
		}
	}
}

// TestBothClientsShowEveryUpdate runs small cases in each Neovim; run fails
// unless the listener has seen all updates.
func TestBothClientsShowEveryUpdate(t *testing.T) {
	for _, program := range editors.All(t) {
		t.Run(program.Version, func(t *testing.T) {
			small := []Case{{"flood", 300, "flood 300 200"}, {"trickle", 20, "trickle 20 1ms"}, Cases[Load]}
			results, err := Measure(t.Context(), program.Path, root(t), small, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range small {
				for j, client := range Clients {
					r := results[i][j]
					if r.Took <= 0 || r.CPU <= 0 || r.Ready <= 0 || client == "hermes" && (r.Redraws == 0 || r.Connected <= 0 || r.Again <= 0) {
						t.Errorf("%s, %s: %+v", client, c.Name, r)
					}
				}
			}
		})
	}
}

func TestThePluginFileIsMeasuredAsNeovimSourcesIt(t *testing.T) {
	for _, program := range editors.All(t) {
		hermes, empty, err := MeasureStartup(t.Context(), program.Path, root(t), 3)
		if err != nil {
			t.Fatal(err)
		}
		if empty.Best <= 0 || hermes.Best <= empty.Best || hermes.Median < hermes.Best {
			t.Errorf("%s: %+v, empty %+v", program.Version, hermes, empty)
		}
	}
}

// BenchmarkClients measures everything once, in the first Neovim.
func BenchmarkClients(b *testing.B) {
	program := editors.All(b)[0]
	for _, c := range Cases {
		results, err := Measure(b.Context(), program.Path, root(b), []Case{c}, 5)
		if err != nil {
			b.Fatal(err)
		}
		for j, client := range Clients {
			r := results[0][j]
			b.Run(strings.ReplaceAll(c.Name, " ", "-")+"/"+client, func(b *testing.B) {
				for _, m := range []struct {
					n    float64
					unit string
				}{
					{r.Took, "ms"}, {r.CPU, "cpu-ms"}, {float64(r.Redraws), "redraws"}, {r.Gap, "gap-ms"}, {r.Frozen, "frozen-ms"},
					{float64(r.Peak) / (1 << 20), "MiB"}, {r.Percentile(50), "p50-ms"}, {r.Percentile(99), "p99-ms"}, {r.Setup, "setup-ms"}, {r.Connected, "connect-ms"}, {r.Ready, "ready-ms"}, {r.Again, "again-ms"},
				} {
					b.ReportMetric(m.n, m.unit)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func TestAKeyIsMeasuredInABufferUnderReview(t *testing.T) {
	for _, program := range editors.All(t) {
		reviewed, plain, err := MeasureKeys(t.Context(), program.Path, root(t), 1)
		if err != nil || plain <= 0 || reviewed <= 0 {
			t.Errorf("%s: %v ms, %v ms, %v", program.Version, reviewed, plain, err)
		}
	}
}
