package lint

import "bytes"

func securityRules() []Rule {
	return []Rule{
		{
			ID: "SEC04", Severity: Warn, Side: ByAgent, Versions: All, Strength: Security,
			Summary: "Links use https, http, file or mailto.",
			Why:     "Editors and desktops run programs for other schemes.",
			Check: func(c *Checker) {
				eachContent(c, func(m *Message, block Value) {
					uri := block.Get("uri")
					if m.From != Agent || !block.Get("type").Is("resource_link") || !uri.IsString() {
						return
					}
					c.Exercised()
					scheme, _, ok := bytes.Cut(uri.Bytes(), []byte(":"))
					switch string(bytes.ToLower(scheme)) {
					case "https", "http", "file", "mailto":
					default:
						if ok {
							c.Fail(m, uri, "the scheme is %q", quote(string(scheme)))
						}
					}
				})
			},
		},
	}
}
