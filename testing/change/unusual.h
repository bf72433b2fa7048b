/* SPDX-License-Identifier: BSD-3-Clause */
/* Noise that is not normal, without a change. */
#ifndef TSANOM_TESTING_CHANGE_UNUSUAL_H
#define TSANOM_TESTING_CHANGE_UNUSUAL_H

#include "change/series.h"

static const change_kind change_unusual[] = {
    {.name = "exponential", .scatter = 0.05, .noise = CHANGE_EXPONENTIAL},
    {.name = "log-normal", .scatter = 0.05, .noise = CHANGE_LOGNORMAL},
    {.name = "Student's t, 2", .scatter = 0.05, .noise = CHANGE_STUDENT},
    {.name = "uniform", .scatter = 0.05, .noise = CHANGE_UNIFORM},
    {.name = "5 % 5 deviations away", .scatter = 0.05, .share = 0.05, .apart = 5},
    {.name = "10 % 8 deviations away", .scatter = 0.05, .share = 0.1, .apart = 8},
    {.name = "30 % 20 deviations away", .scatter = 0.05, .share = 0.3, .apart = 20},
    {.name = "50 % 20 deviations away", .scatter = 0.05, .share = 0.5, .apart = 20}};
enum { CHANGE_UNUSUAL = sizeof change_unusual / sizeof *change_unusual };

#endif
