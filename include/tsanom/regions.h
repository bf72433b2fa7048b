/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Tags of region events: the 32-bit values by which a recorder writes what happens in a
 *  program's parallel regions, and <tsanom/runs.h> reads it. A run directory keeps them
 *  in its subdirectory `regions`, in streams like those of heartbeats; `places.tsv` there
 *  lists the places in the code. */
#ifndef TSANOM_REGIONS_H
#define TSANOM_REGIONS_H

#include <tsanom/base.h>

/** @addtogroup runs
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of event: bits 0 to 2 of a tag. ABI: append only. */
enum {
  TSANOM_REGIONS_BEGIN = 0, /**< a thread begins a parallel region */
  TSANOM_REGIONS_END = 1,   /**< it ends it; with the threads of the team */
  TSANOM_REGIONS_SHARE = 2, /**< inside a region: thread 0 of it ends a worksharing
                                 construct or reaches a barrier */
  TSANOM_REGIONS_CPU = 3,   /**< processor time that a thread spent in the code of the
                                 region that ends next, if that was requested */
  TSANOM_REGIONS_TASK = 5   /**< tasks of one function that a thread has created
                                 since its last such record of it: their number */
};

/** Layout of a tag. The values are ABI. Bits 3 to 15 contain the place, bits 16 to 31
 *  the threads, or the number of tasks; of ::TSANOM_REGIONS_CPU bits 3 to 7 contain an
 * exponent e and bits 8 to 31 a number m: m·2^e nanoseconds. */
enum {
  TSANOM_REGIONS_KIND_BITS = 3,    /**< the kind */
  TSANOM_REGIONS_PLACES_MAX = 8192 /**< distinct places; the last stands for the rest */
};

#ifdef __cplusplus
}
#endif
/** @} */
#endif
