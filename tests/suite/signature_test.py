#!/usr/bin/env python3
"""Every figure of `krepro show --signature` against a reading that krepro has no part in: on a made-up machine whose
counters move by known steps while the load runs, exactly; and on this one, where the same files are read before the run
and after it, and no counter may have moved further than they say."""
import json
import os
import re
import stat
import subprocess
import sys
import tempfile

command, generator = (os.path.abspath(argument) for argument in sys.argv[1:3])
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")

PROFILE = """
title = "signature"
[defaults]
repetitions = 3
[[benchmark]]
name = "sleeper"
generator = "null"
options = { latency = "1ms", wait = "sleep", runtime = "100ms" }
"""

# Stands between krepro and the generator: when the sample comes, the made-up machine's counters have moved.
WRAPPER = """#!{python}
import subprocess, sys, os
if "--control" not in sys.argv:
    os.execv({generator!r}, [{generator!r}] + sys.argv[1:])
child = subprocess.Popen([{generator!r}] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def answer(until):
    for line in child.stdout:
        if until == "sample" and '"event":"sample"' in line:
            sys.path.insert(0, {directory!r})
            import machine
            machine.step({root!r})
        print(line, end="", flush=True)
        if '"event":"' + until + '"' in line:
            return
for line in sys.stdin:
    child.stdin.write(line)
    child.stdin.flush()
    if '"configure"' in line:
        answer("ready")
    elif '"go"' in line:
        answer("sample")
child.stdin.close()
sys.exit(child.wait())
"""

# The made-up machine: what each file holds after `count` steps.
MACHINE = '''
import os
TICK = {ticks}
def files(n):
    domain = lambda level: " ".join(str((level + 1) * 100 * n + column * n) for column in range(45))
    stat = "cpu {{0}} 0 {{1}} {{2}} 0 0 0 {{3}} 0 0\\n".format(40 * n, 10 * n, 100 * n, 3 * n)
    for cpu in (0, 1):
        stat += "cpu{{0}} {{1}} 0 0 {{2}} 0 0 0 0\\n".format(cpu, 30 * n if cpu else 10 * n, 10 * n if cpu else 30 * n)
    yield "proc/stat", stat + "ctxt {{0}}\\nprocesses {{1}}\\nintr {{2}} 1 2\\n".format(5000 * n, 7 * n, 900 * n)
    yield "proc/pressure/cpu", "some avg10=0 avg60=0 avg300=0 total={{0}}\\n".format(250 * n)
    yield "proc/pressure/io", "some avg10=0 avg60=0 avg300=0 total=0\\n"
    yield "proc/pressure/memory", "some avg10=0 avg60=0 avg300=0 total=0\\n"
    schedstat = "version 17\\ntimestamp 4300000000\\n"
    for cpu in (0, 1):
        schedstat += "cpu{{0}} ".format(cpu) + " ".join(str(k * n * 10) for k in range(9)) + "\\n"
        schedstat += "domain0 MC 3 " + domain(0) + "\\n"
    yield "proc/schedstat", schedstat
    yield "proc/vmstat", "nr_free_pages {{0}}\\npgfault {{1}}\\npgmajfault {{2}}\\nthp_fault_alloc 5\\n".format(9, 640 * n, n)
    yield "proc/softirqs", "   CPU0 CPU1\\n SCHED: {{0}} {{0}}\\n".format(11 * n)
    yield "proc/interrupts", "   CPU0 CPU1\\n 40: {{0}} {{1}} MSI 1-edge nvme0q1\\nRES: {{1}} 0 Resched\\n".format(n, 4 * n)
    yield "proc/diskstats", " 259 0 nvme0n1 0 0 0 0 {{0}} 0 {{1}} 0 0 0 0 0 0 0 0 0 0\\n".format(6 * n, 48 * n)
    yield "proc/net/snmp", "Tcp: OutSegs RetransSegs\\nTcp: {{0}} {{1}}\\n".format(70 * n, 2 * n)
    yield "proc/net/netstat", "TcpExt: ListenOverflows\\nTcpExt: {{0}}\\n".format(n)
    for cpu in (0, 1):
        yield "sys/devices/system/cpu/cpu{{0}}/cache/index3/level".format(cpu), "3\\n"
        yield "sys/devices/system/cpu/cpu{{0}}/cache/index3/shared_cpu_list".format(cpu), "0-1\\n"
        state = "sys/devices/system/cpu/cpu{{0}}/cpuidle/state1/".format(cpu)
        yield state + "name", "C1\\n"
        yield state + "usage", "{{0}}\\n".format(13 * n)
        yield state + "time", "{{0}}\\n".format(500 * n)
def write(root, n):
    for name, text in files(n):
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    os.makedirs(os.path.join(root, "sys/block/nvme0n1"), exist_ok=True)
    with open(os.path.join(root, "step"), "w") as file:
        file.write(str(n))
def step(root):
    with open(os.path.join(root, "step")) as file:
        n = int(file.read())
    write(root, n + 1)
'''

# What one step comes to, by the words that `show` prints.
EXPECTED = {
    "context switches": 5000, "forks": 7, "interrupts, all": 900,
    "user": 40 * TICK_NS, "system": 10 * TICK_NS, "idle": 100 * TICK_NS, "steal": 3 * TICK_NS,
    "pressure: cpu some": 250_000,
    "schedule() calls": 40, "schedule() calls that left the CPU idle": 60, "wake-ups": 80,
    "wake-ups on the same CPU": 100, "time running": 120, "time runnable and waiting": 140, "time slices": 160,
    "newidle balance calls (MC)": 2 * (100 + 22), "newidle balance pulled tasks (MC)": 2 * (100 + 29),
    "busy balance calls (MC)": 200, "idle balance calls (MC)": 2 * (100 + 11), "wakeups remote (MC)": 2 * (100 + 42),
    "active balance attempts (MC)": 2 * (100 + 33), "newidle balance calls that failed (MC)": 2 * (100 + 24),
    "page faults": 640, "major page faults": 1, "softirq sched": 22, "nvme0q": 5, "reschedule": 4,
    "nvme0n1 writes": 6, "nvme0n1 written": 48 * 512, "tcp segments out": 70, "tcp retransmits": 2,
    "tcp listen overflows": 1, "C1 entries": 26, "C1 time": 1_000_000,
}


def run_krepro(words, directory, environment=None):
    done = subprocess.run([command, *words], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, env={**os.environ, **(environment or {})})
    assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def figures_of(text):
    """{words: (per trial, per second, per operation)} as printed; None for what is not."""
    found, name = {}, ""
    for line in text.splitlines():
        if not line.startswith("    "):
            continue
        columns = [line[36:50].strip(), line[50:64].strip(), line[64:].strip()]
        if line[:36].strip() and not re.fullmatch(r"\s+[-0-9.e+]+( (ns|B|%))?", line[36:50] or " "):
            if len(line) > 36 and line[36:50].strip() == "" and "%" in line[50:64]:
                name = line[:36].strip()  # a share has no sum
            else:
                name = line.strip()
                continue
        elif line[:36].strip():
            name = line[:36].strip()
        numbers = [float(re.sub(r"[^-0-9.e+]", "", c)) if re.search(r"\d", c) else None for c in columns]
        if any(number is not None for number in numbers):  # else a note that goes on
            found[name] = numbers
    return found


def samples_of(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if line["type"] == "sample" and not line["warmup"]]


def near(printed, expected, what):
    """As printed: four digits."""
    assert printed is not None and abs(printed - expected) <= abs(expected) * 6e-4, (what, printed, expected)


def exact_on_a_made_up_machine(directory):
    root, bin_directory = os.path.join(directory, "root"), os.path.join(directory, "generators")
    os.makedirs(bin_directory)
    with open(os.path.join(directory, "machine.py"), "w", encoding="utf-8") as file:
        file.write(MACHINE.format(ticks=TICK_NS))
    sys.path.insert(0, directory)
    sys.dont_write_bytecode = True
    import machine  # pylint: disable=import-error,import-outside-toplevel
    machine.write(root, 1)
    wrapper = os.path.join(bin_directory, "krepro-null")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write(WRAPPER.format(python=sys.executable, generator=generator, directory=directory, root=root))
    os.chmod(wrapper, stat.S_IRWXU)
    with open(os.path.join(directory, "p.toml"), "w", encoding="utf-8") as file:
        file.write(PROFILE)
    out = os.path.join(directory, "made-up.jsonl")
    run_krepro(["run", "p.toml", "--out", out, "--label", "made-up"], directory,
               {"KREPRO_HOST_ROOT": root, "KREPRO_GENERATORS": bin_directory})
    samples = samples_of(out)
    assert len(samples) == 3, samples
    seconds = sum(sample["counters"]["window_ns"] for sample in samples) / 1e9
    operations = sum(sample["sample"]["operations"] for sample in samples)
    printed = figures_of(run_krepro(["show", "--signature", out], directory))
    for words, step in EXPECTED.items():
        assert words in printed, (words, sorted(printed))
        near(printed[words][0], step, words + " per trial")
        near(printed[words][1], 3 * step / seconds, words + " per second")
        near(printed[words][2], 3 * step / operations, words + " per operation")
    assert printed["busy: CPUs 0-1"] == [None, 50.0, None], printed["busy: CPUs 0-1"]
    # What stands there besides is of columns that EXPECTED does not name, or of the load's own threads.
    for words in set(printed) - set(EXPECTED) - {"busy: CPUs 0-1"}:
        assert re.search(r"\(MC\)|^load ", words), (words, printed[words])
    assert not {"thp fault alloc", "nr free pages"} & set(printed)


def read_this_machine():
    """{words: value} by parsing of its own."""
    def lines(path):
        try:
            with open(path, encoding="utf-8") as file:
                return file.read().splitlines()
        except OSError:
            return []

    found = {}
    for line in lines("/proc/stat"):
        words = line.split()
        if words[0] == "cpu":
            for name, value in zip(("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"), words[1:]):
                found[name] = int(value) * TICK_NS
        elif words[0] in ("ctxt", "processes", "intr"):
            found[{"ctxt": "context switches", "processes": "forks", "intr": "interrupts, all"}[words[0]]] = int(words[1])
    for line in lines("/proc/vmstat"):
        name, value = line.split()
        found[{"pgfault": "page faults", "pgmajfault": "major page faults"}.get(name, name.replace("_", " "))] = int(value)
    for line in lines("/proc/softirqs")[1:]:
        words = line.split()
        found["softirq " + words[0][:-1].lower().replace("_", " ")] = sum(map(int, words[1:]))
    names = {"LOC": "local timer", "RES": "reschedule", "CAL": "function call", "TLB": "tlb shootdown"}
    for line in lines("/proc/interrupts")[1:]:
        words = line.split()
        if words[0][:-1] in names:
            found[names[words[0][:-1]]] = sum(int(word) for word in words[1:] if word.isdigit())
    for line in lines("/proc/net/snmp"):
        if line.startswith("Tcp: ") and line.split()[1].isdigit():
            found["tcp segments in"], found["tcp segments out"] = (int(line.split()[i]) for i in (10, 11))
    for resource in ("cpu", "io", "memory"):
        for line in lines(f"/proc/pressure/{resource}"):
            found[f"pressure: {resource} {line.split()[0]}"] = int(line.rsplit("=", 1)[1]) * 1000
    for line in lines("/proc/diskstats"):
        words = line.split()
        if os.path.isdir(f"/sys/block/{words[2]}"):
            found[f"{words[2]} reads"], found[f"{words[2]} writes"] = int(words[3]), int(words[7])
            found[f"{words[2]} written"] = int(words[9]) * 512
    return found


def bounded_on_this_machine(directory):
    out = os.path.join(directory, "here.jsonl")
    before = read_this_machine()
    run_krepro(["run", "p.toml", "--out", out, "--label", "here"], directory)
    after = read_this_machine()
    samples = samples_of(out)
    printed = figures_of(run_krepro(["show", "--signature", out], directory))
    checked = 0
    for words, (per_trial, _, _) in printed.items():
        if words not in after or per_trial is None:
            continue
        moved = after[words] - before.get(words, 0)
        assert len(samples) * per_trial <= moved * 1.001 + 1, (words, len(samples) * per_trial, moved)
        checked += 1
    assert checked >= 8, (checked, printed)
    # From below: the load slept so many times, and each sleep is a switch away and one back.
    switches = sum(group["voluntary_switches"]["sum"] for sample in samples for group in sample["sample"]["threads"])
    assert switches > 0 and len(samples) * printed["context switches"][0] * 1.001 >= switches, (switches, printed)
    near(printed["load voluntary switches"][0], switches / len(samples), "the load's switches")
    return checked


with tempfile.TemporaryDirectory() as place:
    exact_on_a_made_up_machine(place)
    print(f"{len(EXPECTED)} figures exact, {bounded_on_this_machine(place)} within their independent reading")
