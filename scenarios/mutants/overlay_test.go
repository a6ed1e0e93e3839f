package mutants

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shop is the package that the mutants of these tests are in.
const shop = `package shop

import (
	"fmt"
	"runtime"
	"strings"
)

type Till struct{ coins int }

func (t *Till) Put(n int) {
	t.coins += n
}

func (t Till) Count() (coins int, err error) { return t.coins, nil }

func (*Till) Name() string { return "till" }

func (_ Till) Size(_ int, int2 int, _, _ string) int {
	return int2
}

func Sum(first int, rest ...int) int {
	for _, n := range rest {
		first += n
	}
	return first
}

func Unnamed(int, ...string) string {
	return "whole"
}

func Empty() () { log = append(log, "whole") }

var log []string

func Log() string { return strings.Join(log, ",") }

func Line() string {
	greet := "a" +
		"b"
	raw := ` + "`x\ny`" + `
	_, _, line, _ := runtime.Caller(0)
	_, file, end, _ := runtime.Caller(0)
	return fmt.Sprint(len(greet+raw), " ", line, " ", end, " ", file[strings.LastIndex(file, "/")+1:])
}

func Fact(n int) int {
	if n < 2 {
		return 1
	}
	return n * Fact(n-1)
}

func Caught() (s string) {
	defer func() {
		if recover() != nil {
			s = "caught"
		}
	}()
	return "whole"
}

func recovers() { recover() }

func Max[T int | string](a, b T) T { return max(a, b) }

type Box[T any] struct{ v T }

func (b *Box[T]) Get() T { return b.v }

func twice() { log = append(log, "x"); log = append(log, "x") }
`

const shopMain = `package main

import (
	"fmt"

	"fixture.test/m/lifecycle/shop"
)

func main() {
	var t shop.Till
	t.Put(5)
	n, err := t.Count()
	fmt.Println("put", n, err)
	fmt.Println("name", t.Name())
	fmt.Println("size", t.Size(1, 2, "a", "b"))
	fmt.Println("sum", shop.Sum(1, 2, 3))
	fmt.Println("unnamed", shop.Unnamed(1, "a"))
	shop.Empty()
	fmt.Println("empty", shop.Log())
	fmt.Println("line", shop.Line())
	fmt.Println("fact", shop.Fact(4))
	fmt.Println("caught", shop.Caught())
}
`

// fixture writes a module with shop and a command that prints what each of its functions gives.
func fixture(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                 "module fixture.test/m\n\ngo 1.26\n",
		"lifecycle/shop/shop.go": shop,
		"cmd/shop/main.go":       shopMain,
	} {
		to := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o644))
	}
	return root
}

func in(id, fn, find, replace string) Mutant {
	return Mutant{ID: id, File: "lifecycle/shop/shop.go", Func: fn, Find: find, Replace: replace}
}

func TestBuild(t *testing.T) {
	tests := []struct {
		name    string
		mutant  Mutant
		changed map[string]string // by the first word of a line of the output
	}{
		{"no mutant leaves all as it is", Mutant{}, nil},
		{"a method on a pointer", in("put-twice", "(*Till).Put", "+= n", "+= 2*n"), map[string]string{"put": "10 <nil>"}},
		{"another mutant of the same function", in("put-none", "Till.Put", "t.coins += n", ""), map[string]string{"put": "0 <nil>"}},
		{"named results", in("count-error", "Till.Count", "return t.coins, nil", "err = fmt.Errorf(\"broken\"); return"), map[string]string{"put": "0 broken"}},
		{"a receiver without a name", in("name", "*Till.Name", "till", "drawer"), map[string]string{"name": "drawer"}},
		{"blank receiver and parameters", in("size", "Till.Size", "int2", "int2 + 1"), map[string]string{"size": "3"}},
		{"variadic parameters", in("sum", "Sum", "first += n", "first -= n"), map[string]string{"sum": "-4"}},
		{"parameters without names", in("unnamed", "Unnamed", `"whole"`, `"broken"`), map[string]string{"unnamed": "broken"}},
		{"no results", in("empty", "Empty", `"whole"`, `"broken"`), map[string]string{"empty": "broken"}},
		{"lines stay right after a longer replacement", in("longer", "Line", "\t\t\"b\"\n", "\t\t\"b\" +\n\n\t\t\"c\" +\n\t\t\"d\"\n"), map[string]string{"line": "7 45 46 shop.go"}},
		{"lines stay right after a shorter one", in("shorter", "Line", "\"a\" +\n\t\t\"b\"", "``"), map[string]string{"line": "3 45 46 shop.go"}},
		{"a raw string is not cut by a line directive", in("raw", "Line", "x\ny`", "x\n\n\ny` + `\n`"), map[string]string{"line": "8 45 46 shop.go"}},
		{"recursion stays in the mutant", in("fact", "Fact", "n * ", "10 * n * "), map[string]string{"fact": "24000"}},
		{"a closure that recovers", in("caught", "Caught", `return "whole"`, `panic("broken")`), map[string]string{"caught": "caught"}},
	}
	whole := map[string]string{
		"put": "5 <nil>", "name": "till", "size": "2", "sum": "6", "unnamed": "whole", "empty": "whole", "line": "5 45 46 shop.go",
		"fact": "24", "caught": "whole",
	}

	root := fixture(t)
	var ms []Mutant
	for _, test := range tests[1:] {
		ms = append(ms, test.mutant)
	}
	// Inside of the module, where the go tool must not take the copies for packages.
	dir := filepath.Join(root, "bin", "mutants")
	bin, err := Build(t.Context(), root, "./cmd/shop", ms, dir)
	require.NoError(t, err)
	list := exec.CommandContext(t.Context(), "go", "list", "./...")
	list.Dir = root
	packages, err := list.Output()
	require.NoError(t, err)
	require.Equal(t, "fixture.test/m/cmd/shop\nfixture.test/m/lifecycle/shop\n", string(packages))
	left, err := os.ReadFile(filepath.Join(root, "lifecycle", "shop", "shop.go"))
	require.NoError(t, err)
	require.Equal(t, shop, string(left), "the tree is left as it was")

	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), bin)
			cmd.Env = append(cmd.Environ(), Variable+"="+test.mutant.ID)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			got := map[string]string{}
			for line := range strings.Lines(string(out)) {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				got[word] = rest
			}
			want := map[string]string{}
			for word, rest := range whole {
				want[word] = rest
			}
			for word, rest := range test.changed {
				want[word] = rest
			}
			require.Equal(t, want, got)
		})
	}
}

func TestBuildErrors(t *testing.T) {
	t.Run("what does not compile is said of its mutant, all together", func(t *testing.T) {
		_, err := Build(t.Context(), fixture(t), "./cmd/shop", []Mutant{
			in("fine", "Sum", "first += n", "first -= n"),
			in("unused", "Sum", "first += n", "x := n"),
			in("unused-too", "Sum", "return first", "\n\ny := 1; return first"),
			in("unknown", "Till.Put", "+= n", "= nobody"),
		}, t.TempDir())
		require.Error(t, err)
		require.NotErrorIs(t, err, ErrSource)
		require.NotContains(t, err.Error(), "fine.toml")
		for _, want := range []string{
			"scenarios/mutants/unused.toml: lifecycle/shop/shop.go:25: func Sum with its replacement does not compile: declared and not used: x",
			"scenarios/mutants/unused-too.toml: lifecycle/shop/shop.go:29: func Sum with its replacement does not compile: declared and not used: y",
			"scenarios/mutants/unknown.toml: lifecycle/shop/shop.go:12: func Till.Put with its replacement does not compile: undefined: nobody",
		} {
			require.Contains(t, err.Error(), want)
		}
	})
	t.Run("a source that does not compile is not laid at a mutant's door", func(t *testing.T) {
		root := fixture(t)
		require.NoError(t, os.WriteFile(filepath.Join(root, "cmd", "shop", "main.go"), []byte("package main\n\nfunc main() { nobody() }\n"), 0o644))
		_, err := Build(t.Context(), root, "./cmd/shop", []Mutant{in("fine", "Sum", "first += n", "first -= n")}, t.TempDir())
		require.ErrorIs(t, err, ErrSource)
		require.ErrorContains(t, err, "main.go:3:15: undefined: nobody")
	})
}

func TestOverlayErrors(t *testing.T) {
	tests := []struct {
		name   string
		mutant Mutant
		want   string
	}{
		{"a file that is not there", Mutant{ID: "m", File: "lifecycle/shop/shopp.go", Func: "Sum", Find: "x"},
			"there is no file lifecycle/shop/shopp.go"},
		{"a function that is not there", in("m", "Till.Putt", "x", ""),
			"lifecycle/shop/shop.go has no function Till.Putt; the nearest is Till.Put"},
		{"a method is not a function", in("m", "Put", "x", ""), "has no function Put; the nearest is Sum"},
		{"text that is not there", in("m", "Sum", "nowhere", ""),
			"lifecycle/shop/shop.go: find occurs 0 times in func Sum, want 1; the nearest is "},
		{"text of another function", in("m", "Sum", "t.coins += n", ""), "find occurs 0 times in func Sum, want 1; it is in func Till.Put"},
		{"text of the signature", in("m", "Sum", "rest ...int", ""), "find occurs 0 times in func Sum, want 1; it is in func Sum"},
		{"text that is there twice", in("m", "twice", `"x"`, `"y"`), "find occurs 2 times in func twice, want 1; it is in lines 74, 74"},
		{"a generic function", in("m", "Max", "max", "min"), "func Max is generic"},
		{"a method of a generic type", in("m", "Box.Get", "b.v", "b.v"), "func Box.Get is generic"},
		{"a function that recovers itself", in("m", "recovers", "recover()", "_ = recover()"), "func recovers calls recover itself"},
		{"a replacement that does not parse", in("m", "Sum", "first += n", "first += +"),
			"func Sum with its replacement does not parse: lifecycle/shop/shop.go:26: expected operand"},
		{"a replacement that is a second function", in("m", "Sum", "return first", "return 1 }\nfunc second() {"), "makes 2 declarations"},
	}
	root := fixture(t)
	var all []Mutant
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Overlay(root, []Mutant{test.mutant}, t.TempDir())
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "scenarios/mutants/m.toml: ")
		})
		m := test.mutant
		m.ID += string(rune('a' + i))
		all = append(all, m)
	}
	t.Run("all together", func(t *testing.T) {
		_, err := Overlay(root, all, t.TempDir())
		for i, test := range tests {
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, all[i].path())
		}
	})
}
