#!/usr/bin/env python3
"""The rules of the house that no compiler checks: tidy.py [--root DIR] [RULE...] prints PATH:LINE: findings.

Each rule is a function that yields findings for a Tree; adding one is adding a function to RULES. Rules about C++ look
at text, not at a syntax tree: they are cheap, need no compiler, and clang-tidy does the rest.
"""

import argparse
import ast
import re
import sys
from pathlib import Path

from banned import BANNED

TOP_FOLDERS = ("cmake", "common", "containers", "docs", "generators", "profiles", "suite", "tests", ".ci")
CPP = (".cpp", ".h")
LINES_PER_FILE = 500
LINES_PER_FUNCTION = 70


class Tree:
    """The project's files, relative to its root; texts are read once."""

    def __init__(self, root):
        self.root = Path(root)
        self._texts = {}
        found = [p for p in self.root.iterdir() if p.is_file()]
        for folder in TOP_FOLDERS:
            found += [p for p in (self.root / folder).rglob("*") if p.is_file()]
        self.files = sorted(
            str(p.relative_to(self.root)) for p in found
            if "__pycache__" not in p.parts and p.suffix not in (".pyc", ".swp", ".orig") and p.name != ".git")

    def text(self, path):
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._texts[path]

    def code(self, path):
        """The text of a C++ file without comments; strings stay. Lines keep their numbers."""
        key = ("code", path)
        if key not in self._texts:
            self._texts[key] = strip_comments(self.text(path))
        return self._texts[key]

    def cpp(self):
        return [f for f in self.files if f.endswith(CPP) and f.split("/")[0] in ("common", "generators", "suite", "tests")]

    def scripts(self):
        return [f for f in self.files if f.endswith((".py", ".sh")) or f in ("krepro", ".ci/run")]


def strip_comments(text, strings=False):
    """Blanks comments, and with `strings` the insides of string and character literals too."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^ ()\\\n]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'
        r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL)

    def blank(match):
        token = match.group(0)
        if token.startswith("/") or strings:
            return re.sub(r"[^\n]", " ", token)
        return token

    return pattern.sub(blank, text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def is_test(path):
    return path.startswith("tests/") or re.search(r"_(test|benchmark|fuzz)\.cpp$", path) is not None


def includes_of(tree, path):
    for match in re.finditer(r'^\s*#\s*include\s+(["<])([^">]+)[">]', tree.text(path), re.MULTILINE):
        yield line_of(tree.text(path), match.start()), match.group(1), match.group(2)


# Which folders a layer may include: itself and what stands below it.
ARROWS = {
    "common/base": [],
    "common/timing": ["common/base"],
    "common/affinity": ["common/base"],
    "common/process": ["common/base", "common/timing", "common/affinity"],
    "common/generator": ["common/base", "common/timing", "common/affinity", "common/process"],
    "generators": ["common"],
    "suite": ["common"],
    "tests": ["common", "suite"],
}
GENERATED_HEADERS = ("source_hash.h", "system_call_names.inc")


def layer_of(path):
    parts = path.split("/")
    return "suite" if parts[0] == "suite" else parts[0] if parts[0] == "tests" else "/".join(parts[:2])


def include_arrows(tree):
    """Dependencies point downward only; a generator knows no other generator and not the suite."""
    for path in tree.cpp():
        layer = layer_of(path)
        below = ARROWS.get(layer, ARROWS.get(layer.split("/")[0], []))
        for line, quote, name in includes_of(tree, path):
            if name in GENERATED_HEADERS:
                continue
            if quote == "<":
                if name.split("/")[0] in ("common", "generators", "suite"):
                    yield path, line, f'<{name}> is the project\'s own: write "{name}"'
                continue
            if not name.startswith(("common/", "generators/", "suite/", "tests/")):
                yield path, line, f'"{name}": write the path from the root of the project'
            elif not any(name.startswith(folder + "/") for folder in [layer, *below]):
                yield path, line, f'"{name}": {layer} may include only itself and {", ".join(below) or "nothing"}'


# Headers that cost seconds per inclusion, or tie a layer to a library: where they may stand.
CONFINED_HEADERS = [
    (r"CLI/", r"(common/generator|suite)/[^/]+(/[^/]+)?\.cpp$", 1, "CLI11"),
    (r"toml\+\+|^toml", r"suite/profile/[^/]+\.cpp$", 1, "toml++"),
    (r"hwloc", r"suite/placement/", 2, "hwloc"),
]


def confined_headers(tree):
    """Heavy headers are included in one .cpp of a layer, so that a full build takes minutes."""
    for pattern, place, at_most, library in CONFINED_HEADERS:
        seen = {}
        for path in tree.cpp():
            for line, _, name in includes_of(tree, path):
                if not re.search(pattern, name) or name.startswith(("common/", "suite/")):
                    continue
                if not re.match(place, path):
                    yield path, line, f"{library} belongs into {place}"
                users = seen.setdefault(path.split("/")[0], [])
                users += [path] if path not in users else []
                if users.index(path) >= at_most:
                    yield path, line, f"{library} is already included by {users[0]}: share that"


def common_names_no_generator(tree):
    """common/ is what every generator stands on: none of their names in its code (comments may give examples)."""
    folders = {f.split("/")[1] for f in tree.files if f.startswith("generators/") and f.count("/") > 1}
    words = sorted(folders - {"null", "http"})  # words of their own; those are caught as program names
    pattern = re.compile(r"\bkrepro-(?:%s)\b" % "|".join(sorted(folders) or ["-"]) +
                         (r"|\b(?:%s)\b" % "|".join(words) if words else ""))
    for path in tree.cpp():
        if path.startswith("common/") and not is_test(path):
            for match in pattern.finditer(tree.code(path)):
                yield path, line_of(tree.code(path), match.start()), f"names the generator {match.group(0)}"


def banned_calls(tree):
    """Calls that have a better one here; each finding names it."""
    for path in tree.cpp():
        code = tree.code(path)
        plain = strip_comments(tree.text(path), strings=True)
        for ban in BANNED:
            if ban.applies_to(path, is_test(path)):
                text = code if ban.in_strings else plain
                for match in re.finditer(ban.pattern, text):
                    yield path, line_of(text, match.start()), f"{match.group(0).strip()}: {ban.instead}"


def lint_exceptions_are_named(tree):
    """NOLINT without a check's name switches everything off."""
    for path in tree.cpp():
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if re.search(r"NOLINT(NEXTLINE|BEGIN|END)?(?!\w|\([a-z])", line):
                yield path, number, "name the check: NOLINT(check-name): reason"


def purpose_comment(tree):
    """A file opens with what it is for."""
    for path in tree.files:
        name = path.rsplit("/", 1)[-1]
        if name == "CMakeLists.txt" and tree.text(path).count("\n") <= 3:
            continue  # one call says it all
        if path.endswith(CPP):
            # foo.cpp may open with its header, where the purpose of both stands.
            own_header = path[:-len(".cpp")] + ".h" if path.endswith(".cpp") else ""
            pattern = r"// \S.{20,}" + (f'|#include "{re.escape(own_header)}"' if own_header in tree.files else "")
        elif path.endswith(".py"):
            pattern = r'(#!.*\n)?""".{20,}'
        elif (path.endswith((".sh", ".cmake")) or name == "CMakeLists.txt" or path in ("krepro", ".ci/run") or
              path.startswith("profiles/") and path.endswith(".toml")):
            pattern = r"(#!.*\n)?# .{20,}"
        else:
            continue
        if not re.match(pattern, tree.text(path)):
            yield path, 1, "open with a comment: what the file is for, and what it is not for"


def file_length(tree):
    """One thing per file."""
    for path in tree.cpp() + tree.scripts():
        lines = tree.text(path).count("\n")
        if lines > LINES_PER_FILE:
            yield path, lines, f"{lines} lines; at most {LINES_PER_FILE}"


def cpp_functions(text):
    """(first line, last line) of every function body, lambdas and local classes being part of theirs."""
    plain = strip_comments(text, strings=True)
    plain = re.sub(r"^[ \t]*#.*?(?<!\\)$", lambda m: re.sub(r"[^\n]", " ", m.group(0)), plain, flags=re.M | re.S)
    stack, since = [], 0
    for match in re.finditer(r"[{};]", plain):
        head = plain[since:match.start()].strip()
        since = match.end()
        if match.group(0) == "{":
            scope = re.search(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$", head)
            function = re.search(r"\)\s*(const|noexcept|override|final|mutable|&&?|->[^{};]+|:[^{};]*\))?(\s+\w+)*$", head)
            inside = any(kind == "function" for kind, _ in stack)
            kind = "scope" if scope and not inside else "function" if function and not inside else "other"
            stack.append((kind, match.start()))
        elif match.group(0) == "}" and stack:
            kind, start = stack.pop()
            if kind == "function":
                yield line_of(plain, start), line_of(plain, match.start())


def script_functions(path, text):
    if path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                yield node.lineno, node.end_lineno
        return
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\w+\(\) [{(]$", line):
            start = number
        elif line in ("}", ")") and start:
            yield start, number
            start = None


def function_length(tree):
    """A function does one thing."""
    for path in tree.cpp() + tree.scripts():
        text = tree.text(path)
        for first, last in cpp_functions(text) if path.endswith(CPP) else script_functions(path, text):
            if last - first + 1 > LINES_PER_FUNCTION:
                yield path, first, f"a function of {last - first + 1} lines; at most {LINES_PER_FUNCTION}"


def dead_headers(tree):
    """A header that nobody includes is dead."""
    used = {name for path in tree.cpp() for _, _, name in includes_of(tree, path)}
    for path in tree.cpp():
        if path.endswith(".h") and path not in used:
            yield path, 1, "no file includes this header"


def heading_anchor(heading):
    text = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip())
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors_of(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {heading_anchor(m.group(1)) for m in re.finditer(r"^#+ (.+)$", text, re.M)}


def links_resolve(tree):
    """Every relative link of a page leads to a file, and to a heading of it where it names one."""
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        text = re.sub(r"^```.*?^```|`[^`\n]+`", lambda m: re.sub(r"[^\n]", " ", m.group(0)), tree.text(path),
                      flags=re.M | re.S)
        for match in re.finditer(r"\]\(([^)\s]+)\)", text):
            target, _, anchor = match.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            line = line_of(text, match.start())
            file = (tree.root / path).parent / target if target else tree.root / path
            if not file.exists():
                yield path, line, f"{match.group(1)}: there is no such file"
            elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text(encoding="utf-8")):
                yield path, line, f"{match.group(1)}: there is no such heading"


# Put together from parts, so that this file does not find itself.
WORKPLACE = re.compile(r"(?<![\w.~})])/wo" r"rk/|\.\./sha" r"red/|\bsha" r"red/(facts|tools|design)|\bis" r"sue \d+\b|"
                       r"\bCo-Authored" r"-By\b|\bfresh" r"-machine\b", re.IGNORECASE)


def no_workplace(tree):
    """Nothing names the place where the project happened to be written."""
    for path in tree.files:
        for match in WORKPLACE.finditer(tree.text(path)):
            yield path, line_of(tree.text(path), match.start()), f"names a workplace: {match.group(0)}"


def ascii_sources(tree):
    """Output may be mailed and pasted: programs and their sources are ASCII."""
    for path in tree.cpp() + tree.scripts():
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if not line.isascii() and not is_test(path):
                yield path, number, "not ASCII"


RULES = [include_arrows, confined_headers, common_names_no_generator, banned_calls, lint_exceptions_are_named,
         purpose_comment, file_length, function_length, dead_headers, links_resolve, no_workplace, ascii_sources]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=str(Path(__file__).resolve().parents[2]))
    parser.add_argument("--list", action="store_true", help="print the rules' names")
    parser.add_argument("rules", nargs="*")
    arguments = parser.parse_args()
    by_name = {rule.__name__: rule for rule in RULES}
    if arguments.list:
        print("\n".join(by_name))
        return 0
    tree = Tree(arguments.root)
    findings = 0
    for name in arguments.rules or by_name:
        if name not in by_name:
            parser.error(f"no rule {name}; there are: {', '.join(by_name)}")
        for path, line, message in by_name[name](tree):
            findings += 1
            print(f"{path}:{line}: {message} [{name}]")
    if not tree.cpp():
        print(f"no sources below {arguments.root}")
        return 1
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
