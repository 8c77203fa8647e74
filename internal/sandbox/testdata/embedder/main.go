// Command embedder is a program that embeds a fence and has never heard of how
// one starts: it calls nothing early, and its init functions leave a trace.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/handrail-tools/handrail/internal/sandbox"
	_ "github.com/handrail-tools/handrail/internal/sandbox/testdata/embedder/aaa"
)

func main() {
	f, err := sandbox.Open(context.Background(), sandbox.Options{Driver: sandbox.Namespaces, Policy: sandbox.Policy{Workspace: os.Args[1]}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p, err := f.Start(context.Background(), sandbox.Spec{Path: "/bin/sh", Argv: []string{"sh", "-c", "echo inside"}, Stdout: os.Stdout, Stderr: os.Stdout})
	if err == nil {
		_, err = p.Wait()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
