#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Table 1 of the heartbeat paper: cycle and heart rate of the six workloads, the
paper's beside ours. Prints a Markdown table; takes a quarter of a minute.

    heartbeat_rates.py BUILD_DIR [--programs NAME ...] [--threads N] [--size NAME]

BUILD_DIR is one that `cmake --preset bench && cmake --build --preset bench` made.
The paper ran four threads on a machine that it does not describe; its rates and
ours are of all threads together.
"""
import tempfile

import workloads

# Iterations per beat and beats/s.
PAPER = {"bt": (1, 97519.4), "lu": (1, 346877.5), "cg": (10, 176311.3),
         "sp": (1000, 528756.4), "jacobi": (10000, 5488.1), "arraybench": (1, 31695.64)}


def main():
    chosen = workloads.parser(__doc__, size="small").parse_args()
    workloads.print_header(chosen, "", "benchmark", "iterations per beat", "paper, beats/s",
                           "ours, beats/s", "ours/paper")
    for program in chosen.programs:
        cycle, paper = PAPER[program]
        with tempfile.TemporaryDirectory() as folder:
            rate = workloads.run(chosen.build, program, "--threads", chosen.threads,
                                 "--size", chosen.size, "--cycle", cycle, "--record",
                                 f"{folder}/run").beats_per_second
        print(f"| {program} | {cycle} | {paper:.0f} | {rate:.0f} | {rate / paper:.2f} |",
              flush=True)


if __name__ == "__main__":
    main()
