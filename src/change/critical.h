/* SPDX-License-Identifier: BSD-3-Clause */
/* The axes of the table of critical gains. */
#ifndef TSN_CHANGE_CRITICAL_H
#define TSN_CHANGE_CRITICAL_H

enum { TSN_CHANGE_LENGTHS = 8, TSN_CHANGE_PHIS = 6, TSN_CHANGE_LEVELS = 3 };

extern const double tsn_change_lengths[TSN_CHANGE_LENGTHS];
extern const double tsn_change_phis[TSN_CHANGE_PHIS];
extern const double tsn_change_levels[TSN_CHANGE_LEVELS];

/* Interpolate a row of values, one for each of tsn_change_phis. */
double tsn_change_interpolate(const double *row, double phi);

#endif
