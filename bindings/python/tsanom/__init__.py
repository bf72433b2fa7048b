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

from typing import TYPE_CHECKING, Any

from . import heartbeat as heartbeat
from ._bounds import (EnvelopeStream, envelope, lb_enhanced, lb_improved, lb_keogh, lb_keogh_pair,
                      lb_kim, lb_tail)
from ._change import Change, ChangeDetector, RunComparison, compare_runs, find_changes
from ._dtw import dtw, dtw_path
from ._errors import TsanomError, TsanomWarning
from ._causes import Cause, NormalRanges, Power
from ._hsa import (Diagnosis, Model, Step, ThreadModel, ThreadVerdict, beat_features,
                   thread_signs)
from ._ledger import Ledger, LedgerWindow, ThreadTime
from ._library import version as __version__
from ._optics import OpticsOrdering, Split, optics_order
from ._period import Loop, Period, PeriodDetector, loops, period
from ._polyfit import Fit, FitStream, polyfit
from ._roughset import (Rule, core_attributes, decision_rules, dependency, discretize,
                        greedy_reduct, inconsistent_pairs, minimum_reducts, reducts, significance)
from ._run_parts import Damage, Message, Place, RegionTimes, RunInfo, Stream
from ._runs import Run, heart_rate
from ._search import Index, SearchReport, search_stream
from ._sets import Barycenter, dtw_barycenter, dtw_matrix, dtw_medoid
from ._speedup import (MainLoop, Prediction, Speedup, SpeedupAnalyzer, SpeedupLoop, main_loop,
                       region_events, speedup, speedup_level, speedup_summarize)
from ._spmd import Decision, RegionSummary, Similarity, spmd_analyze
from ._watch import Anomaly, Pulse, Watch

if TYPE_CHECKING:
    from ._estimator import OPTICS as OPTICS


def __getattr__(name: str) -> Any:
    """OPTICS is imported when it is used: it needs scikit-learn."""
    if name == "OPTICS":
        from ._estimator import OPTICS
        return OPTICS
    raise AttributeError(f"module 'tsanom' has no attribute '{name}'")


__all__ = [
    "Anomaly", "Barycenter", "Cause", "Change", "ChangeDetector", "Damage", "Decision",
    "Diagnosis", "EnvelopeStream", "Fit", "FitStream", "Index", "Ledger", "LedgerWindow", "Loop",
    "MainLoop", "Message", "Model", "NormalRanges", "OPTICS", "OpticsOrdering", "Period",
    "PeriodDetector", "Place", "Power", "Prediction", "Pulse", "RegionSummary", "RegionTimes",
    "Rule", "Run", "RunComparison", "RunInfo", "SearchReport", "Similarity", "Speedup",
    "SpeedupAnalyzer", "SpeedupLoop", "Split", "Step", "Stream", "ThreadModel", "ThreadTime",
    "ThreadVerdict", "TsanomError", "TsanomWarning", "Watch", "__version__", "beat_features",
    "compare_runs", "core_attributes", "decision_rules", "dependency", "discretize", "dtw",
    "dtw_barycenter", "dtw_matrix", "dtw_medoid", "dtw_path", "envelope", "find_changes",
    "greedy_reduct", "heart_rate", "heartbeat", "inconsistent_pairs", "lb_enhanced", "lb_improved",
    "lb_keogh", "lb_keogh_pair", "lb_kim", "lb_tail", "loops", "main_loop", "minimum_reducts",
    "optics_order", "period", "polyfit", "reducts", "region_events", "search_stream",
    "significance", "speedup", "speedup_level", "speedup_summarize", "spmd_analyze", "thread_signs"]
