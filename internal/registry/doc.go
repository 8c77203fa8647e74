// Package registry holds which tools exist and says which of them a session
// sees.
//
// A [Registry] has the tools themselves, from whatever source. A [View] is
// one session's sight of a registry. Whether a tool is seen is decided in one
// place, on the tool and not on the name that somebody used for it, and the
// same answer serves the list, the search, the resolving of a call and the
// call itself: what is seen can be called, and what is not seen is not there.
//
// A registry changes while sessions run. A change is published at once as a
// whole; a view notices it at its next use.
package registry
