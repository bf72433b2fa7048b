/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics of --metrics: which of them this machine has, and those that the kernel
 * counts. The others are in counters.h. */
#ifndef TSANOM_TOOLS_METRICS_H
#define TSANOM_TOOLS_METRICS_H

#include <stddef.h>
#include <stdint.h>

/* Bits of the metrics that a list names, separated by commas, or of all ("auto"); 0: the
 * list has another name. */
uint32_t metrics_of_list(const char *list);

/* The name of a metric, TSN_REGIONS_*, and its length. */
const char *metrics_name(int metric, size_t *length);

/* Whether the calling thread can count it: 0 or an errno. */
int metrics_check(int metric);

/* Bytes that the calling thread has read from storage and written to it, in units of
 * 512. */
uint64_t metrics_disk_bytes(void);

/* Bytes received and sent by the network devices, without the loopback: 0 or an errno.
 * For one thread of a process. */
int metrics_network_bytes(uint64_t *bytes);

/* The same from the text of /proc/net/dev. */
int metrics_parse_network(const char *text, uint64_t *bytes);

/* And from a file. */
int metrics_read_network(const char *path, uint64_t *bytes);

#endif
