# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of the paper on similarity analysis and rough sets for SPMD programs."""
import geo_st
from papers_item import DIFFERS, Item, Result, Table, json_of, script

WEATHER = ["a1,a2,a3,a4,decision", "sunny,hot,high,False,N", "sunny,hot,high,True,N",
           "overcast,hot,high,False,P", "sunny,cool,low,False,P"]
CONSTRUCTED = ("The paper prints no times and no metrics. `tests/data/geo_st.json` contains constructed "
               "ones that agree with what it prints: the result tests the search and the rough sets, "
               "not the measurements.")


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
    table = [row.split(",") for row in WEATHER[1:]]
    printed = [["0", "0", "a1", "a2a3"], ["0", "a1a4", "a2a3a4"], ["0", "0"], ["0"]]
    here = [[geo_st.element(table, i, j) for j in range(i, 4)] for i in range(4)]
    rows = [[i, " ".join(printed[i]), " ".join(here[i])] for i in range(4)]
    return Result([Table("Rows from the diagonal on:", ["row", "paper", "here"], rows)],
                  printed == here)


def of_geo_st(position, first, last):
    """Rows of one of the tables that geo_st.py prints."""
    def run(context):
        table = script("geo_st.py", context.tsanom, accepted=DIFFERS)[position]
        table.rows = table.rows[first:last]
        if position == 0:
            table.caption = ""
        marks = {row[-1] for row in table.rows}
        same = False if "DIFFERS" in marks else True if "same" in marks else None
        return Result([table], same, partial="not comparable" in marks or position == 2)
    return run


def figure6(context):
    found = json_of(context.tsanom, "similar", "--fixed", geo_st.ROOT / "tests/data/geo_st.json", "--json")
    column = found["decision_table"]["attributes"].index("executing instruction number")
    codes = [row[column] for row in found["decision_table"]["rows"]]
    kinds = [next(k for k, members in enumerate(found["clusters"]) if process in members)
             for process in range(len(codes))]
    rows = [[process, kind, code] for process, (kind, code) in enumerate(zip(kinds, codes))]
    return Result([Table("", ["process", "kind by CPU time", "class by instructions"], rows)],
                  None)


def utilization(context):
    rows = []
    for when, name in ("before", "geo_st"), ("after", "geo_st_repaired"):
        balance = json_of(context.tsanom, "similar", "--fixed", geo_st.ROOT / f"tests/data/{name}.json",
                          "--json")["balance"]
        rows.append([when, "the plot is missing", f"{100 * balance['load_balance']:.1f} %"])
    return Result([Table("", ["optimization", "paper", "mean of the processes' time / largest"],
                         rows)], None)


ITEMS = [
    Item("spmd-table1", "Table 1: core and reducts of the example",
         "core {a1}; {a1, a2} or {a1, a3} after step 3.", "", 1, table1),
    Item("spmd-figure2", "Figure 2: discernibility matrix of the example",
         "the matrix.", "", 1, figure2),
    Item("spmd-figure4", "Figure 4: analysis of Geo-ST",
         "five kinds of processes, region 14 as 1-CCR, region 11 as 2-CCR and CCCR; root cause a5.",
         CONSTRUCTED, 1, of_geo_st(0, 0, 4)),
    Item("spmd-table2", "Table 2: decision table of Geo-ST", "rows 0 to 5.",
         CONSTRUCTED + " The paper omits rows 6 and 7. Figure 5 determines them up to labels.", 1,
         of_geo_st(1, 0, None)),
    Item("spmd-figure5", "Figure 5: discernibility matrix of Geo-ST", "the matrix.",
         "Entries (1,5) and (2,5) are not compared: the figure has a2a4a5, and table 2 gives "
         "a1a2a4a5. The matrix here is that of the decision table which `tsanom similar` prints.", 1,
         of_geo_st(2, 0, None)),
    Item("spmd-figure6", "Figure 6: executed instructions in region 11",
         "the processes differ in the number of instructions as they do in CPU time.",
         CONSTRUCTED + " The bars are missing in the copy of the paper that we have.", 1, figure6),
    Item("spmd-repair", "The repair of Geo-ST (section 5)",
         "severity 0.783958 before and 0.032800 after; one kind; 1.4 times as fast.",
         CONSTRUCTED + " Equation 2 is missing in the copy of the paper that we have. The severity here is "
         "the largest distance / the largest norm.", 1, of_geo_st(0, 4, None)),
    Item("spmd-figures7-8", "Figures 7 and 8: CPU utilization before and after the repair",
         "the processors are used more evenly after the repair.",
         CONSTRUCTED + " The plots over time are missing in the copy of the paper that we have.", 1,
         utilization),
]
