// Package file holds the tools that read and change files: one file of Go
// for each tool, its words for the model beside it, its behaviours as text
// archives under testdata.
//
// Every tool takes the workspace from its context and touches files only
// through it.
package file
