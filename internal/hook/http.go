package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/handrail-tools/handrail/tool"
)

// checkURL reports what is wrong with where a hook is to be found.
func checkURL(h *Hook) error {
	u, err := url.Parse(h.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("the URL %q is not one of http or https with a host", tool.Clip(h.URL))
	}
	for name, value := range h.Headers {
		for _, variable := range variables(value) {
			if !slices.Contains(h.AllowedEnv, variable) {
				return fmt.Errorf("the header %q names the variable %q, which its list of allowed variables does not", tool.Clip(name), tool.Clip(variable))
			}
		}
	}
	return nil
}

// variables lists what a header takes from the environment.
func variables(value string) (names []string) {
	os.Expand(value, func(name string) string {
		names = append(names, name)
		return ""
	})
	return names
}

// newClient returns the client of the hooks that are servers. It keeps few
// connections open, for a minute.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// post tells a server of an event and reads its answer. A status other than
// 2xx is a failure, and so is a redirect: who is asked is who was set.
func post(ctx context.Context, client *http.Client, h *Hook, input []byte, limit time.Duration) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(input))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range h.Headers {
		req.Header.Set(name, os.Expand(value, os.Getenv)) // of the variables that are allowed, as checkURL has seen
	}
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, late(ctx, err, limit)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := whole(resp.Body)
	switch {
	case err != nil:
		return reply{}, late(ctx, err, limit)
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return reply{}, fmt.Errorf("it answered with status %s: %s", resp.Status, preview(strings.TrimSpace(text)))
	case strings.HasPrefix(strings.TrimSpace(text), "<"):
		// Somebody between here and there wants a login, or the server is
		// another one.
		return reply{}, fmt.Errorf("it answered with a page: %s", preview(strings.TrimSpace(text)))
	}
	return reply{out: text}, nil
}

// late says of a request that ran out of time that it did; what net/http says
// is longer and names the address once more.
func late(ctx context.Context, err error, limit time.Duration) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return noAnswer(limit)
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return fmt.Errorf("it was not reached: %w", err)
}
