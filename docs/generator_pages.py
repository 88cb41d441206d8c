#!/usr/bin/env python3
"""Writes docs/generators/NAME.md from what `krepro-NAME --describe` prints; the pages are never edited by hand.

generator_pages.py [--check] [--out DIRECTORY] PROGRAM...   --check writes nothing and fails where a page differs.
`cmake --build --preset test --target generator-pages` calls it for every generator of the build.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ORIGIN = {
    "original": "as in the original",
    "ours": "krepro's own",
    "ignored": "accepted with a note, does not shape the load",
    "refused": "refused: it would change the load and is not implemented",
}


def describe(program):
    answer = subprocess.run([program, "--describe"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    if answer.returncode != 0:
        sys.exit(f"{program} --describe: exit status {answer.returncode}\n{answer.stderr}")
    return json.loads(answer.stdout)


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def flags(option):
    names = [name if len(name) > 1 else f"-{name}" for name in option["aliases"]]
    names = [f"--{option['name']}" if len(option["name"]) > 1 else f"-{option['name']}"] + \
            [name if name.startswith("-") else f"--{name}" for name in names]
    return ", ".join(f"`{name}`" for name in names)


def number(value):
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"


def quantity(option, value):
    """A bound of an option's range, as it would be typed."""
    if option["type"] == "duration" and value:
        for unit, size in (("h", 3600e9), ("s", 1e9), ("ms", 1e6), ("us", 1e3)):
            if value % size == 0:
                return number(value / size) + unit
        return number(value) + "ns"
    if option["type"] == "bytes" and value:
        for unit, size in (("t", 1 << 40), ("g", 1 << 30), ("m", 1 << 20), ("k", 1 << 10)):
            if value % size == 0:
                return number(value / size) + unit
    return number(value)


def values(option):
    if option.get("choices"):
        text = ", ".join(f"`{choice}`" for choice in option["choices"])
    else:
        text = option["type"]
        if "min" in option:
            upper = quantity(option, option["max"]) if option["max"] < 9e15 else "..."
            text += f", {quantity(option, option['min'])} to {upper}"
        if option["unit"] and option["type"] not in ("duration", "bytes", "rate"):
            text += f" ({option['unit']})"
    return text


def options_section(options):
    rows = []
    for option in options:
        default = f"`{option['default']}`" if option["default"] else ""
        rows.append((flags(option), values(option), default, option["help"], ORIGIN[option["origin"]]))
    return table(("option", "values", "default", "what it does", "origin"), rows)


def original_section(original):
    rows = [(row["name"], " ".join(f"{name}={value}" if value else name for name, value in row["options"]),
             ", ".join(row["placements"]) or "pinned, floating", judged_besides(row)) for row in original["rows"]]
    operation = original["operation"] or "operation"
    calls = f"system calls per {operation} equal within {original['syscall_tolerance'] * 100:g} %"
    pinned = (f"pinned to one CPU, the 95 % interval of the time ratio within {original['time_ratio_low']:g} to "
              f"{original['time_ratio_high']:g} and {calls}; ")
    floating = f"floating, context switches within {original['switches_tolerance'] * 100:g} %"
    if original["floating_ratio_high"] > 0:
        floating += (f" and the 95 % interval of the time ratio within {original['floating_ratio_low']:g} to "
                     f"{original['floating_ratio_high']:g}")
    if any(row["floating_calls"] for row in original["rows"]):
        floating += f", where the table says so {calls}"
    only_floating = all(row["placements"] == ["floating"] for row in original["rows"])
    heads = ("row", "options", "placements", "judged besides")
    if not any(row[3] for row in rows):
        heads, rows = heads[:3], [row[:3] for row in rows]
    return (f"`{original['program']}` (Debian package `{original['package']}`). `krepro fidelity` runs both and wants, "
            f"{'' if only_floating else pinned}{floating}. It compares these rows:\n\n" + table(heads, rows))


def judged_besides(row):
    words = ["system calls"] if row["floating_calls"] else []
    if row["cpu_ratio_high"] > 0:
        words.append(f"CPU time, {row['cpu_ratio_low']:g} to {row['cpu_ratio_high']:g}")
    return "; ".join(words)


def page(description):
    name = description["name"]
    parts = [f"# {name}\n",
             f"<!-- Written by docs/generator_pages.py from `krepro-{name} --describe`; do not edit. -->\n",
             f"{description['summary']}\n",
             f"Run it by hand as `krepro {name} ...`; in a profile, `generator = \"{name}\"`, and the options' long names "
             f"with `_` for `-`. Roles: {', '.join(description['roles'])}.\n"]
    if description["positional"]:
        parts.append(f"A positional argument is the option `--{description['positional']}`.\n")
    if description["details"]:
        parts.append(description["details"].strip() + "\n")
    metrics = [(f"`{m['name']}`" + (" (primary)" if m["primary"] else ""), m["unit"], m["better"], m["help"])
               for m in description["metrics"]]
    parts += ["## Metrics\n", table(("metric", "unit", "better", "meaning"), metrics),
              "## Options\n", options_section(description["options"])]
    if description["original"]:
        parts += ["## The original\n", original_section(description["original"])]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent / "generators")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    stale = 0
    for program in arguments.programs:
        description = describe(program)
        path = arguments.out / f"{description['name']}.md"
        text = page(description)
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale += 1
            print(f"{path}: differs from {program} --describe; "
                  "to write it anew: cmake --build --preset test --target generator-pages")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
