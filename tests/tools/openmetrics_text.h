/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the OpenMetrics text format, as a reader of metrics applies them. */
#ifndef TSANOM_TEST_OPENMETRICS_TEXT_H
#define TSANOM_TEST_OPENMETRICS_TEXT_H

/* The first rule that a text of gauges breaks, with the line; NULL: it keeps them all. The
 * result lives until the next call. */
const char *openmetrics_fault(const char *text);

#endif
