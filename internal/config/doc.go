// Package config reads the settings of Handrail from JSON files and lays
// them over each other.
//
// # Where settings come from
//
// The trusted settings are built in this order, each over the one before:
//
//	the user's file      $XDG_CONFIG_HOME/handrail/config.json
//	the named file       --config FILE
//	the profile          --profile NAME, from either file or built in
//	the flags            --mode, --state-dir and their like
//
// A scalar that a later source gives replaces the earlier one. A deny or an
// ask list is joined to the earlier one, so that no later source can lift a
// refusal by accident. An allow list replaces the earlier one as a whole; an
// empty list is a list (it allows nothing), an absent one says nothing.
//
// # The workspace's own file
//
// <workspace>/.handrail/config.json comes last and can only take away. It
// belongs to whoever wrote the repository, and a program that runs in the
// workspace may be able to write it, so it must not be able to give itself
// anything: its mode is a ceiling, its deny, ask, read_only and protected
// lists are joined, its allow lists must be part of the trusted ones, and
// every other key in it is an error that says where the setting belongs.
//
// # The rules of other systems
//
// "import" names files whose rules are taken over each time, so that they go
// on being written where they are: absolute paths and "~/" are trusted as the
// file that names them is, and their lists are joined to its own. A path below
// the workspace can only take away, as the workspace's own file, and need not
// be there.
//
// # Strictness
//
// A file is strict JSON with only the keys that are known. Everything that
// is wrong in all files is reported at once, with file, line and column, and
// then no setting of any of them is used.
package config
