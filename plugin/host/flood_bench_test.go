package host

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hermes-nvim/hermes/test/editors"
)

// BenchmarkFlood measures a turn of many updates in a Neovim with a screen,
// whose listener shows them in the window: how long the turn takes and how often
// the screen is drawn meanwhile.
func BenchmarkFlood(b *testing.B) {
	for _, program := range editors.All(b) {
		for _, flood := range []struct{ count, size int }{{20_000, 200}, {500, 20 << 10}, {500, 200}} {
			b.Run(fmt.Sprintf("%s/%dx%d", program.Version, flood.count, flood.size), func(b *testing.B) {
				e := newEditor(b, program.Path)
				var flushes atomic.Int64
				if err := e.v.RegisterHandler("redraw", func(updates ...[]any) {
					for _, u := range updates {
						if u[0] == "flush" {
							flushes.Add(1)
						}
					}
				}); err != nil {
					b.Fatal(err)
				}
				if err := e.v.AttachUI(80, 24, map[string]any{"ext_linegrid": true}); err != nil {
					b.Fatal(err)
				}
				e.open()
				e.lua(`
vim.wo.wrap = false
hermes.on("AgentTextMessage", function(data)
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { data.text })
  vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(0), 0 })
end)`)
				var took time.Duration
				drawn := int64(0)
				for b.Loop() {
					e.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, {})")
					before, began := flushes.Load(), time.Now()
					e.prompt(fmt.Sprintf("FLOODS %d %d", flood.count, flood.size))
					took += time.Since(began)
					drawn += flushes.Load() - before
				}
				b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/turn")
				b.ReportMetric(float64(drawn)/float64(b.N), "redraws/turn")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
