package special

import "strings"

// Steering and Secrets are examples of the names in the tables, Home those below the home folder.
func Steering() (list []string) {
	for _, group := range steering {
		list = append(list, group.names...)
		list = append(list, group.files...)
	}
	return examplesOf(list)
}

func Secrets() []string { return examplesOf(secret) }

func Home() []string { return home }

func examplesOf(patterns []string) []string {
	var list []string
	for _, pattern := range patterns {
		list = append(list, strings.NewReplacer("*", "x", "?", "x").Replace(pattern))
	}
	return list
}
