package serve

// SetMaxMessage lowers the limit of a message.
func (s *Server) SetMaxMessage(n int) { s.maxMessage = n }
