package runtime

import "context"

// handlerKey finds what a context of this connection's handlers belongs to: a
// *request, nil for notifications.
type handlerKey struct{ c *Conn }

func (c *Conn) handling(ctx context.Context) origin {
	switch req, ok := ctx.Value(handlerKey{c}).(*request); {
	case !ok:
		return outside
	case req == nil:
		return inNotification
	}
	return inRequestHandler
}
