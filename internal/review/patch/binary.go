package patch

import (
	"bytes"
	"compress/zlib"
	"fmt"
)

// binary writes a change of a binary file as git does: both contents, compressed.
func (p printer) binary(from, to string) {
	p.WriteString("GIT binary patch\n")
	p.literal(to)
	p.literal(from)
}

func (p printer) literal(text string) {
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	z.Write([]byte(text)) // a buffer takes everything
	z.Close()
	fmt.Fprintf(p, "literal %d\n", len(text))
	for data := deflated.Bytes(); len(data) > 0; {
		line := data[:min(52, len(data))]
		data = data[len(line):]
		if n := len(line); n <= 26 {
			p.WriteByte(byte('A' + n - 1))
		} else {
			p.WriteByte(byte('a' + n - 27))
		}
		p.base85(line)
		p.WriteByte('\n')
	}
	p.WriteByte('\n')
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// base85 writes five characters for each four bytes.
func (p printer) base85(line []byte) {
	for ; len(line) > 0; line = line[min(4, len(line)):] {
		var four [4]byte
		copy(four[:], line)
		n := uint32(four[0])<<24 | uint32(four[1])<<16 | uint32(four[2])<<8 | uint32(four[3])
		var five [5]byte
		for i := 4; i >= 0; i-- {
			five[i] = alphabet[n%85]
			n /= 85
		}
		p.Write(five[:])
	}
}
