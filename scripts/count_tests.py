#!/usr/bin/env python3
"""Counts the single tests in a CTest JUnit report: one for each GoogleTest case, one for each other program.

usage: count_tests.py REPORT.xml     prints "N passed, N failed"; exit code 1 when any failed or none ran
"""
import re
import sys
import xml.etree.ElementTree as xml

PASSED = re.compile(r"^\[       OK \] ", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] \S+.* \(\d+ ms\)$", re.MULTILINE)
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


def main():
    try:
        with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
            passed, failed = count(file.read())
    except (OSError, xml.ParseError) as error:
        print(f"count_tests.py: {error}", file=sys.stderr)
        passed, failed = 0, 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
