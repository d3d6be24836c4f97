#!/usr/bin/env python3
"""Shows of each check of lint.py that it can fail, and that it lets through what is right."""
import pathlib
import tempfile
import unittest

import count_tests
import lint

LAYERS = "base:\nbigquery: base api\nemulator: base api\napps: base bigquery\n"


class LintTest(unittest.TestCase):
    def tree(self, **files):
        """A tree of the given files: keys are paths with __ for / and _DOT_ for the last dot."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        names = []
        for key, text in files.items():
            name = key.replace("__", "/").replace("_DOT_", ".").replace("_DASH_", "-")
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            names.append(name)
        return lint.Tree(folder.name, names)

    def assertFinds(self, problems, *parts):
        self.assertEqual(len(problems), 1, problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def test_format_finds_an_unformatted_file(self):
        self.assertFinds(lint.check_format(self.tree(src__a_DOT_cc="int  a ;\n")), "src/a.cc:1", "clang-format")
        self.assertEqual(lint.check_format(self.tree(src__a_DOT_cc="int a;\n")), [])

    def test_layers_forbid_looking_upwards(self):
        tree = self.tree(cmake__layers_DOT_txt=LAYERS,
                         src__penstock__base__a_DOT_h='#include "penstock/bigquery/b.h"\n')
        self.assertFinds(lint.check_layers(tree), "src/penstock/base/a.h:1", "base may not include")

    def test_layers_forbid_looking_sideways(self):
        tree = self.tree(cmake__layers_DOT_txt=LAYERS,
                         src__penstock__emulator__a_DOT_cc='#include <string>\n#include "penstock/bigquery/b.h"\n')
        self.assertFinds(lint.check_layers(tree), "a.cc:2", "emulator may not include")

    def test_layers_know_the_generated_api(self):
        include = "#include <google/cloud/bigquery/storage/v1/storage.pb.h>\n"
        bad = self.tree(cmake__layers_DOT_txt=LAYERS, src__penstock__base__a_DOT_cc=include)
        self.assertFinds(lint.check_layers(bad), "base may not include google/cloud")
        good = self.tree(cmake__layers_DOT_txt=LAYERS, src__penstock__bigquery__a_DOT_cc=include)
        self.assertEqual(lint.check_layers(good), [])

    def test_layers_refuse_a_folder_without_a_line(self):
        tree = self.tree(cmake__layers_DOT_txt=LAYERS, src__penstock__pubsub__a_DOT_cc="\n")
        self.assertFinds(lint.check_layers(tree), "'pubsub' is not in cmake/layers.txt")

    def test_layers_allow_what_the_table_allows(self):
        tree = self.tree(cmake__layers_DOT_txt=LAYERS, apps__penstock__a_DOT_cc='#include "penstock/bigquery/b.h"\n')
        self.assertEqual(lint.check_layers(tree), [])

    def test_public_headers_show_no_grpc_through_another_header(self):
        tree = self.tree(cmake__public_DASH_headers_DOT_txt="# text\npenstock/bigquery/a.h\n",
                         src__penstock__bigquery__a_DOT_h='#include "penstock/bigquery/b.h"\n',
                         src__penstock__bigquery__b_DOT_h="#include <grpcpp/channel.h>\n")
        self.assertFinds(lint.check_public_headers(tree), "bigquery/b.h:1", "from penstock/bigquery/a.h", "grpcpp")

    def test_public_headers_exist_and_are_no_tests(self):
        tree = self.tree(cmake__public_DASH_headers_DOT_txt="penstock/gone.h\n")
        self.assertFinds(lint.check_public_headers(tree), "penstock/gone.h, which does not exist")
        tree = self.tree(cmake__public_DASH_headers_DOT_txt="penstock/base/testing/a.h\n",
                         src__penstock__base__testing__a_DOT_h="\n")
        self.assertFinds(lint.check_public_headers(tree), "a test's header")

    def test_public_headers_may_be_reached_only_privately_by_grpc(self):
        tree = self.tree(cmake__public_DASH_headers_DOT_txt="penstock/bigquery/a.h\n",
                         src__penstock__bigquery__a_DOT_h="#include <string>\n",
                         src__penstock__bigquery__b_DOT_h="#include <grpcpp/channel.h>\n")
        self.assertEqual(lint.check_public_headers(tree), [])

    def test_headers_are_guarded_and_well_named(self):
        self.assertFinds(lint.check_headers(self.tree(src__a_DOT_h="int a;\n")), "no #pragma once")
        self.assertFinds(lint.check_headers(self.tree(src__RowBatch_DOT_cc="")), "lower_snake_case")
        self.assertEqual(lint.check_headers(self.tree(src__row_batch_DOT_h="#pragma once\n")), [])

    def test_requirements_must_be_defined(self):
        spec = "- **BQW-001** The job graph. See BQW-001.\n"
        bad = self.tree(docs__spec__sink_DOT_md=spec, src__a_test_DOT_cc="// BQW-001\n// BQW-" "999\n")
        self.assertFinds(lint.check_requirements(bad), "src/a_test.cc:2", "BQW-" "999")
        good = self.tree(docs__spec__sink_DOT_md=spec, src__a_test_DOT_cc="// BQW-001\n")
        self.assertEqual(lint.check_requirements(good), [])

    def test_requirements_are_defined_once(self):
        tree = self.tree(docs__spec__sink_DOT_md="**BQW-001** a\n**BQW-001** b\n")
        self.assertFinds(lint.check_requirements(tree), "sink.md:2", "defined already")

    def test_unfinished_work_is_found(self):
        self.assertFinds(lint.check_unfinished(self.tree(src__a_DOT_cc="// TO" "DO later\n")), "a.cc:1")
        self.assertEqual(lint.check_unfinished(self.tree(src__a_DOT_cc="// done\n")), [])

    def test_registry_addresses_are_found(self):
        for text in ("https://reg" "istry.npm" "js.org/a", "http://deb.deb" "ian.org/x", '"resolved' '": "x"'):
            self.assertFinds(lint.check_hosts(self.tree(a_DOT_txt=text + "\n")), "a.txt:1")
        self.assertEqual(lint.check_hosts(self.tree(a_DOT_txt="https://bigquery.googleapis.com/\n")), [])

    def test_sleeping_tests_are_found(self):
        sleep = "std::this_thread::sleep_for(1ms);\n"
        self.assertFinds(lint.check_sleeps(self.tree(src__a_test_DOT_cc=sleep)), "a_test.cc:1")
        self.assertEqual(lint.check_sleeps(self.tree(src__a_DOT_cc=sleep)), [])

    def test_broken_shell_scripts_are_found(self):
        self.assertFinds(lint.check_shell(self.tree(scripts__a_DOT_sh="if true; then\n")), "scripts/a.sh")
        self.assertEqual(lint.check_shell(self.tree(scripts__a_DOT_sh="true\n")), [])

    def test_dead_links_are_found(self):
        self.assertFinds(lint.check_links(self.tree(a_DOT_md="[x](b.md)\n")), "a.md:1", "leads nowhere")
        tree = self.tree(a_DOT_md="[x](b.md#here)\n", b_DOT_md="# There\n")
        self.assertFinds(lint.check_links(tree), "no heading")
        tree = self.tree(a_DOT_md="[x](b.md#over-there) [y](https://x.y) `[z](gone)`\n", b_DOT_md="# Over there\n")
        self.assertEqual(lint.check_links(tree), [])

    def test_code_blocks_that_differ_from_their_file_are_found(self):
        page = "<!-- file: a.cc#part -->\n```cpp\nint b;\n```\n"
        source = "int a;\n// [part]\nint b;\n// [/part]\n"
        self.assertEqual(lint.check_snippets(self.tree(p_DOT_md=page, a_DOT_cc=source)), [])
        changed = self.tree(p_DOT_md=page, a_DOT_cc=source.replace("b;", "c;"))
        self.assertFinds(lint.check_snippets(changed), "p.md:1", "not what a.cc says")
        self.assertFinds(lint.check_snippets(self.tree(p_DOT_md=page)), "a.cc does not exist")
        whole = self.tree(p_DOT_md=page.replace("#part", ""), a_DOT_cc="int b;\n")
        self.assertEqual(lint.check_snippets(whole), [])

    def test_generated_pages_out_of_date_are_found(self):
        script = "#!/bin/sh\necho 'docs/reference/a.md: out of date'\nexit 1\n"
        tree = self.tree(scripts__docs_DOT_sh=script)
        (tree.root / "scripts/docs.sh").chmod(0o755)
        self.assertFinds(lint.check_generated(tree), "docs/reference/a.md: out of date")

    def test_every_check_is_in_the_list(self):
        checks = {value for name, value in vars(lint).items() if name.startswith("check_")}
        self.assertEqual(checks, set(lint.CHECKS.values()))


class CountTest(unittest.TestCase):
    def report(self, status, output):
        return f'<testsuite><testcase name="a" status="{status}"><system-out>{output}</system-out></testcase></testsuite>'

    def test_counts_each_case_of_a_program(self):
        output = "[       OK ] A.B (0 ms)\n[       OK ] A.C (0 ms)\n"
        self.assertEqual(count_tests.count(self.report("run", output)), (2, 0))

    def test_counts_failed_cases_once(self):
        output = "[       OK ] A.B (0 ms)\n[  FAILED  ] A.C (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.C\n"
        self.assertEqual(count_tests.count(self.report("fail", output)), (1, 1))

    def test_a_program_that_dies_is_a_failure(self):
        self.assertEqual(count_tests.count(self.report("fail", "[       OK ] A.B (0 ms)\n")), (1, 1))

    def test_tells_what_the_failed_cases_printed_and_nothing_else(self):
        output = (
            "[ RUN      ] A.B\nfine\n[       OK ] A.B (0 ms)\n[ RUN      ] A.C\nwrong\n[  FAILED  ] A.C (0 ms)\n"
            "[ RUN      ] A.D\n[  SKIPPED ] A.D (0 ms)\n[  FAILED  ] A.C\n"
        )
        self.assertEqual(
            count_tests.failures(self.report("fail", output)), "--- a: A.C\nwrong\n[  FAILED  ] A.C (0 ms)\n"
        )
        self.assertEqual(count_tests.failures(self.report("run", output)), "")

    def test_tells_the_end_of_a_program_that_died(self):
        died = "[ RUN      ] A.B\n[       OK ] A.B (0 ms)\n[ RUN      ] A.C\nhelp\n"
        self.assertEqual(count_tests.failures(self.report("fail", died)), "--- a: A.C\nhelp\n")
        told = count_tests.failures(self.report("fail", "\n".join(str(i) for i in range(100))))
        self.assertTrue(told.startswith("--- a: [40 lines before]\n40\n"), told)

    def test_other_programs_count_as_one(self):
        self.assertEqual(count_tests.count(self.report("run", "hello")), (1, 0))
        self.assertEqual(count_tests.count(self.report("fail", "hello")), (0, 1))


if __name__ == "__main__":
    unittest.main()
