//go:build !unix

package main

import "io"

// pollable leaves the stream as it is.
func pollable(in io.Reader) (stream io.Reader, restore func()) { return in, func() {} }
