// Package hook runs what an operator or an embedder wants to happen around
// the calls and the life of a session: Go functions, commands that read JSON
// on their standard input, and HTTP servers that have it posted to them. The
// wire format is that of Claude Code, so that hooks written for it run
// unchanged; what differs is said below.
//
// # What a hook is shown
//
// A call is shown as Claude Code's tools would have made it: the name and the
// arguments are those of the surface "claude", paths are absolute and have
// their links followed. A call that none of those tools could have made is
// shown by what it would do: as Bash with its command, as Edit or Read once
// for each file. So a hook that guards Bash or Edit guards every tool that
// runs commands or changes files. A matcher that names only a tool of
// Handrail's own is shown that tool's own name and arguments.
//
// # What a hook decides
//
// The hooks of an event that match run at once, each told the same. The
// strongest word counts: deny, ask, allow. Of several that rewrite, the last
// in the order of the settings is taken; the call is decoded and assessed
// again, and all the other hooks are asked about the new one. Each hook's
// rewrite is taken once, so this ends, and what runs was seen by every hook
// but the one that wrote it.
//
// An allow only answers the question that the mode would have put to a
// person. It does not answer a deny rule, a closed path, an ask rule, or a
// command that wants out of the fence. A permission_request hook stands for
// the person who would be asked, and answers everything but the last.
//
// # When a hook fails
//
// A hook before a call, or in the place of a person, is a gate. One that
// crashes, is late, is not there, ends with a status that is neither 0 nor 2,
// or answers what cannot be read refuses the call, unless it is set to
// [Continue]. A hook that fails [BreakerAfter] times in a row is reported; a
// gate then refuses without being started and is tried again from time to
// time, any other is left out for the rest of the session.
package hook
