package runtime

import "context"

// handlerKey finds what a context of this connection's handlers belongs to: a
// *request, nil for notifications.
type handlerKey struct{ c *Conn }

// handling says what ctx belongs to, and which request if it is one.
func (c *Conn) handling(ctx context.Context) (origin, *request) {
	req, ok := ctx.Value(handlerKey{c}).(*request)
	switch {
	case !ok:
		return outside, nil
	case req == nil:
		return inNotification, nil
	}
	return inRequestHandler, req
}
