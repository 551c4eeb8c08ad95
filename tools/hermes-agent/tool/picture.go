package tool

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"

	"github.com/hermes-nvim/hermes/acp"
	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// maxPicture bounds a picture, in bytes.
const maxPicture = 4 << 20

// pictures are the kinds that endpoints know, by the ends of file names.
var pictures = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
}

// readPicture shows a picture to the model and to the user. It comes from the disk, because
// clients read only text.
func (c *Call) readPicture(ctx context.Context, path, kind string) (string, error) {
	c.locate(path)
	if err := c.mayRead(ctx, path); err != nil {
		return "", err
	}
	at, err := c.inside(path)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	info, err := os.Stat(at)
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("read %s: it is not a file", path)
	case info.Size() > maxPicture:
		return "", fmt.Errorf("read %s: the picture has %d bytes; the limit is %d", path, info.Size(), maxPicture)
	}
	b, err := os.ReadFile(at)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if is := http.DetectContentType(b); is != kind {
		return "", fmt.Errorf("read %s: it is not %s but %s", path, kind, is)
	}
	data := base64.StdEncoding.EncodeToString(b)
	c.Images = append(c.Images, model.Image{MimeType: kind, Data: data})
	c.Update(func(u *acp.ToolCallUpdate) {
		u.Content = []acp.ToolCallContent{acp.NewContent(acp.NewImageContent(data, kind))}
	})
	return fmt.Sprintf("[%s, %d bytes]", kind, len(b)), nil
}
