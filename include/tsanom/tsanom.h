/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Umbrella header: includes the headers of all modules. */
#ifndef TSANOM_TSANOM_H
#define TSANOM_TSANOM_H

#include <tsanom/base.h>
#include <tsanom/change.h>
#include <tsanom/diagnosis.h>
#include <tsanom/dpd.h>
#include <tsanom/dtw.h>
#include <tsanom/heartbeat.h>
#include <tsanom/hsa.h>
#include <tsanom/lbkeogh.h>
#include <tsanom/optics.h>
#include <tsanom/polyfit.h>
#include <tsanom/record.h>
#include <tsanom/roughset.h>
#include <tsanom/runs.h>
#include <tsanom/search.h>
#include <tsanom/speedup.h>
#include <tsanom/spmd.h>

#endif
