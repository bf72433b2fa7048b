# SPDX-License-Identifier: BSD-3-Clause
"""Rows of one problem with one thread and with several."""
import os


def problem(name, arguments):
    """What rows of one problem have in common. A program that has no row with several threads
    for each problem gives these a name of their own."""
    others = tuple((k, v) for k, v in arguments.items() if k not in ("threads", "isa"))
    return name.replace("_threads", ""), others


def number(arguments):
    return int(arguments.get("threads", 1))


def pairs(rows, key, best_isa):
    """(row with one thread, row with several) of each problem that has both; `key` returns the
    name and the arguments of a row."""
    single, several = {}, []
    for row in rows:
        name, arguments = key(row)
        if number(arguments) > 1:
            several.append(row)
        elif arguments.get("isa", best_isa) in ("0", best_isa):
            single[problem(name, arguments)] = row
    for row in several:
        name, arguments = key(row)
        if problem(name, arguments) in single and number(arguments) <= os.cpu_count():
            yield single[problem(name, arguments)], row
