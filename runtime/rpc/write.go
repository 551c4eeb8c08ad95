package rpc

import "github.com/hermes-nvim/hermes/runtime/transport"

// write is the goroutine that owns the transport's writing side.
func (c *Conn) write() {
	defer close(c.writeDone)
	var batch []outgoing
	var texts [][]byte
	for {
		var more bool
		if batch, more = c.out.take(batch[:0]); !more {
			return
		}
		texts = texts[:0]
		for i := range batch {
			texts = append(texts, batch[i].buf.b)
		}
		err := c.transmit(texts...)
		for i := range batch {
			batch[i].buf.free()
			batch[i] = outgoing{}
		}
		clear(texts)
		if err != nil {
			c.unwritten(err)
			return
		}
	}
}

// writeNow writes a message at once, without a change of goroutines, if nobody
// writes and nothing waits. Else it reports false.
func (c *Conn) writeNow(buf *buffer) bool {
	if !c.out.claim() {
		return false
	}
	err := c.transmit(buf.b)
	buf.free()
	if err != nil {
		c.unwritten(err)
		c.out.abort()
	}
	c.out.release()
	return true
}

// unwritten ends the connection. A peer that died shows at the reading side
// too, with the better cause.
func (c *Conn) unwritten(err error) {
	wait(c.ending, c.lim.Grace/2)
	c.end(err)
}

// transmit writes messages. One goroutine at a time calls it.
func (c *Conn) transmit(msgs ...[]byte) (err error) {
	for _, m := range msgs {
		c.notice(m)
		c.tap(Outbound, m)
	}
	c.out.writes++
	c.out.writing.Store(c.out.writes)
	defer c.out.writing.Store(0)
	if w, ok := c.t.(transport.BatchWriter); ok && len(msgs) > 1 {
		err = w.WriteBatch(msgs)
	} else {
		for i := 0; i < len(msgs) && err == nil; i++ {
			err = c.t.Write(msgs[i])
		}
	}
	if err == nil {
		c.count.sent.Add(uint64(len(msgs)))
	}
	return err
}
