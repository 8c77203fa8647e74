// Package surface lays the names and schemas that a model family was trained
// on over Handrail's tools. A surface is data: which tool is shown under
// which name, with which description and argument schema, and how its
// arguments become those of the tool. No tool is implemented here, and none
// behaves differently for being shown under another name.
//
// # Data files
//
// A surface is a JSON object with these keys:
//
//	name         the name of the surface
//	description  one line for a person
//	tools        a list of what is shown in another form
//
// A tool that the list does not mention is shown as it declares itself. An
// entry of the list has these keys:
//
//	name         the name that is shown
//	tool         the canonical name of the tool behind it
//	description  the text for the model; absent: the tool's own
//	schema       the schema of the arguments; absent: the tool's own. Its
//	             root and every object that args takes apart is closed
//	             (additionalProperties false), so no argument can get lost
//	args         how a property of the schema becomes the tool's argument,
//	             by property; one that is not mentioned keeps its name
//	set          arguments of the tool that always have this value
//
// A value of args is the tool's name for the argument, or an object:
//
//	to      the tool's name for it; absent: the same name
//	wrap    true: the tool takes a list, and the value is its one item
//	values  what becomes of each value of the schema's enum
//	items   for a list of objects: args for the properties of each
//
// A default that the surface's schema states for a top-level property takes
// the place of an absent argument, as the model was told.
package surface
