/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal structure of an event detector. */
#ifndef TSN_DPD_EVENT_H
#define TSN_DPD_EVENT_H

#include <tsanom/dpd.h>

#include "core/state.h"
#include "dpd/dpd_ngram.h"

struct tsanom_dpd_event {
  tsn_object owner;
  tsanom_dpd_event_options options; /* with the largest window */
  tsn_history history;              /* also of events that left the window */
  tsn_ngram ngram;                  /* has the window in use */
  uint64_t reported;                /* the period after the last push */
  uint64_t start;    /* number at which the next segment of that period begins */
  uint64_t unlocked; /* events since there was a period */
};

extern const tsn_saved tsn_dpd_event_saved;

#endif
