"""Strangers' bytes into every parser and the guard: an answer or a named failure, and what must hold of either.

`targets` says what is fuzzed, `mutation` makes inputs without a tool, `python -m tests.fuzz` runs long ones, guided by
coverage where atheris is installed.
"""
