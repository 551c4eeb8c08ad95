package rpc

// Lanes returns how many lanes the connection keeps. The reader must be idle.
func Lanes(c *Conn) int { return len(c.lanes) }

// LimitsOf returns the limits of a connection, defaults filled in.
func LimitsOf(c *Conn) Limits { return c.lim }
