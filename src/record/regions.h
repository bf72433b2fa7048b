/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags of region events: the 32-bit values by which a recorder writes what happens in a
 * program's parallel regions, and libtsanom-runs reads it. A run directory keeps them
 * in its subdirectory `regions`, in streams like those of heartbeats; `places.tsv` there
 * lists the places in the code. */
#ifndef TSN_RECORD_REGIONS_H
#define TSN_RECORD_REGIONS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Kinds of event: bits 0 to 2 of a tag. Append only. */
enum {
  TSN_REGIONS_BEGIN = 0,    /* a thread begins a parallel region */
  TSN_REGIONS_END = 1,      /* it ends it; with the threads of the team */
  TSN_REGIONS_SHARE = 2,    /* inside a region: thread 0 of it ends a worksharing
                                 construct or reaches a barrier; with processor times,
                                 every thread does */
  TSN_REGIONS_CPU = 3,      /* processor time that a thread spent in what the next event
                                 ends, if that was requested: the code of a region, the
                                 part of it in front of a TSN_REGIONS_SHARE, or a
                                 function. Of two in front of the end of a region the
                                 first is that of its last part */
  TSN_REGIONS_FUNCTION = 4, /* a thread enters or leaves a function, if that was
                                   requested: TSN_REGIONS_ENTERED, ... */
  TSN_REGIONS_TASK = 5,     /* tasks of one function that a thread has created since its
                                 last such record of it: their number */
  TSN_REGIONS_METRIC = 6,   /* what a thread counted during the processor time of the
                                 next TSN_REGIONS_CPU, if that was requested */
  TSN_REGIONS_WORK = 7      /* the thread that opened a region has ended its own work in
                                 it, and waits for its team until the TSN_REGIONS_END;
                                 with the threads of the team, at least 2. Not with
                                 processor times, whose TSN_REGIONS_CPU shows it */
};

/* Metrics of a TSN_REGIONS_METRIC. Append only. */
enum {
  TSN_REGIONS_INSTRUCTIONS = 0,  /* executed by the thread, outside of the kernel */
  TSN_REGIONS_L1_MISSES = 1,     /* reads that miss the first cache of data */
  TSN_REGIONS_L2_MISSES = 2,     /* requests that miss the second cache */
  TSN_REGIONS_DISK_BYTES = 3,    /* read from storage or written to it */
  TSN_REGIONS_NETWORK_BYTES = 4, /* received and sent by the network devices of the
                                         machine; of the thread that began the run */
  TSN_REGIONS_METRICS = 5        /* their number */
};

/* The names of the metrics in the order of their numbers, separated by commas. */
#define TSN_REGIONS_METRIC_NAMES \
  "instructions,L1-misses,L2-misses,disk-bytes,network-bytes"

/* What a TSN_REGIONS_FUNCTION says of its place, in the bits of the threads. The
 * values are */
enum {
  TSN_REGIONS_ENTERED = 0, /* the thread enters the function */
  TSN_REGIONS_LEFT = 1,    /* the thread leaves it */
  TSN_REGIONS_DROPPED = 2  /* it is called too often, and not recorded from now on */
};

/* Layout of a tag. Bits 3 to 15 contain the place, bits 16 to 31
 * the threads, or the number of tasks; of TSN_REGIONS_CPU bits 3 to 7 contain an
 * exponent e and bits 8 to 31 a number m: m·2^e nanoseconds; of TSN_REGIONS_METRIC
 * bits 3 to 5 contain the metric, bits 6 to 10 an exponent e and bits 11 to 31 a number
 * m: m·2^e. With the exponent TSN_REGIONS_NOT_COUNTED the count is not known, and m
 * is the errno that explains it. */
enum {
  TSN_REGIONS_KIND_BITS = 3,    /* the kind */
  TSN_REGIONS_NOT_COUNTED = 31, /* an exponent */
  TSN_REGIONS_PLACES_MAX = 8192 /* distinct places; the last stands for the rest */
};

/* The tag of a heartbeat by `tsanom record` is the number of its iteration, from 1, or
 * has one of these bits. Of a beat noted later, the bits below are how many
 * microseconds earlier the iteration began. Of one that is no iteration, but a step of
 * work within a region, they are the number of the step in its thread, from 1. */
enum {
  TSN_REGIONS_STEP_BIT = 30, /* of a heartbeat at tasks, or at chunks of a loop */
  TSN_REGIONS_EARLY_BIT = 31 /* of a heartbeat noted later */
};

/* The number of a thread in the headers of streams and in samples: the lower bits are its number in the
 * team, those above which thread opened the team's region. Of these, 0 is the first; the header of
 * the run says which of them readers show. */
enum { TSN_REGIONS_OPENER_SHIFT = 16, TSN_REGIONS_OPENERS = 64 };

/* The number of a thread in its team, by that in a header or a sample; -1: another thread than the one
 * that is shown opened its regions. */
static inline int32_t tsn_number_in_team(int32_t announced, uint32_t opener) {
  return (uint32_t)announced >> TSN_REGIONS_OPENER_SHIFT == opener
             ? announced & ((1 << TSN_REGIONS_OPENER_SHIFT) - 1)
             : -1;
}

/* Name of the file of totals in the directory of the events, and its first bytes. */
#define TSN_REGIONS_PROFILE "profile"
#define TSN_REGIONS_PROFILE_MAGIC "TSNPROFL" /* without a terminating zero */

/* Kinds of rows of a file of totals. The values are Append only. */
enum {
  TSN_REGIONS_ROW_THREAD = 1,      /* a thread */
  TSN_REGIONS_ROW_REGION = 2,      /* a parallel region in the row of its thread, in the
                                      computation or region that contains it */
  TSN_REGIONS_ROW_COMPUTATION = 3, /* what a thread computes before a call of MPI */
  TSN_REGIONS_ROW_BEATS = 4        /* up to two beats of a thread: the number, from 1, in
                                    `visits` and its moment by CLOCK_MONOTONIC in
                                    `elapsed`, and in `useful` and `waiting`. A number of
                                    0: none. `place` is the number of the row among
                                    these. In the first, `cpu` is the moment at which the
                                    beats began anew, or 0 */
};

/* The beginning of a file of totals. It is followed by rows up to the end of the file;
 * the first one of kind 0 ends them. */
typedef struct tsn_regions_profile {
  char magic[8];        /* TSN_REGIONS_PROFILE_MAGIC */
  uint32_t version;     /* 1 */
  uint32_t row_bytes;   /* of this struct, and of a row: 64 */
  uint64_t reserved[6]; /* 0 */
} tsn_regions_profile;

/* Totals of what a thread did: a row of `RUN/regions/profile`, by which a recorder
 * continues when it writes no more events. Times are in nanoseconds. */
typedef struct tsn_regions_row {
  uint32_t kind;   /* TSN_REGIONS_ROW_* */
  uint32_t thread; /* number of the thread */
  /* Number of the row that contains this one, from 1; 0: of a thread. */
  uint32_t parent;
  uint32_t place;   /* of the region, or of the call that ends the computation. Of a
                       thread: 1 for the one that began the run, else 0 */
  uint64_t visits;  /* how often; of a thread: events */
  uint64_t elapsed; /* without calls of MPI; of a thread: from its first event to its
                         latest */
  uint64_t useful;  /* processor time where it was measured, and elapsed time elsewhere;
                         of a thread: its first event by CLOCK_MONOTONIC */
  uint64_t waiting; /* in calls of MPI: in the region, in the calls that end the
                         computation, or in all of the thread */
  uint64_t cpu;     /* measured processor time; of a thread: 1 while it is in a call of
                         MPI, else 0 */
  uint64_t check;   /* FNV-1a sum of the first four fields */
} tsn_regions_row;

/* A region event, decoded. */
typedef struct {
  double cpu_s, count; /* of CPU and of METRIC, else 0; NaN: not known */
  int32_t kind;
  int32_t place;   /* -1 of CPU; of METRIC: the metric */
  int32_t threads; /* bits 16 to 31; 0 of CPU and METRIC */
} tsn_region_event;

static inline int32_t tsn_region_kind(uint32_t tag) {
  return (int32_t)(tag & ((1u << TSN_REGIONS_KIND_BITS) - 1));
}

static inline tsn_region_event tsn_region_decode(uint32_t tag) {
  uint32_t rest = tag >> TSN_REGIONS_KIND_BITS;
  int32_t kind = tsn_region_kind(tag);
  if (kind == TSN_REGIONS_METRIC) {
    uint32_t exponent = rest >> 3 & 31;
    double count = (double)(tag >> 11) * (double)(UINT32_C(1) << exponent);
    if (exponent == TSN_REGIONS_NOT_COUNTED) count = NAN;
    return (tsn_region_event){.kind = kind, .place = (int32_t)(rest & 7), .count = count};
  }
  if (kind == TSN_REGIONS_CPU) {
    double cpu_s = (double)(tag >> 8) * (double)(UINT32_C(1) << (rest & 31)) * 1e-9;
    return (tsn_region_event){.kind = kind, .place = -1, .cpu_s = cpu_s};
  }
  return (tsn_region_event){.kind = kind,
                            .place = (int32_t)(rest & (TSN_REGIONS_PLACES_MAX - 1)),
                            .threads = (int32_t)(tag >> 16)};
}

/* Whether a recorder writes such a tag: the work of a thread alone does not end. */
static inline bool tsn_region_is_valid(uint32_t tag) {
  return tsn_region_kind(tag) != TSN_REGIONS_WORK || tag >> 16 >= 2;
}

#endif
