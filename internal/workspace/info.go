package workspace

import (
	"io/fs"
	"path"
	"time"
)

// info describes a place as [fs.FileInfo].
func (p place) info() fs.FileInfo { return nodeInfo{name: path.Base(p.path), node: p.node} }

type nodeInfo struct {
	name string
	node node
}

func (i nodeInfo) Name() string       { return i.name }
func (i nodeInfo) Size() int64        { return i.node.version.Size }
func (i nodeInfo) Mode() fs.FileMode  { return i.node.mode }
func (i nodeInfo) ModTime() time.Time { return time.Unix(0, i.node.version.Modified) }
func (i nodeInfo) IsDir() bool        { return i.node.mode.IsDir() }

// Sys returns the [Version] of what was described.
func (i nodeInfo) Sys() any { return i.node.version }
