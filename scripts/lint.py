#!/usr/bin/env python3
"""Checks of the source tree that no compiler makes. Each check is a function from a Tree to a list of problems,
"file:line: what is wrong"; scripts/lint_test.py shows of each that it can fail.

usage: lint.py [CHECK]...     all checks by default; exit code 1 when one finds something
"""
import pathlib
import re
import subprocess
import sys

REQUIREMENT = re.compile(r"\b((?:BASE|BQ[WTFS]|PS[KSD]|CTK|BT[KSC]|SP[KSC])-\d{3})\b")
DEFINITION = re.compile(r"\*\*((?:BASE|BQ[WTFS]|PS[KSD]|CTK|BT[KSC]|SP[KSC])-\d{3})\*\*")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
CPP = (".h", ".cc", ".c")
# Spelled in parts, so that this file passes its own check.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
HOSTS = re.compile(
    r"https?://[^\s\"'/]*(?:npm" r"js|registry|\bdeb\.deb" r"ian\.org|snapshot\.deb" r"ian\.org|pypi|pkg\.dev"
    r"|maven|artifact|nexus|proxy\.golang|nodesource|docker\.io|ghcr)[^\s\"']*|\"resolved\"\s*:")
SLEEP = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep|absl::SleepFor)\s*\(")
HIDDEN_BEHIND_INTERFACES = ("grpc/", "grpcpp/", "google/", "curl/")


class Tree:
    """The files of a source tree, by default those git knows or would add."""

    def __init__(self, root, files=None):
        self.root = pathlib.Path(root)
        if files is None:
            listed = subprocess.run(
                ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                check=True, capture_output=True).stdout.decode()
            files = [name for name in listed.split("\0") if name]
        self.files = sorted(name for name in files if (self.root / name).is_file())

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def lines(self, name):
        return enumerate(self.text(name).splitlines(), 1)

    def exists(self, name):
        return (self.root / name).exists()

    def sources(self):
        return [name for name in self.files if name.endswith(CPP)]

    def readable(self):
        """Text files written by hand: all but the license and images."""
        return [name for name in self.files
                if name != "LICENSE" and not name.endswith((".png", ".gz", ".zst", ".bin", ".svg"))]


def check_format(tree):
    """clang-format-14 leaves every C++ file as it is."""
    files = [name for name in tree.sources()]
    if not files:
        return []
    run = subprocess.run(["clang-format-14", "--dry-run", "--ferror-limit=1", *files],
                         cwd=tree.root, capture_output=True, text=True)
    found = re.findall(r"^(\S+?:\d+):\d+: warning: code should be clang-formatted", run.stderr, re.MULTILINE)
    if run.returncode != 0 and not found:
        return [run.stderr.strip()]
    return [f"{place}: not formatted: run clang-format-14 -i on it" for place in found]


def layer_table(tree):
    table = {}
    for _, line in tree.lines("cmake/layers.txt"):
        line = line.split("#")[0].strip()
        if line:
            layer, allowed = line.split(":")
            table[layer.strip()] = set(allowed.split()) | {layer.strip()}
    return table


def layer_of(name):
    parts = pathlib.PurePosixPath(name).parts
    if len(parts) > 2 and parts[:2] == ("src", "penstock"):
        return parts[2]
    return parts[0] if len(parts) > 1 else None


def check_layers(tree):
    """Every include keeps to the edges of cmake/layers.txt."""
    table = layer_table(tree)
    problems = []
    for name in tree.sources():
        layer = layer_of(name)
        if layer not in table:
            problems.append(f"{name}:1: the layer '{layer}' is not in cmake/layers.txt")
            continue
        for number, line in tree.lines(name):
            match = INCLUDE.match(line)
            if not match:
                continue
            parts = match.group(1).split("/")
            if parts[0] == "penstock" and len(parts) > 2:
                target = parts[1]
            elif parts[0] == "google" and parts[1] in ("api", "rpc", "cloud", "storage", "bigtable", "spanner"):
                target = "api"
            else:
                continue
            if target not in table[layer]:
                problems.append(f"{name}:{number}: {layer} may not include {match.group(1)} (cmake/layers.txt)")
    return problems


def public_headers(tree):
    """The headers of cmake/public-headers.txt and all they include, each with the header that led there."""
    pending = [(line.strip(), "cmake/public-headers.txt")
               for _, line in tree.lines("cmake/public-headers.txt") if line.startswith("penstock/")]
    found = {}
    while pending:
        header, origin = pending.pop()
        if header in found:
            continue
        found[header] = origin
        if tree.exists("src/" + header):
            for _, line in tree.lines("src/" + header):
                match = INCLUDE.match(line)
                if match and match.group(1).startswith("penstock/"):
                    pending.append((match.group(1), header))
    return found


def check_public_headers(tree):
    """No header that users include shows a gRPC, protobuf or curl header, nor a test's."""
    problems = []
    for header, origin in sorted(public_headers(tree).items()):
        if not tree.exists("src/" + header):
            problems.append(f"{origin}:1: names {header}, which does not exist")
            continue
        if "/testing/" in header:
            problems.append(f"src/{header}:1: a test's header in the public interface (included by {origin})")
        for number, line in tree.lines("src/" + header):
            match = INCLUDE.match(line)
            if match and match.group(1).startswith(HIDDEN_BEHIND_INTERFACES):
                problems.append(f"src/{header}:{number}: a public header (from {origin}) may not include {match.group(1)}")
    return problems


def check_headers(tree):
    """Headers say #pragma once; file names are lower_snake_case."""
    problems = []
    for name in tree.sources():
        if name.endswith(".h") and not re.search(r"^#pragma once$|^#ifndef PENSTOCK_\w+_H_$", tree.text(name), re.MULTILINE):
            problems.append(f"{name}:1: no #pragma once")
        if not re.fullmatch(r"[a-z][a-z0-9_]*\.(h|cc|c)", pathlib.PurePosixPath(name).name):
            problems.append(f"{name}:1: file names are lower_snake_case")
    return problems


def check_requirements(tree):
    """Every requirement ID that is named anywhere is defined, once, by a page of docs/spec/."""
    problems, defined = [], {}
    for name in tree.files:
        if name.startswith("docs/spec/") and name.endswith(".md"):
            for number, line in tree.lines(name):
                for requirement in DEFINITION.findall(line):
                    if requirement in defined:
                        problems.append(f"{name}:{number}: {requirement} is defined already at {defined[requirement]}")
                    defined.setdefault(requirement, f"{name}:{number}")
    for name in tree.readable():
        if name == "scripts/lint_test.py":
            continue
        for number, line in tree.lines(name):
            for requirement in REQUIREMENT.findall(line):
                if requirement not in defined:
                    problems.append(f"{name}:{number}: {requirement} is defined by no page of docs/spec/")
    return problems


def check_unfinished(tree):
    """Nothing is left for later in a comment."""
    return [f"{name}:{number}: unfinished: {line.strip()[:80]}"
            for name in tree.readable() for number, line in tree.lines(name) if UNFINISHED.search(line)]


def check_hosts(tree):
    """No package registry's address is written down: everyone's own configuration says where packages come from."""
    return [f"{name}:{number}: names a package registry's address"
            for name in tree.readable() for number, line in tree.lines(name) if HOSTS.search(line)]


def check_sleeps(tree):
    """Tests wait for a condition or move a clock by hand; they do not sleep."""
    return [f"{name}:{number}: a test that sleeps: wait for a condition with a deadline, or use ManualClock"
            for name in tree.sources() if re.search(r"_test\.cc$|_simulation\.cc$|^tests/", name)
            for number, line in tree.lines(name) if SLEEP.search(line)]


def check_shell(tree):
    """Shell scripts parse."""
    problems = []
    for name in tree.files:
        if name.endswith(".sh") or name == ".ci/run":
            run = subprocess.run(["bash", "-n", name], cwd=tree.root, capture_output=True, text=True)
            if run.returncode != 0:
                problems.append(f"{name}:1: {run.stderr.strip()}")
    return problems


def check_links(tree):
    """Relative links in pages lead somewhere, to a heading too where they name one."""
    problems = []
    for name in tree.files:
        if not name.endswith(".md"):
            continue
        fenced = False
        for number, line in tree.lines(name):
            if line.startswith("```"):
                fenced = not fenced
            if fenced:
                continue
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                page = pathlib.PurePosixPath(name).parent / path if path else pathlib.PurePosixPath(name)
                if not (tree.root / page).exists():
                    problems.append(f"{name}:{number}: the link {target} leads nowhere")
                elif anchor and str(page).endswith(".md") and anchor not in anchors(tree, page):
                    problems.append(f"{name}:{number}: no heading for the link {target}")
    return problems


def anchors(tree, page):
    text = (tree.root / page).read_text(encoding="utf-8")
    headings = re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def check_snippets(tree):
    """A code block below <!-- file: PATH --> or <!-- file: PATH#REGION --> is that file, or that region of it
    (between the comments [REGION] and [/REGION]), letter for letter."""
    problems = []
    marker = re.compile(r"^<!-- file: (\S+?)(?:#(\w+))? -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for name in tree.files:
        if not name.endswith(".md"):
            continue
        text = tree.text(name)
        for match in marker.finditer(text):
            path, region, block = match.groups()
            number = text[:match.start()].count("\n") + 1
            if not tree.exists(path):
                problems.append(f"{name}:{number}: {path} does not exist")
                continue
            wanted = tree.text(path)
            if region:
                part = re.search(rf"^[^\n]*\[{region}\][^\n]*\n(.*?)^[^\n]*\[/{region}\]", wanted, re.MULTILINE | re.DOTALL)
                wanted = part.group(1) if part else None
            if wanted != block:
                problems.append(f"{name}:{number}: the code block is not what {path} says")
    return problems


def check_generated(tree):
    """The generated pages are what the generator writes today."""
    run = subprocess.run(["scripts/docs.sh", "--check"], cwd=tree.root, capture_output=True, text=True)
    return [] if run.returncode == 0 else (run.stdout + run.stderr).strip().splitlines()


CHECKS = {
    "format": check_format,
    "layers": check_layers,
    "public-headers": check_public_headers,
    "headers": check_headers,
    "requirements": check_requirements,
    "unfinished": check_unfinished,
    "hosts": check_hosts,
    "sleeps": check_sleeps,
    "shell": check_shell,
    "links": check_links,
    "snippets": check_snippets,
    "generated": check_generated,
}


def main():
    names = sys.argv[1:] or list(CHECKS)
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        print(f"lint.py: no check {unknown[0]}; there are: {' '.join(CHECKS)}", file=sys.stderr)
        return 2
    tree = Tree(pathlib.Path(__file__).resolve().parent.parent)
    bad = 0
    for name in names:
        problems = CHECKS[name](tree)
        bad += bool(problems)
        print(f"lint: {name}: {'ok' if not problems else f'{len(problems)} found'}")
        for problem in problems:
            print(f"  {problem}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
