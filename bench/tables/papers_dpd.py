# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of the DPD paper, "A dynamic periodicity detector: application to speedup
computation"."""
import itertools

from papers_item import DIFFERS, Item, Result, Table, json_of, output_of, script, tables_of

SPEC = ("tomcatv", "swim", "apsi", "hydro2d", "turb3d")
TRACES = ("The traces of the paper are not public. `bench/tables/dpd_streams.h` generates streams of the "
          "same lengths and periods: the result tests the detector on known periods.")


def table2(context):
    found = [row for row in json_of(context.program("dpd_table2"), "--json", accepted=DIFFERS)
             if row["stream"] in SPEC]
    rows = []
    for name, of in itertools.groupby(found, key=lambda row: row["stream"]):
        of = list(of)
        rows.append([name, of[0]["events"], *(", ".join(str(row[column]) for row in of)
                                              for column in ("period", "found"))])
    return Result([Table("", ["stream", "events", "paper", "here"], rows)],
                  len(rows) == len(SPEC) and all(row[2] == row[3] for row in rows))


def table3(context):
    (table,) = tables_of(output_of(context.program("dpd_table3")))
    table.caption = ("Nanoseconds per element. N is the window, \"plain\" equation 2 as written, "
                     "on the same machine:")
    return Result([table], None)


def figures3_4(context):
    runs = 5 if context.full else 1
    (table,) = script("active_processors.py", context.build, "--runs", runs)
    return Result([table], all(row[-1] == f"{runs} of {runs}" for row in table.rows))


def segments_of(context, name):
    """Text of the segments of a stream, and whether there is one of the longest period."""
    stream = output_of(context.program("dpd_table2"), "--stream", name)
    found = json_of(context.tsanom, "period", "-", "--events", "--json", given=stream)
    outer = max(period["period"] for period in found["periods"])
    segments = found["segments"]
    text = ", ".join(f"{s['first']}–{s['last']} by {s['period']}" for s in segments)
    (first, *others) = segments
    same = not others and first["period"] == outer and first["last"] == found["samples"] - 1
    return outer, text, (first["last"] + 1 - first["first"]) // first["period"], same


def figure7(context):
    paper = {"tomcatv": 5, "swim": 6, "apsi": 6, "hydro2d": 269, "turb3d": 142}
    rows, same = [], True
    for name in SPEC:
        outer, text, iterations, one = segments_of(context, name)
        rows.append([name, paper[name], outer, text, iterations])
        same &= one and outer == paper[name]
    return Result([Table("", ["stream", "paper, period of the marks", "here", "segments, events",
                              "marks"], rows)], same)


ITEMS = [
    Item("dpd-table2", "Table 2: detected periodicities", "the periods of five SPECfp95 programs.",
         TRACES, 1, table2),
    Item("dpd-table3", "Table 3: cost per element", "4 µs (N = 100) and 108 to 112 µs (nested loops).",
         TRACES + " The paper does not describe its processor, and does not print its windows: 100 and "
         "1024 are those that it names. @ref dpd_tables shows a measurement.", 5, table3, timed=True),
    Item("dpd-figures3-4", "Figures 3 and 4: number of active processors and d(m)",
         "a local minimum of d(m) at m = 44 ms, with up to 16 processors.",
         "The trace of the paper (NPB FT) is not public. The program recorded here has iterations of "
         "44 ms with 1 to 16 threads. @ref guide_dpd shows the plots.", 30, figures3_4, timed=True),
    Item("dpd-figure7", "Figure 7: segmentation of the streams",
         "a mark at each start of the longest period.", TRACES, 1, figure7),
]
