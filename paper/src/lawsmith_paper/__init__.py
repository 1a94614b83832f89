"""Benchmarks: suites of replays as resumable work lists, their tables, figures and page."""
