package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/neovim/go-client/nvim"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/internal/soak"
	"github.com/hermes-nvim/hermes/internal/testagent"
	"github.com/hermes-nvim/hermes/plugin/events"
	"github.com/hermes-nvim/hermes/plugin/wire"
	"github.com/hermes-nvim/hermes/test/editors"
)

func TestAHugeUpdateReachesNeovimInBoundedParts(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.patience = 5 * time.Minute // with the race detector this is work for seconds a turn
		e.open()
		e.script("most")
		// Each Neovim gets every second shape; while soaking each gets all.
		newest := strings.HasSuffix(t.Name(), "/"+editors.All(t)[0].Version)
		for i, shape := range slices.DeleteFunc(slices.Clone(testagent.Shapes), func(s string) bool { return s == "text" }) {
			if soak.Duration(t) == 0 && (i%2 == 0) != newest {
				continue
			}
			e.lua(`_G.seen = {}`)
			e.prompt("BIG " + shape + " 400000\nSAY after")
			e.is(`#vim.tbl_filter(function(e) return e.update and e.truncated and e.truncated.bytes > 100000 end, seen)`, 1)
			e.is(`said()`, "after")
		}
		e.is(`vim.iter(of("AgentToolCall")):any(function(e) return e.update.status ~= "pending" end)`, false)
		e.lua(`_G.seen = {}`)
		e.prompt("SAY before\nBIG text 1200000\nSAY after")
		e.is(`said() == "before" .. ("aä€😀\n"):rep(100000) .. "after"`, true)
		e.is(`vim.iter(seen):any(function(e) return e.truncated end)`, false)
		e.is(`most.bytes <= `+strconv.Itoa(wire.MaxCost+wire.CostOfMore), true)
		e.is(`most.values <= `+strconv.Itoa(wire.MaxCost/wire.ValueCost), true)
	})
}

func TestAQuestionThatIsCutCannotBeAllowed(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		e.script("most")
		e.lua(`hermes.on_request("PermissionRequest", function(data) cut = data.truncated ~= nil return choice end)`)
		for _, c := range []struct {
			bytes        int
			choice, want string
			cut          bool
		}{
			{1 << 20, "yes", `"optionId":"yes"`, false},
			{5 << 20, "yes", `"outcome":"cancelled"`, true},
			{5 << 20, "no", `"optionId":"no"`, true},
		} {
			e.lua(`_G.seen, choice = {}, ...`, c.choice)
			e.prompt("BIGASK " + strconv.Itoa(c.bytes))
			e.is(`cut`, c.cut)
			e.is(`said():find('`+c.want+`', 1, true) ~= nil or said()`, true)
		}
		e.is(`most.bytes <= `+strconv.Itoa(wire.MaxCost+wire.CostOfMore), true)

		// Earlier updates say what the call does, and a part of them is missing.
		for _, how := range []string{"delivery", "memory", "number"} {
			for choice, want := range map[string]string{"yes": `"outcome":"cancelled"`, "no": `"optionId":"no"`} {
				e.lua(`_G.seen, choice = {}, ...`, choice)
				e.prompt("CUT " + how)
				e.is(`cut`, true)
				e.is(`said():find('`+want+`', 1, true) ~= nil or said()`, true)
			}
		}
		// A question that says everything itself is whole, whatever was cut before.
		e.lua(`_G.seen, choice = {}, ...`, "yes")
		e.prompt("CUT delivery\nSHOW {\"command\":\"ls\"}\nASK ls")
		e.is(`select(2, said():gsub('"optionId":"yes"', ""))`, 2)
	})
}

func TestAFileTooLargeForTheEditorIsNotWrittenInPart(t *testing.T) {
	inEveryNeovim(t, func(t *testing.T, e *editor) {
		e.open()
		dir, _ := e.lua("return vim.uv.fs_realpath(vim.fn.getcwd())").(string)
		e.prompt("BIGWRITE " + dir + "/a " + strconv.Itoa(9<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/a")`, 9<<20)

		// The host writes what is larger, unless somebody in Neovim would have to
		// see it.
		e.prompt("BIGWRITE " + dir + "/b " + strconv.Itoa(12<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/b")`, 12<<20)
		e.lua(`vim.fn.writefile({ "mine" }, "c"); vim.cmd.edit("c")`)
		e.prompt("BIGWRITE " + dir + "/c " + strconv.Itoa(11<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/c")`, 5)
		e.is(`said():find("too large for the editor", 1, true) ~= nil`, true)
		e.lua(`hermes.on_request("WriteTextFile", function() return true end)`)
		e.prompt("BIGWRITE " + dir + "/d " + strconv.Itoa(11<<20))
		e.is(`vim.fn.getfsize(vim.fn.getcwd() .. "/d")`, -1)
	})
}

// BenchmarkDelivery reports how long the largest item of each shape keeps
// Neovim busy: with a listener for everything, and a tool call that holds as
// much as it can from earlier updates.
func BenchmarkDelivery(b *testing.B) {
	for _, program := range editors.All(b) {
		v, err := nvim.NewChildProcess(nvim.ChildProcessCommand(program.Path),
			nvim.ChildProcessArgs("--clean", "--embed", "--headless", "-n", "--cmd", "set rtp^="+editors.Root(b)))
		if err != nil {
			b.Fatal(err)
		}
		defer v.Close()
		deliver := func(name, json string) (ms float64) {
			q := wire.NewQueue(wire.QueueBytes, nil)
			q.Push(wire.From([]byte(json)).Item(name))
			batch, _ := q.Take()
			it := batch[0]
			err := v.ExecLua(`
require("hermes") -- joins the modules
local start = os.clock() -- of the processor, so that other programs do not count
require("hermes.core.rpc").deliver(...)
return (os.clock() - start) * 1e3`, &ms, fmt.Sprintf("[%q,%s]", it.Kind, it.JSON))
			if err != nil {
				b.Fatal(err)
			}
			return ms
		}
		if err := v.ExecLua(`vim.api.nvim_create_autocmd("User", { pattern = "*", callback = function(args) return args.data == nil end })`, nil); err != nil {
			b.Fatal(err)
		}
		deliver(events.StateChanged, `{"agent":"a","from":"starting","to":"ready"}`)
		deliver("SessionCreated", `{"agent":"a","sessionId":"s"}`)
		for _, shape := range testagent.Shapes {
			b.Run(program.Version+"/"+shape, func(b *testing.B) {
				raw := []byte(testagent.Big(shape, 500_000))
				u, err := acp.DecodeSessionUpdate(raw)
				if err != nil {
					b.Fatal(err)
				}
				worst, sum := 0.0, 0.0
				for range b.N {
					ms := deliver(events.Update(acp.SessionUpdateTag(u), "text"), `{"agent":"a","sessionId":"s","update":`+string(raw)+`}`)
					worst, sum = max(worst, ms), sum+ms
				}
				b.ReportMetric(worst, "ms/worst")
				b.ReportMetric(sum/float64(b.N), "ms/op")
			})
		}
	}
}
