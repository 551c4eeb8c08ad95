// Package hostile holds only tests. They run the engine against an agent that does
// everything an agent must not do: it dies at any byte, cuts lines, stalls,
// floods, never ends, lies about ids. The program in agent does what its script
// says; the tests say what must hold nevertheless. There is also a server that
// cuts its streams and refuses valid requests.
//
// The tests take about a minute. With HERMES_SOAK set to a duration each of
// them runs for that long, with other offsets and orders (make soak); see
// docs/soak.md for the last results.
package hostile
