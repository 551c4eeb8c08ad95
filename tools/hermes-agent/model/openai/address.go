package openai

import (
	"net/http"
	"net/url"
	"strings"
)

// completions is the path of the requests for an answer.
const completions = "/chat/completions"

// address is the one of a path below another address, whose query stays behind it. An
// address that people copy may end in the path of completions.
func address(base, path string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	root := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(u.EscapedPath(), "/"), completions), "/")
	u.RawPath = root + path
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return "", err
	}
	return u.String(), nil
}

// deployment is the name of the model in a classic address of Azure, and empty in others:
// https://NAME.openai.azure.com/openai/deployments/MODEL?api-version=VERSION
func deployment(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(u.Path, "/openai/deployments/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// authorize adds the key to the headers of a request. A classic address of Azure takes a
// bearer token for one of its directory.
func authorize(header http.Header, base, key string) {
	switch {
	case key == "":
	case deployment(base) != "":
		header.Set("Api-Key", key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
}
