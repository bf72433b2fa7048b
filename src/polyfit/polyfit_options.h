/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSN_POLYFIT_OPTIONS_H
#define TSN_POLYFIT_OPTIONS_H

#include <tsanom/polyfit.h>

/* The caller's options (NULL: the defaults), checked and with the automatic
 * tolerance filled in. */
tsanom_status tsn_polyfit_options_read(tsanom_polyfit_options *own,
                                       const tsanom_polyfit_options *caller);

#endif
