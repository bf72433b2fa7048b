/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of events for the tests of dpd. */
#ifndef TSANOM_TEST_STREAMS_H
#define TSANOM_TEST_STREAMS_H

#include <stddef.h>
#include <stdint.h>

/* Fill with one of several kinds at random: noise over few or many identifiers,
 * repeated patterns that break off, loops in loops. */
void stream_random(uint64_t *event, size_t count, uint64_t *seed);

/* The identifiers of a file, one a line, which the stream has `times` times; what is read
 * must be freed. Fails the test where the file cannot be read. */
uint64_t *stream_read(const char *name, size_t times, size_t *count);

#endif
