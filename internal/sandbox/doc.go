// Package sandbox starts commands behind a fence: what a command may write,
// read and reach is decided before it runs and held by the kernel while it
// runs, whatever the command does.
//
// Open builds a Fence from a Policy; Fence.Start starts a command inside it
// and hands back a Proc. Pipes, deadlines, buffers and the environment are the
// business of the caller; being inside, and the handle on the tree of
// processes, are the business of this package.
//
// # Drivers
//
//   - namespaces (Linux): one fence process a session, in its own user, mount,
//     PID, IPC and network namespaces: the whole file system read-only, the
//     workspace writable, /tmp private, with Landlock and seccomp on top. Each
//     command runs in a slot of it, a nested PID namespace with its own /proc, so
//     that nothing outlives it. No helper program: the fence process is this very
//     executable started again, and its code (package boot) runs before any other
//     initialisation of the program that embeds Handrail.
//   - landlock (Linux): Landlock and seccomp on a locked thread from which the
//     command is forked. Needs no namespaces and no privilege. It cannot hold
//     chmod, chown, utimes, extended attributes and path sockets outside the
//     workspace, nor hide a file that is readable.
//   - bubblewrap (Linux): the bwrap program around each command.
//   - seatbelt (macOS): sandbox-exec with a generated profile.
//   - container: a container of docker or podman for each command.
//   - none: no fence, only when the operator says so, or in full-access mode with
//     nothing to hide or protect.
//
// A driver that was asked for and cannot be had is an error that says why. With
// Auto the strongest driver that works is taken, and Report says what that costs.
// Nothing ever runs unfenced because a fence could not be built.
package sandbox
