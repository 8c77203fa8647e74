package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/handrail-tools/handrail"
)

func TestBeingToldToStopIsNoTrouble(t *testing.T) {
	session, err := handrail.Open(t.Context(), handrail.Options{NoBuiltins: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	var log bytes.Buffer
	server, err := New(session, Options{Version: "test", Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.ServeStdio(ctx, in, out) }()
	go func() { _, _ = io.WriteString(toServer, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n") }()
	if _, err := fromServer.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, fromServer) }()
	stop()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("serving ended with %v", err)
	}
	if log.Len() > 0 {
		t.Errorf("a stop was logged as trouble: %s", &log)
	}
}
