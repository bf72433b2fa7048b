/* SPDX-License-Identifier: BSD-3-Clause */
/* The pictures of tsanom search. */
#ifndef TSANOM_COMMAND_SEARCH_PLOT_H
#define TSANOM_COMMAND_SEARCH_PLOT_H

#include <stddef.h>
#include <stdint.h>

#include "failure.h"

/* What is drawn of a result: what was found for one query, the best first. */
typedef struct {
  const char *path;
  int32_t z_normalize; /* shapes were compared: lay them on each other */
  size_t found;
  const size_t *index;
  const double *distance;
} search_picture;

/* The stream with the query laid on the matches, and the best of them with its
 * surroundings. */
int search_draw_stream(const search_picture *picture, const double *query, size_t n,
                       const double *stream, size_t samples, const char *stream_name,
                       failure *why);

/* The query and its neighbors among `series`, rows of n samples. */
int search_draw_nearest(const search_picture *picture, const double *query,
                        const double *series, size_t n, failure *why);

#endif
