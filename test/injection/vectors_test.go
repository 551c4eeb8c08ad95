package injection

import (
	"iter"
	"testing"

	"github.com/hermes-nvim/hermes/internal/soak"
)

// part is which vectors an editor meets: of so many parts of the list, one.
type part struct{ Which, Of int }

// partOf shares the vectors out among the variants of a test, so that together they meet each
// of them. While soaking every variant meets all.
func partOf(t *testing.T, which, of int) part {
	t.Helper()
	if soak.Duration(t) > 0 {
		return part{0, 1}
	}
	return part{which, of}
}

// all yields the vectors of the part with their places in the whole list.
func (p part) all() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := p.Which; i < len(vectors); i += p.Of {
			if !yield(i, vectors[i]) {
				return
			}
		}
	}
}

// role is the value of roleEnv for an agent with these vectors.
func (p part) role() string { return string(encode(p)) }

func (p part) len() int { return (len(vectors) - p.Which + p.Of - 1) / p.Of }

// at is a vector of the part; after the last one comes the first.
func (p part) at(i int) string { return vectors[p.Which+i%p.len()*p.Of] }

// Every text below tries to leave a mark when something types, expands or
// evaluates it: the file MARK in the current folder, or the variable g:marked.
var vectors = []string{
	// Typed: keys that leave a prompt, a mode or a terminal, then a command.
	"\x03i:call system('touch MARK')\x16013\x030y$@\"",
	"\x03\x1c\x0ei:call system('touch MARK')\x16013\x1c\x0eF:y$@\"",
	"\x12=system('touch MARK')",
	"\x12=system('touch MARK')\r",
	"\x03:let g:marked=1\r",
	"\x1c\x0e:let g:marked=1\r",
	"\x1b:let g:marked=1\n",
	"\x0f:let g:marked=1\r",
	"\x16u000d:let g:marked=1\r",
	"\x12\x17\x12\x0f%",
	"\x06ilet g:marked=1\x03",     // 'cedit'
	"\x1aq:ilet g:marked=1\x1b\r", // 'wildchar' of some users
	"\x0bCR:let g:marked=1\x0bCR", // a digraph
	"\x1c\x07\x1c\x0f:let g:marked=1\r",
	"\x15\x17\x08\x7f\x0e\x10\x14\x04",
	"\t\t\t",
	"q:ilet g:marked=1",
	"@:@\"\"=system('touch MARK')\rp",
	"ZZ:wqa!\r:qa!\r",
	"pwnabbrev ",
	"PWNMAP",
	// Key names.
	"<Esc>:let g:marked=1<CR>",
	"<C-\\><C-N>:let g:marked=1<CR>",
	"<C-R>=system('touch MARK')<CR>",
	"<C-R><C-W><C-R><C-A>",
	"<Cmd>let g:marked=1<CR>",
	"<C-O>:let g:marked=1<NL>",
	"<Plug>(x)<lt>CR>",
	// Bytes that stand for special keys inside Neovim, as parts of characters.
	"À\u0080\u2000怀:let g:marked=1",
	"\u0080\u00fd5\u00fd\u0080kb",
	"\u20ac\u0300\u0301\ue000",
	"\x00:let g:marked=1\x00",
	// Statusline, winbar, tabline and title.
	"%{execute('let g:marked=1')}",
	"%{%execute('let g:marked=1')%}",
	"%!execute('let g:marked=1')",
	"%@Mark@x%X%#Error#%=%<%0{system('touch MARK')}",
	"%T%999X%l%%%",
	// Shells, expansion and file names.
	"`touch MARK`",
	"`=system('touch MARK')`",
	"$(touch MARK)",
	"; touch MARK #",
	"| touch MARK",
	"&& touch MARK\n",
	"a\ntouch MARK\n",
	"term://touch MARK",
	"term://.//1:touch MARK",
	"file:///dev/null|call system('touch MARK')",
	"+call\\ system('touch\\ MARK') x",
	"++enc=x -c 'call system(\"touch MARK\")'",
	"% # <cword> <sfile> ~ $HOME * ? [a] {a,b}",
	"../../../../etc/passwd",
	"-c let\\ g:marked=1",
	// Commands and expressions.
	"x|call system('touch MARK')|",
	"x\ncall system('touch MARK')",
	"x\rcall system('touch MARK')\r",
	"'|call system('touch MARK')|'",
	"\"|call system(\"touch MARK\")|\"",
	"\\=system('touch MARK')",
	"'.system('touch MARK').'",
	"\".system('touch MARK').\"",
	"x[system('touch MARK')]",
	"v:lua.vim.fn.system('touch MARK')",
	"*system('touch MARK')",
	"User * let g:marked=1",
	"normal :let g:marked=1\r",
	"'); vim.g.marked = 1 --",
	"]]; vim.g.marked = 1 --[[",
	"\" .. vim.fn.system('touch MARK') .. \"",
	"function() vim.g.marked = 1 end",
	"${1:`touch MARK`}$0",
	// Modelines.
	" vim:fdm=expr:fde=system('touch\\ MARK'):tw=7",
	"x vim: set textwidth=7 titlestring=MARK :",
	"/* ex: set textwidth=7: */",
	// Sequences that a terminal obeys.
	"\x1b]52;c;TUFSSw==\x07",
	"\x1b]0;MARK\x07\x1b[?1049l",
	"\u009d52;c;TUFSSw==\u009c",
	"\x1bPtmux;\x1b\x1b]0;MARK\x07\x1b\\",
	"\x1b[201~:let g:marked=1\r",
	"\u0085\u008d\u009b31m",
	// Characters that hide or reorder text.
	"\u202e1=dekram:g tel:\u202c\u2066x\u2069",
	"\u200b\u200c\u200d\ufeff\u00ad\u2060:let g:marked=1",
	"x\u2028:let g:marked=1\u2029:let g:marked=1",
	"\ufffd\uffff\U000e0001\U000e0041",
}
