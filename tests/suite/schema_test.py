#!/usr/bin/env python3
"""Validates every line of real run files (whole, failed, simulated, resumed), and a comparison of two of them, against
the published schemas."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

# Debian 12's jsonschema knows RefResolver only, newer ones call it deprecated.
warnings.simplefilter("ignore", DeprecationWarning)
command, schema_directory = (os.path.abspath(argument) for argument in sys.argv[1:3])

PROFILE = """
title = "schema"
[defaults]
repetitions = 2
runtime = "1s"
[[benchmark]]
name = "good"
generator = "null"
options = { time = "virtual", latency = "1ms", distribution = "exponential" }
[[benchmark]]
name = "real"
generator = "null"
options = { latency = "1ms", wait = "sleep", runtime = "50ms" }
[[benchmark]]
name = "bad"
generator = "null"
options = { time = "virtual", latency = "1ms", fault = ["FAULT"] }
"""


def load(name):
    with open(os.path.join(schema_directory, name), encoding="utf-8") as file:
        return json.load(file)


def reject_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key twice: {keys}"
    return dict(pairs)


line_schema, sample_schema = load("run-file.schema.json"), load("sample.schema.json")
for schema in (line_schema, sample_schema):
    jsonschema.Draft7Validator.check_schema(schema)
store = {"sample.schema.json": sample_schema}
resolver = jsonschema.RefResolver(base_uri="", referrer=line_schema, store=store)
validator = jsonschema.Draft7Validator(line_schema, resolver=resolver)


def check(path):
    kinds = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            line = json.loads(text, object_pairs_hook=reject_duplicates)
            for error in validator.iter_errors(line):
                sys.exit(f"{path}:{number}: {error.message} at {list(error.absolute_path)}")
            kinds.append(line["type"])
    assert kinds[0] == "run" and {"boot", "sample", "note"} <= set(kinds), kinds


def must_fail(line):
    assert list(validator.iter_errors(line)), f"the schema accepts {line}"


with tempfile.TemporaryDirectory() as directory:
    for index, (fault, more) in enumerate([
            ("error", []), ("crash", []), ("garbage", []), ("lie-nan", []), ("not-possible", []),
            ("error", ["--simulate-boots", "2", "--label", "base"])]):
        profile, out = os.path.join(directory, "p.toml"), os.path.join(directory, f"{index}.jsonl")
        with open(profile, "w", encoding="utf-8") as file:
            file.write(PROFILE.replace("FAULT", fault))
        run = subprocess.run([command, "run", profile, "--out", out, *more], cwd=directory,
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert run.returncode == (0 if fault == "not-possible" else 1), run.stderr
        subprocess.run([command, "run", "--resume", out], cwd=directory, stdin=subprocess.DEVNULL,
                       capture_output=True, check=False)
        check(out)
    # Varied settings that need no leave, a setting that is only noted, and trials that a tool watched.
    with open(profile, "w", encoding="utf-8") as file:
        file.write(PROFILE.replace("FAULT", "error").replace(
            "[defaults]", '[settings]\nscheduling = ["other", "batch"]\n"kernel.not_there" = 1\n[defaults]'))
    out = os.path.join(directory, "settings.jsonl")
    subprocess.run([command, "run", profile, "--out", out, "--only", "real", "--observe", "sleep 60", "--observe-lead",
                    "10ms"], cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    check(out)
    with open(out, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert any(line["type"] == "observation" for line in lines), "nothing was observed"
    assert all("scheduling" in line["settings"] for line in lines if line["type"] == "sample"), "no settings"
    with open(profile, "w", encoding="utf-8") as file:
        file.write(PROFILE.replace("FAULT", "error"))
    # The report of a comparison: the last run with two boots above, and another label of it.
    base, other = os.path.join(directory, "5.jsonl"), os.path.join(directory, "other.jsonl")
    subprocess.run([command, "run", profile, "--out", other, "--simulate-boots", "2", "--label", "other"],
                   cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    compared = subprocess.run([command, "compare", base, other, "--format", "json"], cwd=directory,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert compared.returncode in (0, 1, 125), compared.stderr
    report, report_schema = json.loads(compared.stdout), load("comparison.schema.json")
    jsonschema.Draft7Validator.check_schema(report_schema)
    jsonschema.Draft7Validator(report_schema).validate(report)
    assert report["exit_status"] == compared.returncode and report["rows"], report

must_fail({"type": "sample"})
must_fail({"type": "note", "kind": "gossip", "text": "", "at": "2026-11-30T12:00:00Z"})
must_fail({})
print("all lines validate")
