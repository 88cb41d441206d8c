#!/usr/bin/env python3
"""Shows that each rule of tidy.py finds what it forbids, and leaves alone what it allows."""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tidy  # noqa: E402

DOCS = Path(__file__).resolve().parents[2] / "docs"


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def findings(self, rule, files):
        with tempfile.TemporaryDirectory() as directory:
            self.root = Path(directory)
            for path, text in files.items():
                self.write(path, text)
            return list(rule(tidy.Tree(directory)))

    def assert_found(self, rule, files, path, line=None):
        found = self.findings(rule, files)
        self.assertEqual([f[0] for f in found], [path], found)
        if line is not None:
            self.assertEqual(found[0][1], line)

    def assert_clean(self, rule, files):
        self.assertEqual(self.findings(rule, files), [])


class Arrows(TidyTest):
    def include(self, path, header, quotes='""'):
        return {path: f"// A file.\n#include {quotes[0]}{header}{quotes[1]}\n"}

    def test_upward_and_sideways_includes_are_found(self):
        for path, header in [
            ("common/base/units.cpp", "common/timing/clock.h"),
            ("common/timing/clock.h", "common/process/child.h"),
            ("common/generator/frame.cpp", "suite/plan/plan.h"),
            ("generators/null/main.cpp", "generators/hackbench/hackbench.h"),
            ("generators/null/main.cpp", "suite/plan/plan.h"),
            ("suite/plan/plan.cpp", "generators/null/null.h"),
            ("suite/plan/plan.cpp", "plan.h"),
            ("suite/plan/plan.cpp", "../profile/profile.h"),
        ]:
            with self.subTest(path=path, header=header):
                self.assert_found(tidy.include_arrows, self.include(path, header), path, line=2)

    def test_the_projects_headers_in_angle_brackets_are_found(self):
        files = self.include("suite/a.cpp", "common/base/units.h", "<>")
        self.assert_found(tidy.include_arrows, files, "suite/a.cpp")

    def test_downward_includes_are_allowed(self):
        for path, header in [
            ("common/process/child.h", "common/affinity/cpu_set.h"),
            ("common/generator/frame.cpp", "common/timing/clock.h"),
            ("generators/null/main.cpp", "generators/null/null.h"),
            ("generators/null/main.cpp", "source_hash.h"),
            ("suite/plan/plan.cpp", "suite/profile/profile.h"),
        ]:
            with self.subTest(path=path, header=header):
                self.assert_clean(tidy.include_arrows, self.include(path, header))

    def test_heavy_headers_outside_their_place_are_found(self):
        rule = tidy.confined_headers
        self.assert_found(rule, self.include("suite/plan/plan.cpp", "toml++/toml.h", "<>"), "suite/plan/plan.cpp")
        self.assert_found(rule, self.include("suite/plan/plan.cpp", "hwloc.h", "<>"), "suite/plan/plan.cpp")
        self.assert_found(rule, self.include("common/generator/options.h", "CLI/CLI.hpp", "<>"),
                          "common/generator/options.h")
        twice = {**self.include("suite/profile/a.cpp", "toml++/toml.h", "<>"),
                 **self.include("suite/profile/b.cpp", "toml++/toml.h", "<>")}
        self.assert_found(rule, twice, "suite/profile/b.cpp")

    def test_a_generators_name_in_common_is_found_in_code_only(self):
        generator = {"generators/hackbench/main.cpp": ""}
        self.assert_found(tidy.common_names_no_generator,
                          {**generator, "common/base/a.cpp": 'auto name = "hackbench";\n'}, "common/base/a.cpp")
        self.assert_clean(tidy.common_names_no_generator,
                          {**generator, "common/base/a.cpp": '// As "hackbench" does.\n'})


class Banned(TidyTest):
    FORBIDDEN = {
        'int r = system("ls");': 3,
        'FILE* f = popen("ls", "r");': 3,
        'std::sprintf(buffer, "%d", 1);': 3,
        "strcpy(a, b);": 3,
        'auto* t = strtok(text, ",");': 3,
        "int n = std::atoi(text);": 3,
        "int n = rand();": 3,
        "std::mt19937 engine;": 3,
        "auto now = time(nullptr);": 3,
        "auto now = std::chrono::system_clock::now();": 3,
        "gettimeofday(&tv, nullptr);": 3,
        "clock_gettime(CLOCK_REALTIME, &ts);": 3,
        "select(n, &set, nullptr, nullptr, nullptr);": 3,
        "FD_SET(fd, &set);": 3,
        "volatile int x = 0;": 3,
        "pid_t pid = fork();": 3,
        "pid_t pid = ::fork();": 3,
        "prctl(PR_SET_PDEATHSIG, SIGKILL);": 3,
        "std::regex pattern(text);": 3,
        "std::thread worker(run);": 3,
        "cpu_set_t set;": 3,
        "sched_setaffinity(0, size, set);": 3,
        "assert(x);": 3,
        "std::cout << x;": 3,
        'int fd = ::open("/proc/stat", O_RDONLY);': 3,
        'std::ifstream in("/sys/kernel/x");': 3,
        'if (std::filesystem::exists("/proc/1")) return;': 3,
    }
    ALLOWED = [
        'HostFiles::system().read("/proc/stat");',
        'if (files.exists("/proc/1")) return;',
        'const HostFiles& files = HostFiles::system();',
        "table.select(rows);",
        "std::snprintf(buffer, sizeof buffer, x);",
        'auto text = "system(ls), rand() and volatile";',
        "// Not system(): it needs a shell.",
        "run_time(0); elapsed_time(nullptr); random.next();",
        "std::int64_t start = now_ns();",
        "std::this_thread::yield();",
        "RandomStream random(seed);",
        "static_assert(sizeof(int) == 4);",
    ]

    def source(self, line):
        return {"suite/plan/plan.cpp": f"// A file.\nvoid f() {{\n  {line}\n}}\n"}

    def test_forbidden_calls_are_found(self):
        for line, number in self.FORBIDDEN.items():
            with self.subTest(line=line):
                self.assert_found(tidy.banned_calls, self.source(line), "suite/plan/plan.cpp", number)

    def test_every_entry_of_the_table_has_a_forbidden_line_here(self):
        for ban in tidy.BANNED:
            with self.subTest(pattern=ban.pattern):
                self.assertTrue(any(tidy.re.search(ban.pattern, line) for line in self.FORBIDDEN))

    def test_what_only_looks_alike_is_left_alone(self):
        for line in self.ALLOWED:
            with self.subTest(line=line):
                self.assert_clean(tidy.banned_calls, self.source(line))

    def test_fork_is_allowed_where_children_are_made(self):
        self.assert_clean(tidy.banned_calls, {"common/process/keeper.cpp": "pid_t pid = fork();\n"})

    def test_a_lint_exception_without_a_name_is_found(self):
        self.assert_found(tidy.lint_exceptions_are_named, self.source("f();  // NOLINT"), "suite/plan/plan.cpp")
        self.assert_clean(tidy.lint_exceptions_are_named, self.source("f();  // NOLINT(bugprone-x): because"))


class Shape(TidyTest):
    def test_a_file_without_a_purpose_is_found(self):
        for path, text in [("suite/a.cpp", "#include <x>\n"), ("suite/b.h", "#pragma once\n"), ("tests/c.py", "import x\n"),
                           ("krepro", "#!/bin/bash\nset -e\n"), ("profiles/d.toml", 'title = "x"\n')]:
            with self.subTest(path=path):
                self.assert_found(tidy.purpose_comment, {path: text}, path)

    def test_a_purpose_is_seen(self):
        self.assert_clean(tidy.purpose_comment, {
            "suite/a.cpp": "// Parses what the other side has printed.\n",
            "suite/plan/b.h": "// Spells out each trial of a profile.\n",
            "suite/plan/b.cpp": '#include "suite/plan/b.h"\n',
            "krepro": "#!/bin/bash\n# Builds what has changed, then runs it.\n",
            "tests/c.py": '#!/usr/bin/env python3\n"""Shows that the launcher works."""\n'})

    def test_long_files_and_functions_are_found(self):
        self.assert_found(tidy.file_length, {"suite/a.cpp": "x;\n" * 501}, "suite/a.cpp")
        self.assert_clean(tidy.file_length, {"suite/a.cpp": "x;\n" * 500})
        body = "  x();\n" * 69
        for head in ("void f() {", "int A::f(int a) const noexcept {", "A::A(int a) : a_(a), b_(2) {", "TEST(A, B) {",
                     "auto f(int x) -> std::vector<int> {", "bool operator==(const A& a) {"):
            with self.subTest(head=head):
                text = "namespace k {\n" + head + "\n" + body + "}\n}\n"
                self.assert_found(tidy.function_length, {"suite/a.cpp": text}, "suite/a.cpp", line=2)
        self.assert_found(tidy.function_length, {"krepro": "f() {\n" + body + "}\n"}, "krepro")
        self.assert_found(tidy.function_length, {"tests/a.py": "def f():\n" + body * 2}, "tests/a.py")

    def test_short_functions_and_long_tables_are_left_alone(self):
        lambdas = "void f() {\n" + "  x([](int a) {\n    y();\n  });\n" * 22 + "}\n"
        table = "const Row rows[] = {\n" + '    {"{", 1},\n' * 100 + "};\n"
        scope = "namespace k {\nclass A {\n" + "  void f() {}\n" * 100 + "};\n}\n"
        self.assert_clean(tidy.function_length, {"suite/a.cpp": lambdas + table + scope})

    def test_dead_headers_are_found(self):
        header = "#pragma once\n"
        self.assert_found(tidy.dead_headers, {"suite/plan/a.h": header}, "suite/plan/a.h")
        self.assert_clean(tidy.dead_headers, {"suite/plan/a.h": header, "suite/b.cpp": '#include "suite/plan/a.h"\n'})

    def test_sources_are_ascii(self):
        self.assert_found(tidy.ascii_sources, {"suite/a.cpp": 'auto x = "\u00b1";\n'}, "suite/a.cpp", line=1)


class Pages(TidyTest):
    def test_dead_links_are_found(self):
        for link in ("[x](none.md)", "[x](b.md#none)", "[x](#none)"):
            with self.subTest(link=link):
                self.assert_found(tidy.links_resolve, {"docs/a.md": f"# A\n{link}\n", "docs/b.md": "# B\n"}, "docs/a.md", 2)

    def test_living_links_are_left_alone(self):
        self.assert_clean(tidy.links_resolve, {
            "README.md": "[b](docs/b.md), [w](https://kernel.org/x), `[c](in code)`, [f](docs)\n",
            "docs/b.md": "# Two words, `code`\n[up](../README.md) [here](#two-words-code)\n```\n[x](y)\n```\n"})

    def test_the_workplace_is_found(self):
        for text in ("/wo" "rk/wt", "see ../sha" "red/design.md", "as is" "sue 2 says"):
            with self.subTest(text=text):
                self.assert_found(tidy.no_workplace, {"docs/a.md": f"# A\n{text}\n"}, "docs/a.md", 2)
        self.assert_clean(tidy.no_workplace, {"docs/a.md": "# A\n$dir/wo" "rk/x, an issue of 2026, shared memory\n"})


class GeneratorPages(TidyTest):
    DESCRIPTION = {
        "name": "fake", "summary": "Does nothing.", "details": "Nothing at all.", "roles": ["load"], "positional": "",
        "metrics": [{"name": "seconds", "unit": "s", "better": "lower", "primary": True, "help": "how long"}],
        "options": [{"name": "groups", "aliases": ["g"], "type": "integer", "unit": "", "default": "10", "help": "a|b",
                     "means": "none", "origin": "original", "min": 1, "max": 99}], "original": None}

    def run_pages(self, *arguments):
        program = self.root / "krepro-fake"
        program.write_text("#!/bin/sh\ncat <<'END'\n" + json.dumps(self.DESCRIPTION) + "\nEND\n", encoding="utf-8")
        program.chmod(0o755)
        command = [sys.executable, DOCS / "generator_pages.py", "--out", self.root / "pages", *arguments, program]
        return tidy_run(command)

    def test_a_page_is_written_and_then_found_fresh_until_it_is_edited(self):
        self.assertNotEqual(self.run_pages("--check"), 0)
        self.assertEqual(self.run_pages(), 0)
        self.assertEqual(self.run_pages("--check"), 0)
        page = self.root / "pages" / "fake.md"
        self.assertIn("| `--groups`, `-g` | integer, 1 to 99 | `10` | a\\|b |", page.read_text(encoding="utf-8"))
        page.write_text(page.read_text(encoding="utf-8") + "edited\n", encoding="utf-8")
        self.assertNotEqual(self.run_pages("--check"), 0)


def tidy_run(command):
    import subprocess
    return subprocess.run(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                          timeout=60, check=False).returncode


if __name__ == "__main__":
    unittest.main()
