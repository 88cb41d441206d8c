#!/usr/bin/env python3
"""Tests of ./krepro: packages, building, interruption, locks. The system around it is pretended by small scripts in PATH
(fake apt-get, dpkg-query, cmake, ctest), so that nothing is installed and no compiler runs.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]

# Each fake appends its command line to calls.log, and does what the files in its directory say.
FAKES = {
    "id": 'if [ "$1" = -u ]; then cat "$FAKE/uid"; else exec /usr/bin/id "$@"; fi',
    "sudo": "exit 1",
    "dpkg": 'case "$*" in *--audit*) cat "$FAKE/audit" 2>/dev/null ;; *--configure*) rm -f "$FAKE/audit" ;; esac',
    "dpkg-query": 'for p in "$@"; do if grep -qxF -- "$p" "$FAKE/installed"; then echo "$p:installed"; fi; done; exit 1',
    "apt-cache": '''for p in "$@"; do
  if grep -qxF -- "$p" "$FAKE/available"; then printf '%s:\\n  Installed: (none)\\n  Candidate: 1\\n' "$p"; fi
done''',
    "apt-get": '''
case " $* " in
  *" update "*) cp "$FAKE/mirror" "$FAKE/available"; mkdir -p "$KREPRO_SYSTEM_ROOT/var/lib/apt/lists"
                : >"$KREPRO_SYSTEM_ROOT/var/lib/apt/lists/x_Packages" ;;
  *" -s "*) if [ -e "$FAKE/conflict" ]; then
              case " $* " in *" --no-remove "*) exit 100 ;; *) echo "Remv libold-dev [1.0]" ;; esac
            fi ;;
  *" install "*)
    if [ -e "$FAKE/hang" ]; then touch "$FAKE/hanging"; exec sleep 600; fi
    if "$KREPRO_SYSTEM_ROOT/usr/sbin/policy-rc.d" server start; then echo "started" >>"$FAKE/services"; fi
    mkdir -p "$KREPRO_SYSTEM_ROOT/etc/systemd/system/multi-user.target.wants"
    ln -sf /lib/server.service "$KREPRO_SYSTEM_ROOT/etc/systemd/system/multi-user.target.wants/server.service"
    if [ -e "$FAKE/offline" ]; then echo "E: Failed to fetch http://mirror/x  404  Not Found"; exit 100; fi
    for p in "$@"; do case $p in -*|*=*|install) ;; *) echo "$p" >>"$FAKE/installed" ;; esac; done ;;
esac''',
    "cmake": '''
case " $* " in
  *" --preset "*)
    for preset in "$@"; do if [ "$last" = --preset ]; then break; fi; last=$preset; done
    mkdir -p "$ROOT/build/$preset"
    if [ -e "$FAKE/missing-library" ]; then cp "$FAKE/missing-library" "$ROOT/build/$preset/missing-libraries.txt"; exit 1; fi
    cp "$FAKE/skipped" "$ROOT/build/$preset/skipped-generators.txt" 2>/dev/null
    : >"$ROOT/build/$preset/build.ninja"; : >"$ROOT/build/$preset/CMakeCache.txt" ;;
  *" --build "*)
    if [ -e "$FAKE/slow" ]; then touch "$FAKE/building"; sleep "$(cat "$FAKE/slow")"; fi
    if [ -e "$FAKE/broken" ]; then
      printf 'FAILED: suite/a.o\\nc++ -c a very long line\\nsuite/a.cpp:1:2: error: no such thing\\n'; exit 1
    fi
    mkdir -p "$2/bin"
    printf '#!/bin/sh\\nprintf "[%%s]" "$@"\\n' >"$2/bin/krepro"; chmod 755 "$2/bin/krepro" ;;
esac''',
    "ctest": 'echo "100% tests passed"; exit "$(cat "$FAKE/ctest-status" 2>/dev/null || echo 0)"',
}

LOGGING = """#!/bin/sh
printf '%s\\n' "{name} $*" >>"$FAKE/calls.log"
"""


class LauncherTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="krepro launcher ")  # a path with spaces
        top = Path(self.directory.name).resolve()
        self.root, self.fake, self.system = top / "the clone", top / "fake", top / "system"
        for folder in (self.root / "suite", self.root / "common", self.fake / "bin", self.system):
            folder.mkdir(parents=True)
        shutil.copytree(SOURCE / "cmake", self.root / "cmake")
        for name in ("krepro", "CMakeLists.txt", "CMakePresets.json"):
            shutil.copy2(SOURCE / name, self.root / name)
        (self.root / "suite/main.cpp").write_text("int main() {}\n")
        for name, body in FAKES.items():
            script = self.fake / "bin" / name
            script.write_text(LOGGING.format(name=name) + body + "\n")
            script.chmod(0o755)
        packages = self.package_names()
        self.write("uid", "0\n")
        self.write("installed", "\n".join(packages) + "\n")
        self.write("available", "")
        self.write("mirror", "\n".join(packages) + "\n")
        self.environment = {**os.environ, "PATH": f"{self.fake}/bin:{os.environ['PATH']}", "FAKE": str(self.fake),
                            "ROOT": str(self.root), "KREPRO_SYSTEM_ROOT": str(self.system), "LC_ALL": "C"}

    def tearDown(self):
        for path in [self.root, *self.root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        self.directory.cleanup()

    def package_names(self):
        lines = (SOURCE / "cmake/packages.txt").read_text().splitlines()
        return [name for line in lines if line and not line.startswith("#") for name in line.split()[1].split("|")]

    def write(self, name, text):
        (self.fake / name).write_text(text)

    def krepro(self, *arguments, **options):
        return subprocess.run([str(options.pop("program", self.root / "krepro")), *arguments], capture_output=True, text=True,
                              env=self.environment, timeout=300, check=False, **options)

    def start(self, *arguments):
        return subprocess.Popen([str(self.root / "krepro"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=self.environment)

    def calls(self, word):
        log = self.fake / "calls.log"
        return [line for line in log.read_text().splitlines() if line.startswith(word)] if log.exists() else []

    def wait_for(self, name):
        deadline = time.monotonic() + 120
        while not (self.fake / name).exists():
            self.assertLess(time.monotonic(), deadline, f"{name} did not appear")
            time.sleep(0.02)

    def processes(self):
        """What the launcher started and what still runs: it has our directory in its environment."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            if f"FAKE={self.fake}\0".encode() in environment:
                found.append(int(process.name))
        return found

    def policy(self):
        return self.system / "usr/sbin/policy-rc.d"


class Building(LauncherTest):
    def test_the_first_call_builds_and_hands_over_all_arguments(self):
        answer = self.krepro("run", "a b", "--x=*")
        self.assertEqual(answer.stdout, "[run][a b][--x=*]", answer.stderr)
        self.assertIn("krepro: building (once, about", answer.stderr)
        self.assertEqual(answer.returncode, 0)

    def test_a_later_call_says_and_does_nothing_else(self):
        self.krepro("x")
        before = len(self.calls(""))
        answer = self.krepro("y")
        self.assertEqual((answer.stdout, answer.stderr), ("[y]", ""))
        self.assertEqual(len(self.calls("")), before)

    def test_any_change_of_the_sources_builds_again(self):
        self.krepro("x")
        changes = [
            lambda: (self.root / "suite/main.cpp").write_text("int main() { return 1; }\n"),
            lambda: (self.root / "common/new.cpp").write_text("\n"),
            lambda: (self.root / "common/new.cpp").unlink(),
            lambda: (self.root / "cmake/targets.cmake").write_text("\n"),
            lambda: (self.root / "build/release/bin/krepro").unlink(),
        ]
        for change in changes:
            builds = len(self.calls("cmake --build"))
            change()
            self.assertEqual(self.krepro("y").stdout, "[y]")
            self.assertEqual(len(self.calls("cmake --build")), builds + 1)
            self.assertEqual(self.krepro("y").stderr, "")

    def test_an_edit_during_the_build_is_not_taken_for_built(self):
        self.write("slow", "1")
        call = self.start("x")
        self.wait_for("building")
        (self.root / "suite/main.cpp").write_text("int main() { return 2; }\n")
        call.communicate(timeout=300)
        self.assertIn("sources changed", self.krepro("y").stderr)

    def test_a_clone_that_was_moved_is_configured_anew(self):
        self.krepro("x")
        moved = self.root.with_name("moved")
        self.root.rename(moved)
        self.root = moved
        self.environment["ROOT"] = str(moved)
        self.assertEqual(self.krepro("y").stdout, "[y]")
        self.assertIn("--fresh", self.calls("cmake -S")[-1])

    def test_a_failed_build_shows_the_first_error_and_is_tried_again(self):
        self.write("broken", "")
        answer = self.krepro("x")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("suite/a.cpp:1:2: error: no such thing", answer.stderr)
        self.assertNotIn("a very long line", answer.stderr)
        self.assertIn("build/release/build.log", answer.stderr)
        (self.fake / "broken").unlink()
        self.assertEqual(self.krepro("x").stdout, "[x]")

    def test_generators_that_are_left_out_are_named_once(self):
        self.write("skipped", "memcached: libmemcached is missing\n")
        self.assertIn("memcached: libmemcached is missing", self.krepro("x").stderr)
        self.assertEqual(self.krepro("x").stderr, "")

    def test_it_works_from_elsewhere_through_a_link_without_stdin_and_into_a_pipe(self):
        link = self.root.parent / "link"
        link.symlink_to(self.root / "krepro")
        self.assertEqual(self.krepro("x", program=link, cwd="/").stdout, "[x]")
        closed = subprocess.run(["bash", "-c", '"$0" z <&- | head -c 3', str(link)], capture_output=True, text=True,
                                env=self.environment, timeout=300, check=False)
        self.assertEqual(closed.stdout, "[z]")

    def test_tests_are_built_apart_and_ctest_speaks_last(self):
        answer = self.krepro("test", "-R", "units")
        self.assertEqual(answer.stdout, "100% tests passed\n")
        self.assertIn("-R units", self.calls("ctest")[0])
        self.assertEqual(answer.returncode, 0)
        self.write("ctest-status", "8")
        self.assertEqual(self.krepro("test").returncode, 1)

    def test_run_asks_for_no_package_of_the_tests(self):
        self.krepro("x")
        self.assertNotIn("libgtest-dev", " ".join(self.calls("dpkg-query")))
        self.krepro("test")
        self.assertIn("libgtest-dev", " ".join(self.calls("dpkg-query")))

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_read_only_tree_runs_what_is_built_and_else_says_what_to_do(self):
        self.krepro("x")
        for path in (self.root / "build", self.root):
            path.chmod(0o555)
        self.assertEqual(self.krepro("y").stdout, "[y]")
        (self.root / "suite/main.cpp").write_text("\n")
        answer = self.krepro("y")
        self.assertEqual(answer.returncode, 3)
        self.assertIn("git clone", answer.stderr)


class Interrupting(LauncherTest):
    def test_an_interrupted_build_leaves_no_process_and_the_next_call_goes_on(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.write("slow", "600")
            call = self.start("x")
            self.wait_for("building")
            call.send_signal(number)
            _, errors = call.communicate(timeout=300)
            self.assertEqual(call.returncode, 130, errors)
            # What was killed may take a moment to vanish; what was left behind would sleep for minutes.
            deadline = time.monotonic() + 10
            while self.processes() and time.monotonic() < deadline:
                time.sleep(0.05)
            self.assertEqual(self.processes(), [])
            (self.fake / "building").unlink()
            (self.fake / "slow").unlink()
            self.assertEqual(self.krepro("y").stdout, "[y]")
            (self.root / "build/release/bin/krepro").unlink()

    def test_a_killed_build_is_waited_for_and_then_the_next_call_goes_on(self):
        self.write("slow", "2")
        call = self.start("x")
        self.wait_for("building")
        call.kill()
        call.communicate(timeout=300)
        self.assertEqual(self.krepro("y").stdout, "[y]")

    def test_two_calls_build_once(self):
        self.write("slow", "1")
        calls = [self.start("a"), self.start("b")]
        answers = [call.communicate(timeout=300) for call in calls]
        self.assertEqual([answer[0] for answer in answers], ["[a]", "[b]"])
        self.assertEqual(len(self.calls("cmake --build")), 1)
        self.assertIn("waiting for another krepro", answers[0][1] + answers[1][1])

    def test_an_interrupted_installation_restores_the_policy_and_is_finished_next_time(self):
        self.write("installed", "")
        self.policy().parent.mkdir(parents=True)
        self.policy().write_text("#!/bin/sh\nexit 0 # the user's\n")
        self.write("hang", "")
        call = self.start("x")
        self.wait_for("hanging")
        self.assertIn("krepro", self.policy().read_text())
        call.send_signal(signal.SIGINT)
        call.communicate(timeout=300)
        self.assertEqual(call.returncode, 130)
        self.assertIn("the user's", self.policy().read_text())
        (self.fake / "hang").unlink()
        self.write("audit", "g++ is half configured\n")
        self.assertEqual(self.krepro("y").stdout, "[y]")
        self.assertTrue(self.calls("dpkg --force-confdef --force-confold --configure -a"))

    def test_a_policy_left_by_a_killed_call_steps_aside(self):
        self.write("installed", "")
        self.write("hang", "")
        call = self.start("x")
        self.wait_for("hanging")
        call.kill()
        call.communicate(timeout=300)
        # apt-get still runs and holds the lock, so services stay down as long as it does.
        self.assertEqual(subprocess.run([self.policy()], check=False).returncode, 101)
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        while self.processes():
            time.sleep(0.02)
        self.assertEqual(subprocess.run([self.policy()], check=False).returncode, 0)
        self.assertFalse(self.policy().exists())


class Packages(LauncherTest):
    def test_the_list_is_well_formed(self):
        for line in (SOURCE / "cmake/packages.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                self.assertRegex(line, r"^(run|test|ci)(\?\w+)?\s+[a-z0-9.+|-]+\s+\S.*$")

    def test_what_is_missing_is_installed_once_with_lists_fetched_where_there_are_none(self):
        self.write("installed", "g++\n")
        answer = self.krepro("x")
        self.assertEqual(answer.stdout, "[x]", answer.stderr)
        self.assertRegex(answer.stderr, r"installing \d+ packages \(once\)")
        install = self.calls("apt-get")[-1]
        self.assertIn("--no-install-recommends", install)
        self.assertIn("--no-remove", install)
        self.assertNotIn(" g++", install)
        self.assertTrue(any(" update" in call for call in self.calls("apt-get")))
        self.assertNotIn("libgtest-dev", install)

    def test_one_alternative_of_several_is_enough(self):
        names = [n for n in self.package_names() if n != "libboost1.81-dev"]
        self.write("installed", "\n".join(names) + "\n")
        self.krepro("x")
        self.assertEqual(self.calls("apt-get"), [])

    def test_no_service_is_started_or_enabled(self):
        self.write("installed", "")
        answer = self.krepro("x")
        self.assertFalse((self.fake / "services").exists())
        self.assertFalse(self.policy().exists())
        self.assertFalse((self.system / "etc/systemd/system/multi-user.target.wants/server.service").is_symlink())
        self.assertIn("not enabled at boot: server.service", answer.stderr)

    def test_without_root_the_line_to_type_is_printed(self):
        self.write("uid", "1000\n")
        self.write("installed", "g++\n")
        answer = self.krepro("x")
        self.assertEqual(answer.returncode, 3)
        self.assertRegex(answer.stderr, r"sudo apt-get install --no-install-recommends --no-remove .*\bcmake\b")
        self.assertEqual(self.calls("apt-get"), [])

    def test_nothing_of_the_users_is_removed(self):
        self.write("installed", "")
        self.write("conflict", "")
        answer = self.krepro("x")
        self.assertEqual(answer.returncode, 3)
        self.assertIn("would remove: libold-dev", answer.stderr)
        self.assertIn("apt-get install --no-install-recommends", answer.stderr)
        self.assertFalse(self.policy().exists())
        self.assertFalse(any(" install " in c and " -s " not in c for c in self.calls("apt-get")))

    def test_a_mirror_that_cannot_be_reached_is_named(self):
        self.write("installed", "")
        self.write("offline", "")
        answer = self.krepro("x")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("E: Failed to fetch http://mirror/x", answer.stderr)
        self.assertFalse(self.policy().exists())

    def test_a_package_that_the_distribution_lacks_ends_it_only_where_every_build_needs_it(self):
        packages = self.root / "cmake/packages.txt"
        packages.write_text(packages.read_text() + "run?rare librare-dev for a rare generator\n")
        self.write("installed", "")
        self.assertEqual(self.krepro("x").stdout, "[x]")
        packages.write_text(packages.read_text() + "run librequired-dev for all\n")
        answer = self.krepro("x")
        self.assertEqual(answer.returncode, 3)
        self.assertIn("librequired-dev", answer.stderr)

    def test_libraries_that_cmake_does_not_find_are_all_named(self):
        self.write("missing-library", "fmt (Debian: libfmt-dev)\nhwloc (Debian: libhwloc-dev)\n")
        answer = self.krepro("x")
        self.assertEqual(answer.returncode, 3)
        self.assertIn("fmt (Debian: libfmt-dev)", answer.stderr)
        self.assertIn("hwloc (Debian: libhwloc-dev)", answer.stderr)


if __name__ == "__main__":
    unittest.main()
