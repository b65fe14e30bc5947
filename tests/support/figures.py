"""What thorough tests counted, as rows for docs/reliability.md: pytest --figures

A test tells with `record_property("figure", "50 moments")`.
"""

import pytest

OPTION = "--figures"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, action="store_true", help="print what tests counted, as a table")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if not config.getoption(OPTION):
        return
    reports = [
        report
        for outcome in ("passed", "failed")
        for report in terminalreporter.getreports(outcome)
        if report.when == "call"
    ]
    for report in reports:
        figures = [text for name, text in report.user_properties if name == "figure"]
        if figures:
            found = "" if report.passed else ", FAILED"
            terminalreporter.write_line(f"| `{report.nodeid}` | {', '.join(figures)}{found} |")
