# SPDX-License-Identifier: BSD-3-Clause
"""What happened in a run, on one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

from ._arrays import new
from ._call import call, plain
from ._causes import STATES, Cause, Causes, cause_of, sentence
from ._library import NONE, NULL, ffi, lib, runs

_SUMMARY = ffi.typeof("tsanom_diagnosis_summary *")
_SLOW = ffi.typeof("tsanom_diagnosis_slow[16]")
_NUMBER = ffi.typeof("int32_t *")

ANSWERS = {value: name[len("TSANOM_DIAGNOSIS_"):].lower() for name, value in (
    (name, getattr(lib, name)) for name in (
        "TSANOM_DIAGNOSIS_QUIET", "TSANOM_DIAGNOSIS_FINDING", "TSANOM_DIAGNOSIS_ENDED",
        "TSANOM_DIAGNOSIS_TEAM", "TSANOM_DIAGNOSIS_SLOW", "TSANOM_DIAGNOSIS_GROWS",
        "TSANOM_DIAGNOSIS_NOBODY", "TSANOM_DIAGNOSIS_READY"))}
KINDS = ("single", "stretch", "recurring", "since", "until")
REASONS = ("unknown", "work", "ready", "page_faults", "reading", "blocked", "stopped")


@dataclass(frozen=True)
class SlowIterations:
    """Iterations that are slow for one reason; they are numbered from 0. Numbers that are not known
    are NaN."""

    sentence: str
    """Which, by how much, where, and why."""
    kind: str
    """"single", "stretch", "recurring", "since", "until"."""
    first: int
    last: int
    count: int
    period: int
    """Iterations from one to the next; 0: they do not recur."""
    place: Optional[Tuple[int, int]]
    """Of a change: it is at one of these iterations, or between them; None: not known."""
    ratio: float
    """Their mean time over the median of normal iterations."""
    low: float
    """With 95 % it is at least this."""
    high: float
    """And at most this."""
    lost_s: float
    """Seconds more than as many normal iterations take."""
    region: Optional[str]
    """Where; None: not known."""
    thread: Optional[int]
    """That took longer; None: all, or not known."""
    reason: str
    """What most of the lost time was: "unknown", "work", "ready", "page_faults", "reading",
    "blocked", "stopped"."""
    of_processor: bool
    """Whether `ratio`, `low` and `high` are of processor times."""


@dataclass(frozen=True)
class Summary:
    """What happened in a run. `print` it. Numbers that are not known are NaN."""

    verdict: str
    """One sentence: how the run ended, and what was found."""
    answer: str
    """What that is: "quiet", "finding", "ended", "team", "slow", "grows", "nobody", "ready"."""
    alarm: bool
    """Whether something is wrong."""
    text: str
    """The page."""
    next: str
    """A command to type, or where to look."""
    state: str
    exit_code: int
    """Exit status, or minus the signal that killed the program."""
    seconds: float
    iterations: int
    """Of the busiest thread; 0: the program has none."""
    iteration_s: float
    """Mean time of one."""
    slow: Optional[List[SlowIterations]]
    """Slow iterations, those that lost most first; None: they were not searched for, since the
    program has less than 21 iterations."""
    finding: Optional[Cause]
    """Of the model, or a hang."""
    members: Tuple[int, int]
    """Threads that take longer than the others, and the first of them."""
    region: Optional[str]
    """Where they do; None: in all regions together."""
    ratio: float
    """How many times as long."""
    saved_s: float
    """Seconds that ideal balance would save."""
    processor_s: float
    """Of these, what a slower processor may explain."""
    other_work: bool
    """They may do other work than the others, which is no fault."""
    peak: float
    """Most bytes in memory."""
    growth: float
    """Bytes that were added after the first fifth of the iterations."""

    def __str__(self) -> str:
        return self.text


class Collector:
    """A summary in C, and what its pointers need."""

    def __init__(self, path: str, missing: List[str], source: Any = None) -> None:
        """`source`: an open run in which slow iterations are searched for."""
        self.struct = new(_SUMMARY)
        self._slow = ffi.new(_SLOW)
        if source is not None:
            self.struct.slow, self.struct.slow_capacity = self._slow, len(self._slow)
            self.struct.activities, self.struct.source = runs.tsanom_runs_activities, source
        self._kept = [ffi.new("char[]", text.encode(errors="surrogateescape"))
                      for text in (path, *missing)]
        self._missing = ffi.new("char *[]", self._kept[1:])
        self.struct.path = self._kept[0]
        self.struct.missing, self.struct.missing_count = self._missing, len(missing)
        self._region: Optional[str] = None

    def add(self, run: Any, causes: Optional[Causes]) -> None:
        """Add a run in C, which a model judged."""
        structs, count = causes.structs if causes else (NULL, 0)
        call(lib.tsanom_diagnosis_summarize, (run, -1, -1, structs, count), (self.struct,))

    def clear_iterations(self) -> None:
        """The beats of the run are no iterations."""
        self.struct.iterations, self.struct.iteration_s = 0, float("nan")

    def add_team(self, view: Any, report: Any, regions: List[str],
                 threads: Optional[List[str]] = None) -> None:
        """Add which threads differ. Their numbers may have gaps."""
        plain(lib.tsanom_diagnosis_summarize_team(view, report, self.struct))
        if self.struct.team.members and threads:
            self.struct.team.first = int(threads[self.struct.team.first])
        if self.struct.team.members and self.struct.team.region < len(regions):
            region = regions[self.struct.team.region]
            self._region = region
            self._kept.append(ffi.new("char[]", region.encode()))
            self.struct.team_region = self._kept[-1]

    def slow(self) -> Optional[List[SlowIterations]]:
        """Slow iterations."""
        if not self.struct.searched:
            return None
        found = []
        for i, one in enumerate(self._slow[0:self.struct.slow_count]):
            text = sentence(lib.tsanom_diagnosis_summary_text, self.struct,
                            lib.TSANOM_DIAGNOSIS_SUMMARY_SLOW + i)
            found.append(SlowIterations(
                text, KINDS[one.kind], one.first, one.last, one.count, one.period,
                None if one.place_low == NONE else (one.place_low, one.place_high),
                one.ratio, one.low, one.high, one.lost_s,
                ffi.string(one.region).decode(errors="replace") or None,
                None if one.thread < 0 else one.thread,
                REASONS[one.reason], bool(one.of_processor)))
        return found

    def result(self) -> Summary:
        """The summary."""
        s, answer, alarm = self.struct, new(_NUMBER), new(_NUMBER)
        plain(lib.tsanom_diagnosis_summary_answer(s, answer, alarm))
        finding = s.finding if s.finding.cause != lib.TSANOM_HSA_NORMAL else None
        verdict, page, following = (
            sentence(lib.tsanom_diagnosis_summary_text, s, part)
            for part in (lib.TSANOM_DIAGNOSIS_SUMMARY_VERDICT, lib.TSANOM_DIAGNOSIS_SUMMARY_PAGE,
                         lib.TSANOM_DIAGNOSIS_SUMMARY_NEXT))
        return Summary(
            verdict, ANSWERS[answer[0]], bool(alarm[0]), page, following, STATES[s.state],
            s.exit_code, s.seconds, s.iterations, s.iteration_s, self.slow(),
            finding and cause_of(finding),
            (s.team.members, s.team.first), self._region, s.team.ratio, s.team.saved_s,
            s.team.processor_s, bool(s.team.other_work), s.peak, s.growth)


__all__ = ["Collector", "SlowIterations", "Summary"]
