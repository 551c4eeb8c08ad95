package runtime

// Lanes returns how many lanes the connection keeps. The reader must be idle.
func Lanes(c *Conn) int { return len(c.lanes) }
