// Package exec has the tools that run programs: shell for one command,
// exec_command and write_stdin for one that is talked to, check for what a
// project's own checker says, run_code for a few lines of a language, and
// sleep.
//
// They start nothing themselves: a command runs where the session's fence
// says, is held by package process, and what it changed is told by package
// witness. What a tool here needs of its session comes with the context, as a
// [Kit].
//
// The text of a command goes to the shell byte for byte. It is parsed to know
// things about it, never to be put together anew.
package exec
