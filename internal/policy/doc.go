// Package policy decides whether a tool may be used at all: by allow and
// deny lists, required tags, effects, tiers and groups. Whether one call of
// it may happen is another room's question (permission).
//
// # Entries
//
// An entry of a list is one of
//
//	read_file      the tool of that name
//	bash           an alias, which means its tool
//	web_*          every tool with a name or alias that begins so; * alone is every tool
//	group:fs       every tool of a group of the [Vocabulary]
//	tag:untrusted  every tool that carries the tag
//	effect:exec    tools by what they declare that they may do
//	tier:observe   tools by how strong they are
//
// An entry that names nothing known is an error when the policy is compiled:
// a misspelt deny entry would be an open door. A "?" at its end says that
// the tool, tag, tier or group may come later.
//
// An entry is resolved to a tool, so denying a tool covers each of its
// aliases and denying an alias covers the tool. A decision depends on
// nothing but the policy and the tool's declaration; it is the same for
// tools that were registered after the policy was compiled.
//
// # Effects
//
// A tool that declares no effects counts as having all of them. In a deny
// list, effect:exec matches every tool that may start a program. In an allow
// list, the effect entries together state what a tool may do at most:
// ["effect:read", "effect:network"] admits the tools that do nothing beyond
// reading and reaching the network. What a tool may do can depend on the
// session: a command behind a fence that holds no network declares none, where
// that is what decides, so that denying effect:network leaves it.
//
// # Tiers
//
// A tool has a tier when it carries the tag tier:NAME; the strongest counts
// where it carries several. In an allow list, tier:NAME admits the tools at
// that tier and below; in a deny list it closes that tier and everything
// above it. A tier that the vocabulary does not know is above all others. A
// tool without a tier is matched by no tier entry. The spelling
// group:robot:NAME that octos uses is taken too: in an allow list it means
// tier:NAME; in a deny list, where octos closes the tiers up to NAME and a
// reader would expect those from NAME on, it closes every tier.
package policy
