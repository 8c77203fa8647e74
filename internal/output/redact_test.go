package output

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fill returns n characters as a generator of tokens would give them. Tokens
// are put together in the tests, so that no scanner takes this file for a
// leak.
func fill(n int) string {
	const chars = "a8Kd93mQz7Lp2XvB5nR1tY6wE4uI0oPs"
	return strings.Repeat(chars, n/len(chars)+1)[:n]
}

func pemBlock(label string, lines int) string {
	return "-----BEGIN " + label + "-----\n" + strings.Repeat(fill(64)+"\n", lines) + "-----END " + label + "-----"
}

func TestRedactFindsTokens(t *testing.T) {
	for _, c := range []struct{ kind, secret string }{
		{"Anthropic key", "sk-ant-" + "api03-" + fill(80)},
		{"OpenAI key", "sk-" + fill(48)},
		{"OpenAI key", "sk-proj-" + fill(100)},
		{"OpenRouter key", "sk-or-v1-" + strings.Repeat("0a1b2c3d", 8)},
		{"AWS access key id", "AKIA" + "IOSFODNN7EXAMPLE"},
		{"AWS access key id", "ASIA" + "IOSFODNN7EXAMPLE"},
		{"GitHub token", "ghp_" + fill(36)},
		{"GitHub token", "gho_" + fill(36)},
		{"GitHub token", "ghs_" + fill(36)},
		{"GitHub token", "github_pat_" + fill(22) + "_" + fill(59)},
		{"GitLab token", "glpat-" + fill(20)},
		{"Slack token", "xoxb-" + "123456789012-" + fill(24)},
		{"Slack token", "xapp-" + "1-" + fill(30)},
		{"Slack webhook", "hooks.slack.com/services/" + "T01234567/B01234567/" + fill(24)},
		{"Google API key", "AIza" + fill(35)},
		{"Google token", "ya29." + fill(60)},
		{"Google client secret", "GOCSPX-" + fill(28)},
		{"Stripe key", "sk_live_" + fill(24)},
		{"Stripe key", "rk_test_" + fill(24)},
		{"webhook secret", "whsec_" + fill(32)},
		{"npm token", "npm_" + fill(36)},
		{"PyPI token", "pypi-AgE" + fill(60)},
		{"Hugging Face token", "hf_" + fill(34)},
		{"SendGrid key", "SG." + fill(22) + "." + fill(43)},
		{"Vault token", "hvs." + fill(24)},
		{"Groq key", "gsk_" + fill(52)},
		{"xAI key", "xai-" + fill(80)},
		{"DigitalOcean token", "dop_v1_" + strings.Repeat("0a1b2c3d", 8)},
		{"JSON Web Token", "eyJ" + fill(30) + ".eyJ" + fill(50) + "." + fill(43)},
		{"private key", pemBlock("RSA PRIVATE KEY", 1)},
		{"private key", pemBlock("OPENSSH PRIVATE KEY", 1)},
		{"private key", pemBlock("PGP PRIVATE KEY BLOCK", 1)},
		{"bearer token", fill(40)},
	} {
		for _, around := range []string{"%s", "a %s b", "x=%s\n", "\"%s\"", "(%s)", "see %s."} {
			if c.kind == "bearer token" {
				around = strings.ReplaceAll(around, "%s", "Authorization: Bearer %s")
			}
			text := fmt.Sprintf(around, c.secret)
			got, counts := (&Redactor{}).Redact(text)
			want := fmt.Sprintf(around, fmt.Sprintf("[redacted: %s, %d characters]%s", c.kind, len(c.secret), strings.Repeat("\n", strings.Count(c.secret, "\n"))))
			if got != want {
				t.Errorf("Redact(%q)\n got %q\nwant %q", text, got, want)
			}
			if diff := cmp.Diff(map[string]int{c.kind: 1}, counts); diff != "" {
				t.Errorf("%s: %s", c.kind, diff)
			}
		}
	}
}

func TestRedactFindsSettings(t *testing.T) {
	for _, c := range []struct{ text, secret, kind string }{
		{`DB_PASSWORD=hunter2hunter`, "hunter2hunter", "value of DB_PASSWORD"},
		{`export API_TOKEN='abcd1234efgh'`, "abcd1234efgh", "value of API_TOKEN"},
		{`aws_secret_access_key = ` + fill(40), fill(40), "value of aws_secret_access_key"},
		{`{"client_secret": "Zm9v8dk2!x"}`, "Zm9v8dk2!x", "value of client_secret"},
		{`{"body":"{\"password\":\"s3cretValue\"}"}`, "s3cretValue", "value of password"},
		{`password: hunter22x`, "hunter22x", "value of password"},
		{`const apiKey = "9f8e7d6c5b4a"`, "9f8e7d6c5b4a", "value of apiKey"},
		{`X-Api-Key: 0a1b2c3d4e5f6a7b`, "0a1b2c3d4e5f6a7b", "value of X-Api-Key"},
		{`:auth_token => "q1w2e3r4t5"`, "q1w2e3r4t5", "value of auth_token"},
		{`login --password hunter22x --host h`, "hunter22x", "value of password"},
		{`curl https://h/?access_token=a1b2c3d4e5&x=1`, "a1b2c3d4e5", "value of access_token"},
		{`AccountKey=` + fill(86) + `==;EndpointSuffix=x`, fill(86) + "==", "value of AccountKey"},
		{`SECRET_KEY_BASE=x` + "\n" + `MY_SECRET=p@ssphrase!`, "p@ssphrase!", "value of MY_SECRET"},
		{`postgres://app:s3cr3tpw@db:5432/x`, "s3cr3tpw", "password in a URL"},
		{`https://me:p@ss:word@host/`, "p@ss:word", "password in a URL"},
		{`Authorization: Basic ` + base64.StdEncoding.EncodeToString([]byte("user:pass")), base64.StdEncoding.EncodeToString([]byte("user:pass")), "basic credentials"},
	} {
		got, counts := (&Redactor{}).Redact(c.text)
		want := strings.ReplaceAll(c.text, c.secret, fmt.Sprintf("[redacted: %s, %d characters]", c.kind, len(c.secret)))
		if got != want || counts[c.kind] != 1 {
			t.Errorf("Redact(%q)\n got %q, %v\nwant %q", c.text, got, counts, want)
		}
	}
	t.Run("a token in a setting keeps its own name", func(t *testing.T) {
		got, _ := (&Redactor{}).Redact("GITHUB_TOKEN=ghp_" + fill(36))
		if got != "GITHUB_TOKEN=[redacted: GitHub token, 40 characters]" {
			t.Error(got)
		}
	})
}

func TestG18_OrdinaryCodeAndChecksumsStay(t *testing.T) {
	sum := strings.Repeat("0123456789abcdef", 4)
	for _, text := range []string{
		`token := lexer.Next()`,
		`token = tokens[12345678]`,
		`password = os.environ["DB_PASSWORD_2024"]`,
		`secret := os.Getenv("MY_SECRET_V2")`,
		`apiKey: process.env.API_KEY_2,`,
		`const token: string | undefined`,
		`password string ` + "`json:\"password12345\"`",
		`if password == "12345678x" {`,
		`if token =~ /abc12345/`,
		`func (p *parser) token() token`,
		`"token": "keyword.control.flow"`,
		`max_tokens=12345678`,
		`token_count: 123456789`,
		`tokenizer = "cl100k_base_v2"`,
		`Token::Identifier12345`,
		`PASSWORD=$DB_PASSWORD_1`,
		`PASSWORD=${DB_PASSWORD_1}`,
		`password: {{ vault_password_1 }}`,
		`password: <your password 123>`,
		`API_KEY=your-api-key-123`,
		`api_key=changeme1234`,
		`password_file: /run/secrets/db_1234`,
		`secret: /var/run/secret12/x`,
		`PrivateKey: testRSA2048PrivateKey,`,
		`password=********1234`,
		`docs: https://example.com:8080/a@b`,
		`git@github.com:a/b.git https://host/x:y@z`,
		`https://user:${PASSWORD}@host/`,
		`the task-list-of-all-things-we-need-1 to do`,
		`disk-1234567890-abcdefghij-klmno`,
		`Bearer authentication is required`,
		`basic understanding: of things`,
		`AKIAnot uppercase`,
		`eyJhbGciOi is how they begin`,
		`-----BEGIN CERTIFICATE-----` + "\nMIIB8jCC\n-----END CERTIFICATE-----",
		`-----BEGIN PUBLIC KEY-----` + "\nMIIB8jCC\n-----END PUBLIC KEY-----",
		`npm_config_registry npm_package_name`,
		`sk_live_ sk-learn xoxb- ghp_short`,
		sum + "  go1.26.linux-amd64.tar.gz",
		sum + " *file.bin\n",
		`sha256:` + sum,
		`"integrity": "` + sum + sum + `"`,
		`    checksum = "` + sum + `"`,
		`image@sha256:` + sum,
		`h1:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG=`,
		strings.Repeat("f", 63),
		`data:image/png;base64,iVBORw0KGgo=`,
		`commit ` + sum[:40],
	} {
		if got, counts := (&Redactor{}).Redact(text); got != text || counts != nil {
			t.Errorf("ordinary text was changed:\n from %q\n   to %q", text, got)
		}
	}
}

func TestRedactLeavesOutEncodedData(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"<img src=\"data:image/png;base64," + fill(5000) + "\">", "<img src=\"data:image/png;base64,[left out: base64 data, 5000 characters]\">"},
		{"data:text/plain;charset=utf-8;base64," + fill(64) + "==", "data:text/plain;charset=utf-8;base64,[left out: base64 data, 66 characters]"},
		{"key " + strings.Repeat("0a", 32) + " end", "key [left out: hexadecimal data, 64 characters] end"},
		{strings.Repeat("AB", 5000), "[left out: hexadecimal data, 10000 characters]"},
		{strings.Repeat("ab", 40) + " " + strings.Repeat("cd", 50), "[left out: hexadecimal data, 80 characters] [left out: hexadecimal data, 100 characters]"},
		{"sha256: " + strings.Repeat("0a", 33), "sha256: [left out: hexadecimal data, 66 characters]"},
	} {
		if got, _ := (&Redactor{}).Redact(c.text); got != c.want {
			t.Errorf("Redact of %.40q…\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestRedactKeepsTheLines(t *testing.T) {
	text := "one\n" + pemBlock("EC PRIVATE KEY", 3) + "\nseven\n"
	got, _ := (&Redactor{}).Redact(text)
	if lines := strings.Split(got, "\n"); len(lines) != 8 || lines[6] != "seven" || !strings.HasPrefix(lines[1], "[redacted: private key, ") {
		t.Errorf("the lines moved: %q", lines)
	}
	t.Run("a key whose end is missing", func(t *testing.T) {
		open := strings.TrimSuffix(text, "-----END EC PRIVATE KEY-----\nseven\n")
		got, _ := (&Redactor{}).Redact(open)
		if strings.Contains(got, fill(20)) || strings.Count(got, "\n") != strings.Count(open, "\n") {
			t.Errorf("%q", got)
		}
	})
	t.Run("a key inside of JSON", func(t *testing.T) {
		got, _ := (&Redactor{}).Redact(`{"private_key":"` + strings.ReplaceAll(pemBlock("PRIVATE KEY", 3), "\n", `\n`) + `","x":1}`)
		if strings.Contains(got, fill(20)) || !strings.HasSuffix(got, `","x":1}`) {
			t.Errorf("%q", got)
		}
	})
}

func TestL71_ARegisteredValueIsReplacedWhereverItStands(t *testing.T) {
	const value = `harm/less "value" & more`
	var r Redactor
	if err := r.Know("MODEL_KEY", value); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("[redacted: the secret MODEL_KEY, %d characters]", len(value))
	for _, around := range []string{"%s", "echo %s", "x%sy", "password=%s", "https://u:%s@h/", "%[1]s%[1]s"} {
		got, _ := r.Redact(fmt.Sprintf(around, value))
		if strings.Contains(got, "less") || !strings.Contains(got, want) {
			t.Errorf("%q leaks in %q", value, got)
		}
	}
	for name, form := range map[string]string{
		"query":  url.QueryEscape(value),
		"path":   url.PathEscape(value),
		"base64": base64.StdEncoding.EncodeToString([]byte(value)),
		"json":   `harm/less \"value\" \u0026 more`,
		"hex":    fmt.Sprintf("%x", value),
	} {
		if got, counts := r.Redact("x " + form + " y"); counts["the secret MODEL_KEY"] != 1 || strings.Contains(got, form) {
			t.Errorf("the %s form leaks: %q", name, got)
		}
	}
	t.Run("across the end of what another rule found", func(t *testing.T) {
		var r Redactor
		_ = r.Know("K", "tail1234@and/more")
		got, _ := r.Redact("https://user:longpasstail1234@and/more/path")
		if strings.Contains(got, "more/") && strings.Contains(got, "and") {
			t.Errorf("a part of the value leaks: %q", got)
		}
	})
	t.Run("two values that overlap", func(t *testing.T) {
		var r Redactor
		_ = r.Know("A", "12345678")
		_ = r.Know("B", "5678abcd")
		if got, _ := r.Redact("x12345678abcdy"); strings.Contains(got, "abcd") || strings.Contains(got, "1234") {
			t.Errorf("a part leaks: %q", got)
		}
	})
	t.Run("a short value is refused", func(t *testing.T) {
		err := new(Redactor).Know("PIN", "1234567")
		if err == nil || strings.Contains(err.Error(), "1234567") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("the value of several lines keeps them", func(t *testing.T) {
		var r Redactor
		_ = r.Know("CERT", "line one\nline two\nline three")
		if got, _ := r.Redact("a\nline one\nline two\nline three\nb"); strings.Count(got, "\n") != 4 || strings.Contains(got, "two") {
			t.Errorf("%q", got)
		}
	})
}

func TestRedactorMayLearnWhileItIsUsed(t *testing.T) {
	var r Redactor
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			value := fmt.Sprintf("secret-number-%d", i)
			if err := r.Know("K", value); err != nil {
				t.Error(err)
			}
			if got, _ := r.Redact(value); got == value {
				t.Errorf("%q was forgotten", value)
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		if got, counts := r.Redact(fmt.Sprintf("secret-number-%d", i)); counts == nil {
			t.Errorf("%q was forgotten", got)
		}
	}
}

func TestVerbatimKeepsWhatOnlyLooksSecret(t *testing.T) {
	text := "TOKEN=ghp_" + fill(36) + "\n" + strings.Repeat("ab", 64) + "\n" + pemBlock("PRIVATE KEY", 2)
	var r Redactor
	for range 2 { // without a registered value and with one
		if p := Prepare(text, true, &r); p.Text != text || p.Redacted != nil || p.Note != "" {
			t.Errorf("a verbatim text was altered: %q, %q", p.Text, p.Note)
		}
		_ = r.Know("K", "another-value")
	}
	if p := Prepare(text, false, &r); strings.Contains(p.Text, fill(36)) || len(p.Redacted) != 3 {
		t.Errorf("a text that is not verbatim was not redacted: %q, %v", p.Text, p.Redacted)
	}
}

func TestVerbatimHidesRegisteredValues(t *testing.T) {
	const mark = "[redacted: the secret K, 12 characters]"
	var r Redactor
	if err := r.Know("K", "known-secret"); err != nil {
		t.Fatal(err)
	}
	if err := r.Know("CERT", "-----BEGIN X-----\nfirst-line-of-the-key\nsecond-line-of-it\nshort\n-----END X-----"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, want, note string }{
		{"alone", "known-secret", mark, NoteReplaced},
		{"in a setting", "3│KEY=known-secret\n", "3│KEY=" + mark + "\n", NoteReplaced},
		{"twice, side by side", "known-secretknown-secret", mark + mark, NoteReplaced},
		{"encoded", "a25vd24tc2VjcmV0 6b6e6f776e2d736563726574", "[redacted: the secret K, 16 characters] [redacted: the secret K, 24 characters]", NoteReplaced},
		{"beside what is shown escaped", "\x1bknown-secret\u202e", `\u{1b}` + mark + `\u{202e}`,
			"In this text: 1 control character, 1 invisible character shown escaped. " + NoteReplaced},
		{"one line of several, numbered", "1│-----BEGIN X-----\n2│first-line-of-the-key\n4│short\n",
			"1│-----BEGIN X-----\n2│[redacted: the secret CERT, 21 characters]\n4│short\n", NoteReplaced},
		{"none", "known-secre", "known-secre", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Prepare(tt.text, true, &r)
			if p.Text != tt.want || p.Note != tt.note || (p.Redacted == nil) != (tt.note == "") {
				t.Errorf("%q, %v, note %q", p.Text, p.Redacted, p.Note)
			}
		})
	}
	t.Run("over the edges of a window", func(t *testing.T) {
		const text = "a known-secret\r\nb"
		for from := range text {
			for to := from + 1; to <= len(text); to++ {
				p := PrepareWindow(text[:from], text[from:to], text[to:], true, &r)
				if touches := from < 14 && to > 2; touches != strings.Contains(p.Text, mark) || touches != (p.Redacted != nil) {
					t.Errorf("%q of %q is %q", text[from:to], text, p.Text)
				}
			}
		}
	})
	t.Run("and costs nothing where there is none", func(t *testing.T) {
		text := strings.Repeat("plain text of a file\n", 100)
		if n := testing.AllocsPerRun(10, func() { Prepare(text, true, &r) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestAnInvisibleCharacterDoesNotHideAToken(t *testing.T) {
	token := "ghp_" + fill(18) + "\u200b" + fill(18)
	if p := Prepare("x "+token, false, &Redactor{}); p.Redacted["GitHub token"] != 1 {
		t.Errorf("%q", p.Text)
	}
}

func TestRedactReturnsACleanTextItself(t *testing.T) {
	text := strings.Repeat("2026-11-30T12:00:00Z level=info msg=\"token refreshed for user\" path=/a/b\n", 1000)
	var r Redactor
	r.Redact(text)
	if n := testing.AllocsPerRun(10, func() { r.Redact(text) }); n != 0 {
		t.Errorf("%v allocations for a text without secrets", n)
	}
}

// FuzzRedact checks that a registered value never passes, that the lines
// stay, and that a redacted text is not redacted again.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"password=hunter22x", "ghp_" + fill(36), "sk-ant-" + fill(40), "eyJ" + fill(12) + ".eyJ" + fill(12) + "." + fill(12), pemBlock("PRIVATE KEY", 1),
		"Bearer " + fill(20), "Basic dXNlcjpwYXNz", "https://u:p4ssw0rd@h", "data:a/b;base64," + fill(64), strings.Repeat("0f", 32), `"secret":"q1w2e3r4"`,
		"--token a1b2c3d4", "known-secret", "aknown-secretknown-secretb", "TOKEN=known-secret", "https://u:known-secret@h",
	} {
		f.Add(s)
	}
	var r Redactor
	if err := r.Know("K", "known-secret"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, counts := r.Redact(s)
		if strings.Contains(got, "known-secret") {
			t.Errorf("Redact(%q) = %q leaks", s, got)
		}
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Errorf("Redact(%q) = %q has other lines", s, got)
		}
		if (counts == nil) != (got == s) {
			t.Errorf("Redact(%q) = %q counts %v", s, got, counts)
		}
		if again, more := r.Redact(got); more != nil {
			t.Errorf("Redact(%q) = %q is redacted again: %q", s, got, again)
		}
	})
}

func TestPrepareWindowSeesASecretAcrossItsEdges(t *testing.T) {
	key := pemBlock("RSA PRIVATE KEY", 20)
	text := "one\n" + key + "\nlast\n"
	whole := strings.Count(text, "\n")
	for from := 0; from < whole; from++ {
		at := 0
		for range from {
			at += strings.IndexByte(text[at:], '\n') + 1
		}
		end := at + strings.IndexByte(text[at:], '\n') + 1
		p := PrepareWindow(text[:at], text[at:end], text[end:], false, &Redactor{})
		if strings.Contains(p.Text, fill(10)) || strings.Count(p.Text, "\n") != 1 {
			t.Errorf("line %d leaks or moved: %q", from+1, p.Text)
		}
		if inside := from >= 1 && from <= 22; inside != strings.Contains(p.Text, fmt.Sprintf("[redacted: private key, %d characters]", len(key))) {
			t.Errorf("line %d: %q", from+1, p.Text)
		}
	}
	t.Run("and changes nothing else", func(t *testing.T) {
		if p := PrepareWindow("password=", "x", "12345678", true, &Redactor{}); p.Text != "x" {
			t.Errorf("%q", p.Text)
		}
		if p := PrepareWindow("a\x1b[1m", "b\x1b[1m", "c", false, &Redactor{}); p.Text != "b" || p.Removed.Sequences != 1 {
			t.Errorf("%q, %+v", p.Text, p.Removed)
		}
	})
}
