# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of the paper on similarity analysis and rough sets for SPMD programs."""
from papers_item import ROOT, Item, Result, Table, json_of

WEATHER = ["a1,a2,a3,a4,decision", "sunny,hot,high,False,N", "sunny,hot,high,True,N",
           "overcast,hot,high,False,P", "sunny,cool,low,False,P"]
CONSTRUCTED = ("The paper prints no times and no metrics. `tests/data/geo_st.json` contains constructed "
               "ones that agree with what it prints: the result tests the search and the rough sets, "
               "not the measurements.")


KINDS = [[0], [1, 2], [3], [4, 6], [5, 7]]

# Rows 0 to 5 of table 2.
TABLE_2 = [[0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 1, 1],
           [0, 0, 0, 0, 1, 1],
           [1, 0, 0, 0, 2, 2],
           [0, 1, 0, 0, 3, 3],
           [1, 1, 0, 1, 4, 4]]

# Figure 5, the rows of its upper triangle from the diagonal on, as printed, and where it contradicts
# table 2: both processes have row 1 of the table.
FIGURE_5 = ["0 a5 a5 a1a5 a2a5 a1a2a4a5 a1a2a4a5 a1a2a5",
            "0 0 a1a5 a2a5 a2a4a5 a1a2a4a5 a1a2a5",
            "0 a1a5 a2a5 a2a4a5 a1a2a4a5 a1a2a5",
            "0 a1a2a5 a2a4a5 a2a4a5 a2a5",
            "0 a1a4a5 0 a1a2a5",
            "0 a2a5 0",
            "0 a4a5",
            "0"]
SLIPS = {(1, 5), (2, 5)}


def geo_st(context, name="geo_st"):
    """What `tsanom similar` finds in the constructed times and metrics."""
    return json_of(context.tsanom, "similar", "--fixed", ROOT / f"tests/data/{name}.json", "--json")


def compared(*rows):
    """The table of (what, paper, here, whether these are the same; None: not comparable)."""
    mark = {True: "same", False: "DIFFERS", None: "not comparable"}
    same = {of[3] for of in rows} - {None}
    return Result([Table("", ["what", "paper", "here", ""],
                         [[*row[:3], mark[row[3]]] for row in rows])],
                  min(same, default=None), partial=any(row[3] is None for row in rows))


def element(rows, i, j):
    """Attributes in which two rows differ; 0 where their decisions are equal."""
    if rows[i][-1] == rows[j][-1]:
        return "0"
    return "".join(f"a{m + 1}" for m in range(len(rows[i]) - 1) if rows[i][m] != rows[j][m])


def matrix(rows):
    """The upper triangle of the discernibility matrix by rows."""
    return [" ".join(element(rows, i, j) for j in range(i, len(rows))) for i in range(len(rows))]


def table1(context):
    found = json_of(context.tsanom, "reduce", "-", "--decision=decision", "--json",
                    given="\n".join(WEATHER) + "\n")
    pairs = [("core", [["a1"]], [found["core"]]),
             ("reducts", [["a1", "a2"], ["a1", "a3"]], found["reducts"])]
    rows = [[what, *(" or ".join("{" + ", ".join(s) + "}" for s in sets) for sets in both)]
            for what, *both in pairs]
    return Result([Table("Step 1 to 3 of the algorithm:", ["", "paper", "here"], rows)],
                  all(paper == here for _, paper, here in pairs))


def figure2(_):
    """The matrix is computed here: the library does not store it."""
    printed = ["0 0 a1 a2a3", "0 a1a4 a2a3a4", "0 0", "0"]
    here = matrix([row.split(",") for row in WEATHER[1:]])
    return Result([Table("Rows from the diagonal on:", ["row", "paper", "here"],
                         [list(row) for row in zip(range(4), printed, here)])], printed == here)


def figure4(context):
    found = geo_st(context)
    path = " ---> ".join(
        f"{c['region']} ({c['level']}-CCR{' & CCCR' if c['region'] in found['cccr'] else ''})"
        for c in reversed(found["ccr"]))
    names = found["decision_table"]["attributes"]
    causes = [f"a{names.index(cause) + 1}" for cause in found["root_causes"]]
    rows = [("kinds of processes", KINDS, found["clusters"]),
            ("CCRs", "region 14 (1-CCR) ---> region 11 (2-CCR & CCCR)", path),
            ("CCCR", ["region 11"], found["cccr"]), ("root cause", ["a5"], causes)]
    return compared(*((*row, row[1] == row[2]) for row in rows))


def table2(context):
    rows = geo_st(context)["decision_table"]["rows"]
    printed = TABLE_2 + [None] * (len(rows) - len(TABLE_2))
    result = compared(*((i, paper or "left out", here, paper == here if paper else None)
                        for i, (paper, here) in enumerate(zip(printed, rows))))
    result.tables[0].caption = "Table 2, the decision table (a1 ... a5, D):"
    result.tables[0].head[0] = "process"
    return result


def figure5(context):
    rows, same = [], True
    for i, (printed, here) in enumerate(zip(FIGURE_5, matrix(geo_st(context)["decision_table"]["rows"]))):
        wrong = {(i, j) for j, (one, other) in enumerate(zip(printed.split(), here.split()), i)
                 if one != other}
        same &= wrong <= SLIPS
        but = "".join(f" but for ({i},{j})" for i, j in sorted(wrong & SLIPS))
        rows.append([i, printed, here, ("same" if wrong <= SLIPS else "DIFFERS") + but])
    return Result([Table("Figure 5, the discernibility matrix (from the diagonal on):",
                         ["row", "paper", "here", ""], rows)], same, partial=True)


def figure6(context):
    found = geo_st(context)
    column = found["decision_table"]["attributes"].index("executing instruction number")
    codes = [row[column] for row in found["decision_table"]["rows"]]
    kinds = [next(k for k, members in enumerate(found["clusters"]) if process in members)
             for process in range(len(codes))]
    rows = [[process, kind, code] for process, (kind, code) in enumerate(zip(kinds, codes))]
    return Result([Table("", ["process", "kind by CPU time", "class by instructions"], rows)],
                  None)


def repair(context):
    before, after = geo_st(context), geo_st(context, "geo_st_repaired")
    faster = before["balance"]["region_total"] / after["balance"]["region_total"]
    kinds = len(after["clusters"])
    return compared(("kinds after the repair", 1, kinds, kinds == 1),
                    ("severity", "0.783958", f"{before['severity']:.6f}", None),
                    ("severity after the repair", "0.032800", f"{after['severity']:.6f}", None),
                    ("times as fast after the repair", "1.4", f"{faster:.1f}", None))


def utilization(context):
    rows = [[when, "the plot is missing",
             f"{100 * geo_st(context, name)['balance']['load_balance']:.1f} %"]
            for when, name in (("before", "geo_st"), ("after", "geo_st_repaired"))]
    return Result([Table("", ["optimization", "paper", "mean of the processes' time / largest"],
                         rows)], None)


ITEMS = [
    Item("spmd-table1", "Table 1: core and reducts of the example",
         "core {a1}; {a1, a2} or {a1, a3} after step 3.", "", 1, table1),
    Item("spmd-figure2", "Figure 2: discernibility matrix of the example",
         "the matrix.", "", 1, figure2),
    Item("spmd-figure4", "Figure 4: analysis of Geo-ST",
         "five kinds of processes, region 14 as 1-CCR, region 11 as 2-CCR and CCCR; root cause a5.",
         CONSTRUCTED, 1, figure4),
    Item("spmd-table2", "Table 2: decision table of Geo-ST", "rows 0 to 5.",
         CONSTRUCTED + " The paper omits rows 6 and 7. Figure 5 determines them up to labels.", 1,
         table2),
    Item("spmd-figure5", "Figure 5: discernibility matrix of Geo-ST", "the matrix.",
         "Entries (1,5) and (2,5) are not compared: the figure has a2a4a5, and table 2 gives "
         "a1a2a4a5. The matrix here is that of the decision table which `tsanom similar` prints.", 1,
         figure5),
    Item("spmd-figure6", "Figure 6: executed instructions in region 11",
         "the processes differ in the number of instructions as they do in CPU time.",
         CONSTRUCTED + " The bars are missing in the copy of the paper that we have.", 1, figure6),
    Item("spmd-repair", "The repair of Geo-ST (section 5)",
         "severity 0.783958 before and 0.032800 after; one kind; 1.4 times as fast.",
         CONSTRUCTED + " Equation 2 is missing in the copy of the paper that we have. The severity here is "
         "the largest distance / the largest norm.", 1, repair),
    Item("spmd-figures7-8", "Figures 7 and 8: CPU utilization before and after the repair",
         "the processors are used more evenly after the repair.",
         CONSTRUCTED + " The plots over time are missing in the copy of the paper that we have.", 1,
         utilization),
]
