package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(t *terminal, f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := readVersion()
			if f.json {
				return t.printJSON(v)
			}
			fmt.Fprintf(t.out, "handrail %s (%s, %s)\n", v.Version, v.Go, v.Platform)
			return nil
		},
	}
}

// versionJSON is what `version --json` prints.
type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// readVersion takes what the Go tool wrote into the binary.
func readVersion() versionJSON {
	v := versionJSON{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}
