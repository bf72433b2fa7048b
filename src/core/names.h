/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that libtsanom returns and libtsanom-runs writes to files, which does not contain
 * it. */
#ifndef TSN_CORE_NAMES_H
#define TSN_CORE_NAMES_H

/* Features by TSANOM_HSA_*. */
#define TSN_HSA_FEATURE_NAMES \
  "gtr", "ltr", "ghr", "lhr", "dtw", "lb_keogh", "beat_ratio", "interval_ratio"

/* Signs by TSANOM_HSA_SIGN_*. */
#define TSN_HSA_SIGN_NAMES                                                       \
  "interval_s", "gap_s", "silence_s", "tail", "share", "team_interval", "cpu_s", \
      "cpu_quartile_s", "team_cpu", "wait", "blocked", "faults", "growth_bytes", \
      "growth_bytes_per_beat", "blocked_gap_s", "exit_status"

#endif
