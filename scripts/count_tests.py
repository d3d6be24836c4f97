#!/usr/bin/env python3
"""Counts the single tests in a CTest JUnit report: one for each GoogleTest case, one for each other program.

usage: count_tests.py REPORT.xml [FAILURES]
  prints "N passed, N failed"; exit code 1 when any failed or none ran. FAILURES is written where some failed: what
  each of them printed, and nothing of the others.
"""
import re
import sys
import xml.etree.ElementTree as xml

PASSED = re.compile(r"^\[       OK \] ", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] \S+.* \(\d+ ms\)$", re.MULTILINE)
RUN = re.compile(r"^\[ RUN      \] ", re.MULTILINE)
RESULT = re.compile(r"^\[(       OK |  FAILED  |  SKIPPED )\] .*$", re.MULTILINE)
MOST_LINES = 60  # of one failed test
NODE = re.compile(r"^# (pass|fail) (\d+)$", re.MULTILINE)


def count(report):
    """(passed, failed) of one report. A program that ends badly counts as a failure whatever it printed."""
    passed = failed = 0
    for case in xml.fromstring(report).iter("testcase"):
        output = case.findtext("system-out") or ""
        good, bad = len(PASSED.findall(output)), len(FAILED.findall(output))
        for kind, number in NODE.findall(output):
            good += int(number) if kind == "pass" else 0
            bad += int(number) if kind == "fail" else 0
        if case.get("status") == "run":
            passed += good or 1
        elif case.get("status") in ("notrun", "disabled"):
            continue
        else:
            passed += good
            failed += bad or 1
    return passed, failed


def last_lines(text):
    lines = text.strip().splitlines()
    left_out = [f"[{len(lines) - MOST_LINES} lines before]"] if len(lines) > MOST_LINES else []
    return "\n".join(left_out + lines[-MOST_LINES:]) + "\n"


def failures(report):
    """What the failed tests of one report printed: the single cases of a GoogleTest program, or the end of its output
    where no case says that it failed (a crash, a time limit)."""
    told = []
    for case in xml.fromstring(report).iter("testcase"):
        if case.get("status") in ("run", "notrun", "disabled"):
            continue
        output = case.findtext("system-out") or ""
        single = []
        for part in RUN.split(output)[1:]:
            result = RESULT.search(part)
            if result is None:  # it ended the program
                single.append(part)
            elif result.group(1) == "  FAILED  ":
                single.append(part[:result.end()])
        told += [f"--- {case.get('name')}: " + last_lines(part) for part in single or [output]]
    return "\n".join(told)


def main():
    told = ""
    try:
        with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
            report = file.read()
        passed, failed = count(report)
        told = failures(report)
    except (OSError, xml.ParseError) as error:
        print(f"count_tests.py: {error}", file=sys.stderr)
        passed, failed = 0, 1
    print(f"{passed} passed, {failed} failed")
    if told and len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(told)
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
