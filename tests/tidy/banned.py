"""The table of banned calls: what is matched, where it is allowed, and what to write instead. Used by tidy.py only."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Ban:
    pattern: str  # regular expression, matched in code without comments
    instead: str  # what to write, and why
    allowed: str = ""  # paths where it may stand; matched at their start
    only: str = ""  # the ban holds below these paths alone; empty: everywhere
    tests_too: bool = True
    in_strings: bool = False  # look into string literals as well

    def applies_to(self, path, is_test):
        if is_test and not self.tests_too:
            return False
        if self.allowed and re.match(self.allowed, path):
            return False
        return not self.only or re.match(self.only, path) is not None


# A call of the C library or of std::, and not a method or a function of ours with that name.
CALL = r"(?<![\w.>:])(?:std::|::)?"

BANNED = [
    Ban(CALL + r"(?:system|popen)\s*\(\s*(?!\))", "run_command() or Child::spawn(): no shell, nothing left behind"),
    Ban(CALL + r"v?sprintf\s*\(", "fmt::format(), or std::snprintf() where nothing may be allocated"),
    Ban(CALL + r"(?:strcpy|strcat|strncpy|stpcpy|gets)\s*\(", "std::string, or std::memcpy() with a checked size"),
    Ban(CALL + r"(?:strtok|strtok_r)\s*\(", "std::string_view and find()"),
    Ban(CALL + r"(?:atoi|atol|atoll|atof|sscanf)\s*\(",
        "common/base/units.h, or std::from_chars(): both tell an error"),
    Ban(CALL + r"(?:(?:rand|random|drand48)\s*\(\s*\)|(?:srand|srandom|rand_r)\s*\()", "RandomStream: seeded, the same everywhere"),
    Ban(r"std::(?:random_device|mt19937|default_random_engine|\w+_distribution|shuffle)\b|#\s*include\s*<random>",
        "RandomStream: the results of std:: distributions are not specified"),
    Ban(CALL + r"(?:gettimeofday|clock|times)\s*\(|" + CALL + r"time\s*\(\s*(?:nullptr|NULL|0|&)|"
        r"std::chrono::(?:system|steady|high_resolution)_clock",
        "now_ns(): the one clock of measurements",
        allowed=r"common/timing/clock|generators/http/embedded_worker"),  # a server dates its answers
    Ban(r"\bCLOCK_REALTIME\b|" + CALL + r"(?:localtime|gmtime|ctime|asctime|localtime_r)\s*\(",
        "now_ns() to measure; a date in a record comes from suite/record alone",
        allowed=r"suite/record/|common/timing/clock", tests_too=False),
    Ban(CALL + r"(?:select|pselect)\s*\(|\bFD_(?:SET|ZERO|CLR|ISSET)\b", "poll() or epoll: no limit of 1024 descriptors"),
    Ban(r"\bvolatile\b", "std::atomic, or a benchmark's DoNotOptimize()"),
    Ban(CALL + r"v?fork\s*\(", "Child::spawn(): it leaves nothing behind and checks for threads",
        allowed=r"common/process/|common/generator/worker_pool|generators/hackbench/", tests_too=False),
    Ban(r"\bPR_SET_PDEATHSIG\b", "the keeper of Child: parent-death signals are lost on fork and on changing user",
        allowed=r"common/generator/worker_pool"),
    Ban(r"\bstd::regex\b|#\s*include\s*<regex>", "slow to build and to run, and recursive: parse by hand",
        allowed=r"suite/(?:original|fidelity)/", tests_too=False),
    Ban(r"\bstd::(?:j?thread|async)\b", "one thread here: children are forked, and that needs a single-threaded caller",
        only=r"suite/|common/(?:base|process)/", tests_too=False),
    Ban(r"\bcpu_set_t\b|\bCPU_(?:SET|ZERO|ISSET|CLR|COUNT)\b", "CpuSet: cpu_set_t ends at 1024 CPUs",
        allowed=r"common/affinity/"),
    Ban(CALL + r"(?:sched_setaffinity|pthread_setaffinity_np|sched_setscheduler|setpriority)\s*\(",
        "common/affinity: applied, then read back", allowed=r"common/affinity/|generators/hackbench/load/"),
    Ban(CALL + r"assert\s*\(|#\s*include\s*<cassert>", "KREPRO_CHECK: on in release builds too"),
    Ban(r"\bstd::(?:cout|cerr|clog|endl)\b|#\s*include\s*<iostream>", "fmt::print()"),
    Ban(r"(?:\b(?:open|openat|fopen|opendir|readlink|stat|lstat|access|[io]?fstream|directory_iterator|read_symlink)|"
        r"filesystem::(?:exists|is_\w+))\s*(?:\w+\s*)?[({][^;\n]*\"/(?:proc|sys)\b",
        "HostFiles: tests, agents and fixtures replace the root", allowed=r"common/base/host_files", tests_too=False,
        in_strings=True),
]
