/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that libtsanom returns and libtsanom-runs writes to files, which does not contain
 * it. */
#ifndef TSN_CORE_NAMES_H
#define TSN_CORE_NAMES_H

/* Features by TSANOM_HSA_*. */
#define TSN_HSA_FEATURE_NAMES \
  "gtr", "ltr", "ghr", "lhr", "dtw", "lb_keogh", "beat_ratio", "interval_ratio"

/* Signs by TSANOM_DIAGNOSIS_SIGN_*. */
#define TSN_DIAGNOSIS_SIGN_NAMES                                                    \
  "gap_s", "tail", "share", "faults", "growth_bytes", "early_bytes", "exit_status", \
      "slowdown", "contention", "nobody", "imbalance"

#endif
