package golang

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"
)

// line is a piece of Go written as text, which reads better in codecs than nested
// builders. Arguments that are jen.Code keep their imports, all others are
// formatted by fmt. Text from a schema must go through %q, or be an identifier
// made by goName.
func line(format string, args ...any) *jen.Statement {
	var code []jen.Code
	for i, a := range args {
		if c, ok := a.(jen.Code); ok {
			code = append(code, c)
			args[i] = hole
		}
	}
	s := &jen.Statement{}
	for i, text := range strings.Split(fmt.Sprintf(format, args...), hole) {
		if i > 0 {
			s.Add(code[i-1])
		}
		if text != "" {
			s.Op(text)
		}
	}
	return s
}

// hole is the placeholder for code in formatted text. %q never writes a NUL.
const hole = "\x00"

// block is a line that opens a block, with what is in it.
func block(head *jen.Statement, body ...jen.Code) *jen.Statement { return head.Block(body...) }

// method starts a method of *n, called v.
func method(n, name string) *jen.Statement {
	return jen.Func().Params(jen.Id("v").Op("*").Id(n)).Id(name)
}
