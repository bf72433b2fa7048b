/* SPDX-License-Identifier: BSD-3-Clause */
/* places.tsv: which code the places of a run are. */
#ifndef TSN_REGIONS_PLACES_H
#define TSN_REGIONS_PLACES_H

#include <tsanom/regions.h>

/* Read the file in that folder. Two passes: with `places` NULL only *count is
 * found. */
tsanom_status tsn_places_read(const char *folder, tsanom_regions_place *places,
                              size_t *count, tsanom_heartbeat_fault *fault);

/* Fill in a fault; returns the status it is given. */
__attribute__((format(printf, 5, 6))) tsanom_status tsn_places_fault(
    tsanom_heartbeat_fault *fault, tsanom_status status, const char *folder,
    uint64_t offset, const char *text, ...);

#endif
