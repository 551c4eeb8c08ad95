package pathmap

// A shape says where in a JSON value paths are: it is a leaf or an object. A
// list has the shape of its items.
type shape any

// object holds the shapes of the members that are paths or have some below.
type object map[string]shape

// leaf is a string that is mapped.
type leaf int

const (
	path leaf = iota
	uri
)

// The positions of all versions together: none is a path in one version and
// something else in another.
var (
	block     = object{"uri": uri, "resource": object{"uri": uri}}
	changes   = object{"path": path, "oldPath": path} // diffs of version 2
	locations = object{"path": path}
	toolCall1 = object{"content": object{"content": block, "path": path}, "locations": locations}
	toolCall2 = object{"content": object{"content": block, "changes": changes}, "locations": locations}
	setup     = object{
		"cwd": path, "additionalDirectories": path,
		"mcpServers":   object{"command": path},
		"systemPrompt": object{"content": block},
	}
)

// toAgent holds the params of the methods of agents.
var toAgent = map[string]object{
	"session/new":    setup,
	"session/load":   setup,
	"session/resume": setup,
	"session/fork":   setup,
	"session/list":   {"cwd": path},
	"session/prompt": {"prompt": block},
}

// results holds the results of the methods of agents.
var results = map[string]object{
	"session/list": {"sessions": object{"cwd": path, "additionalDirectories": path}},
}

// toClient holds the params of the methods of clients. Their results have no
// paths.
var toClient = map[string]object{
	"fs/read_text_file":          {"path": path},
	"fs/write_text_file":         {"path": path},
	"terminal/create":            {"cwd": path},
	"session/request_permission": {"toolCall": toolCall1, "subject": object{"cwd": path, "toolCall": toolCall2}},
	"session/update": {"update": object{
		"content":   object{"uri": uri, "resource": block["resource"], "content": block, "path": path, "changes": changes},
		"locations": locations, "summary": block, "cwd": path, "additionalDirectories": path, "plan": object{"uri": uri},
	}},
}
