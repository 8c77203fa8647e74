// Package boot is the code that runs inside a fence before any command does:
// the fence process, which owns the namespaces and mounts of a session, and its
// slots, each a PID namespace in which one command at a time runs.
//
// The fence process is this very executable started again, and it must not
// become the program that embeds Handrail: its variables and init functions
// would run with the rights of the fence. So this package imports nothing that is initialised
// after the package syscall, and Go starts it before every package that imports
// os: no init function of an embedder that can reach a file or the network runs
// in a fence. In every other process it costs one getpid.
//
// It decides nothing. What is mounted, hidden and allowed comes from package
// sandbox as data.
package boot
