# SPDX-License-Identifier: BSD-3-Clause
"""Time series and diagnosis of parallel programs.

`dtw`, `dtw_path`, `dtw_matrix`, `dtw_medoid`, `dtw_barycenter`
    Dynamic time warping.
`envelope`, `lb_keogh`, ...
    Lower bounds of it.
`Index`, `search_stream`
    Exact nearest neighbors under it.
`OPTICS`, `optics_order`
    Clusters by density.
`polyfit`, `FitStream`
    Polynomial regression.
`period`, `PeriodDetector`, `loops`
    Periods of series, streams and events.
`find_changes`, `ChangeDetector`, `compare_runs`
    Changes of a series, and comparisons of runs.
`reducts`, `core_attributes`, ...
    Rough sets.
`speedup`, `main_loop`
    Iterations and speedup of a parallel program.
`spmd_analyze`
    Similarity of the processes of a parallel program.
`heartbeat`, `Run`, `Model`, `Watch`
    Recording, recorded runs, and their diagnosis, also while they run.

Functions with a parameter `progress` can be interrupted by Ctrl-C, and report progress. Functions
release the interpreter's lock while they compute. Errors are `TsanomError`; where a result is valid
but less than was asked for, there is a `TsanomWarning`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

from ._library import version as __version__

if TYPE_CHECKING:
    from . import heartbeat as heartbeat
    from ._bounds import (EnvelopeStream, envelope, lb_enhanced, lb_improved, lb_keogh,
                          lb_keogh_pair, lb_kim, lb_tail)
    from ._change import Change, ChangeDetector, RunComparison, compare_runs, find_changes
    from ._dtw import dtw, dtw_path
    from ._errors import TsanomError, TsanomWarning
    from ._causes import Cause, NormalRanges, Power
    from ._hsa import (Diagnosis, Model, Step, ThreadModel, ThreadVerdict)
    from ._ledger import Ledger, LedgerWindow, ThreadTime
    from ._optics import OpticsOrdering, Split, optics_order
    from ._period import Loop, Period, PeriodDetector, loops, period
    from ._polyfit import Fit, FitStream, polyfit
    from ._roughset import (Rule, core_attributes, decision_rules, dependency, discretize,
                            greedy_reduct, inconsistent_pairs, minimum_reducts, reducts,
                            significance)
    from ._run_parts import Damage, Message, Place, RegionTimes, RunInfo, Stream
    from ._runs import Run, heart_rate
    from ._search import Index, SearchReport, search_stream
    from ._sets import Barycenter, dtw_barycenter, dtw_matrix, dtw_medoid
    from ._speedup import (MainLoop, Prediction, RelatedLoop, Speedup, SpeedupAnalyzer,
                           SpeedupLoop, main_loop, region_events, speedup, speedup_level,
                           speedup_summarize)
    from ._spmd import Decision, RegionSummary, Similarity, spmd_analyze
    from ._summary import SlowIterations, Summary
    from ._watch import Anomaly, Job, Pulse, Remaining, Watch
    from ._estimator import OPTICS as OPTICS

# A module is imported when one of its names is used: all of them take ten times as long as the
# libraries, and a program uses few. _estimator needs scikit-learn.
_NAMES = {
    "_bounds": "EnvelopeStream envelope lb_enhanced lb_improved lb_keogh lb_keogh_pair lb_kim "
               "lb_tail",
    "_causes": "Cause NormalRanges Power",
    "_change": "Change ChangeDetector RunComparison compare_runs find_changes",
    "_dtw": "dtw dtw_path",
    "_errors": "TsanomError TsanomWarning",
    "_estimator": "OPTICS",
    "_hsa": "Diagnosis Model Step ThreadModel ThreadVerdict",
    "_ledger": "Ledger LedgerWindow ThreadTime",
    "_optics": "OpticsOrdering Split optics_order",
    "_period": "Loop Period PeriodDetector loops period",
    "_polyfit": "Fit FitStream polyfit",
    "_roughset": "Rule core_attributes decision_rules dependency discretize greedy_reduct "
                 "inconsistent_pairs minimum_reducts reducts significance",
    "_run_parts": "Damage Message Place RegionTimes RunInfo Stream",
    "_runs": "Run heart_rate",
    "_search": "Index SearchReport search_stream",
    "_sets": "Barycenter dtw_barycenter dtw_matrix dtw_medoid",
    "_speedup": "MainLoop Prediction RelatedLoop Speedup SpeedupAnalyzer SpeedupLoop main_loop "
                "region_events speedup speedup_level speedup_summarize",
    "_spmd": "Decision RegionSummary Similarity spmd_analyze",
    "_summary": "SlowIterations Summary",
    "_watch": "Anomaly Job Pulse Remaining Watch",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import the module that has the name."""
    if name == "heartbeat":
        return import_module(".heartbeat", __name__)
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'tsanom' has no attribute '{name}'")
    value = getattr(import_module("." + _MODULE_OF[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({name for name in globals() if name.startswith("__")} | set(__all__))


__all__ = [
    "Anomaly", "Barycenter", "Cause", "Change", "ChangeDetector", "Damage", "Decision", "Diagnosis",
    "EnvelopeStream", "Fit", "FitStream", "Index", "Job", "Ledger", "LedgerWindow", "Loop",
    "MainLoop", "Message", "Model", "NormalRanges", "OPTICS", "OpticsOrdering", "Period",
    "PeriodDetector", "Place", "Power", "Prediction", "Pulse", "RegionSummary", "RegionTimes",
    "RelatedLoop", "Remaining", "Rule", "Run", "RunComparison", "RunInfo", "SearchReport",
    "Similarity", "SlowIterations", "Speedup", "SpeedupAnalyzer", "SpeedupLoop", "Split", "Step",
    "Stream", "Summary", "ThreadModel", "ThreadTime", "ThreadVerdict", "TsanomError",
    "TsanomWarning",
    "Watch", "__version__", "compare_runs", "core_attributes", "decision_rules",
    "dependency", "discretize", "dtw", "dtw_barycenter", "dtw_matrix", "dtw_medoid", "dtw_path",
    "envelope", "find_changes", "greedy_reduct", "heart_rate", "heartbeat", "inconsistent_pairs",
    "lb_enhanced", "lb_improved", "lb_keogh", "lb_keogh_pair", "lb_kim", "lb_tail", "loops",
    "main_loop", "minimum_reducts", "optics_order", "period", "polyfit", "reducts", "region_events",
    "search_stream", "significance", "speedup", "speedup_level", "speedup_summarize",
    "spmd_analyze"]
