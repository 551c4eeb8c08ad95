// Package hostile holds no code, only the tests that set an agent against the
// runtime which does everything an agent must not: it dies at any byte, cuts
// lines, stalls, floods, never ends, lies about ids. The program in agent does
// what its script says; the tests say what must hold all the same. A server
// that cuts its streams and refuses what it should not is also here.
//
// The tests take about a minute. With HERMES_SOAK set to a duration each of
// them runs for that long, with other offsets and orders (make soak); see
// docs/soak.md for the last results.
package hostile
