/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a run, as documented in docs/formats.md. Every number is
 * little-endian; structs are written and read as they lie in memory. */
#ifndef TSN_RECORD_FORMAT_H
#define TSN_RECORD_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "core/checksum.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the files of a run are little-endian, and nothing here swaps bytes yet"
#endif

#define TSN_RUN_FILE "heartbeat.run"
#define TSN_STREAM_FILE "heartbeat.%05u" /* the number of the stream */
#define TSN_RUN_MAGIC "TSNHBRUN"
#define TSN_STREAM_MAGIC "TSNHBSTR"
#define TSN_REGIONS_DIRECTORY "regions"
#define TSN_VITAL_FILE "heartbeat.vital"
#define TSN_VITAL_MAGIC "TSNVITAL"

enum {
  TSN_FORMAT_VERSION = 2,
  TSN_STREAM_HEADER = 4096, /* bytes before the first record: a page */
  TSN_RECORD = 16,
  TSN_VITAL_RECORD = 128, /* also the bytes before the first */
  TSN_FILE_NAME = 24,     /* capacity for either name */
  TSN_PROGRAM_NAME = 64,
  TSN_MACHINE_NAME = 64,
  TSN_HOST_NAME = 64,
  TSN_TASK_NAME = 16, /* of a thread, as the kernel has it, with the zero that ends it */
  TSN_BOOT = 16       /* bytes of the number of a boot */
};

/* States of a run and of a stream. */
enum { TSN_RUNNING = 1, TSN_FINISHED = 2 };

typedef struct {
  uint64_t time; /* ticks of the run's clock, never 0 */
  uint32_t tag;
  uint32_t check; /* tsn_record_check() */
} tsn_record;

/* The same moment by the run's clock and by CLOCK_MONOTONIC. */
typedef struct {
  uint64_t ticks;
  uint64_t nanoseconds;
} tsn_moment;

/* All of heartbeat.run. Rewritten as a whole by one pwrite(), which SIGKILL
 * does not cut in two. */
typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t bytes;  /* of this struct */
  uint64_t run_id; /* in every stream of the run too */
  uint32_t state;
  int32_t announced; /* threads */
  uint32_t streams;  /* stream files that must be there */
  uint32_t clock;    /* TSANOM_RECORD_CLOCK_*, never AUTO */
  uint64_t start;    /* nanoseconds since 1970 */
  uint64_t pid;
  tsn_moment first;  /* when the run began: its time 0 */
  tsn_moment latest; /* gives the length of a tick, more and more exactly */
  uint64_t dropped;  /* beats dropped */
  char program[TSN_PROGRAM_NAME];
  char machine[TSN_MACHINE_NAME]; /* processor, and how many the program may use */
  /* Where `pid` and CLOCK_MONOTONIC have a meaning. Zeros: not known. */
  char host[TSN_HOST_NAME];
  unsigned char boot[TSN_BOOT];
  uint64_t pid_namespace, time_namespace; /* inodes */
  uint32_t cpu_times;                     /* TSN_CPU_TIMES_* */
  int32_t error;                          /* errno of the first failure; 0: none */
  uint64_t lost;                          /* beats of threads without a stream */
  uint64_t age; /* ns that the process had run for; 0: not known */
  /* Finished: ns of processor time of the process, and during the run of those that it started
   * and awaited. Before: of those that it had awaited when the run began. */
  uint64_t used, children;
  uint32_t opener; /* thread whose regions and team are shown: TSN_REGIONS_OPENER_SHIFT */
  uint32_t reserved0;
  uint64_t reserved[17];
  uint64_t checksum; /* of all before */
} tsn_run_header;

/* Which visits of regions have processor times. */
enum { TSN_CPU_TIMES_NONE = 0, TSN_CPU_TIMES_ALL, TSN_CPU_TIMES_SAMPLED };

/* The beginning of a stream file; zeros follow up to the first record. */
typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t bytes; /* before the first record */
  uint64_t run_id;
  uint32_t stream;
  int32_t announced; /* the thread number its beats gave */
  uint32_t state;
  int32_t error;    /* errno of the first failure; 0: none */
  uint64_t backed;  /* records with disk space behind them: the file's least length */
  uint64_t count;   /* finished: the records there are; else 0 */
  uint64_t dropped; /* beats dropped */
  uint64_t reserved[7];
  uint64_t checksum; /* of all before */
} tsn_stream_header;

/* The beginning of heartbeat.vital. */
typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t bytes; /* of this struct, and of a sample */
  uint64_t run_id;
  uint32_t state;
  uint32_t sampler;   /* TSN_VITAL_BY_*; ENDS: nothing */
  uint64_t period;    /* nanoseconds between samples at best */
  uint64_t count;     /* finished: the samples in the file; else 0 */
  uint64_t lost;      /* finished: samples for which there was no space */
  uint64_t unordered; /* 1: samples were overwritten */
  uint64_t reserved[7];
  uint64_t checksum; /* of all before */
} tsn_vital_header;

/* A sample of the process, or of a thread that beats. A number that is not known is
 * TSN_UNAVAILABLE, a state TSN_UNAVAILABLE_STATE. */
typedef struct {
  uint64_t time;   /* ticks of the run's clock, never 0 */
  uint32_t stream; /* of the thread; TSN_VITAL_PROCESS: a sample of the process */
  int32_t thread;  /* the thread number that its beats give; -1: the process */
  int32_t task;    /* the kernel's number of the thread or process */
  uint32_t state;  /* a letter: see proc(5) */
  uint64_t cpu;    /* ns on a processor, so far, as are all below */
  union {
    uint64_t wait; /* a thread: ns ready to run, without a processor */
    uint64_t peak; /* the process: the most bytes resident */
  };
  uint64_t voluntary, involuntary; /* switches; threads only */
  uint64_t minor, major;           /* page faults */
  union {
    uint64_t resident; /* the process: bytes now */
    uint64_t spun;     /* a thread: ns of `cpu` in which it waited for its team */
  };
  union {
    /* The process: bytes and threads now. */
    struct {
      uint64_t anonymous, threads;
    };
    char name[TSN_TASK_NAME]; /* a thread; the last byte is 0 if it is known */
  };
  union {
    /* The process: its exit status, minus the signal that killed it, or 0. */
    int32_t exit;
    int32_t waits; /* a thread: TSANOM_HSA_WAITS_* */
  };
  /* Threads: 1 + the number of the one it ran on last; 0: not known. */
  uint32_t processor;
  uint64_t sequence; /* number of the sample */
  uint64_t number;   /* among the samples of the stream, or of the process */
  uint64_t check;    /* tsn_vital_check() */
} tsn_vital_record;

/* RUN/messages: what recorders inside of programs report. */
#define TSN_MESSAGES_FILE "messages"
#define TSN_MESSAGES_MAGIC "TSNMESSG"

enum { TSN_MESSAGES = 16, TSN_MESSAGE_TEXT = 224 };

typedef struct {
  uint64_t number; /* from 1; 0: empty, or being written */
  uint64_t time;   /* nanoseconds since 1970 */
  int32_t process;
  int32_t error;               /* an errno; 0: none */
  char text[TSN_MESSAGE_TEXT]; /* terminated by zero */
} tsn_message;

/* Message n is in slot (n - 1) % TSN_MESSAGES. */
typedef struct {
  char magic[8];
  uint32_t version;
  uint32_t bytes; /* of this struct */
  uint64_t count; /* of messages so far */
  uint64_t alone; /* programs that were executed without the recorder */
  uint64_t reserved[12];
  tsn_message message[TSN_MESSAGES];
} tsn_message_page;

/* What samples besides init and finish. */
enum { TSN_VITAL_BY_THREAD = 1, TSN_VITAL_BY_PROCESS = 2, TSN_VITAL_BY_ENDS = 3 };

#define TSN_UNAVAILABLE UINT64_MAX
#define TSN_UNAVAILABLE_STATE UINT32_MAX
#define TSN_VITAL_PROCESS UINT32_MAX

_Static_assert(sizeof(tsn_vital_header) == TSN_VITAL_RECORD, "format");
_Static_assert(sizeof(tsn_vital_record) == TSN_VITAL_RECORD, "format");
_Static_assert(sizeof(tsn_message_page) == 4096, "format");
_Static_assert(sizeof(tsn_record) == TSN_RECORD, "format");
_Static_assert(sizeof(tsn_run_header) == 512, "format");
_Static_assert(sizeof(tsn_stream_header) == 128, "format");

static inline uint64_t tsn_vital_check(const tsn_vital_record *record,
                                       uint64_t sequence) {
  return tsn_checksum(record, offsetof(tsn_vital_record, check)) ^ sequence;
}

/* The upper half of a product of time and tag, XORed with the low half of the
 * sequence number. It takes one multiplication. Flipping any one bit of time or tag
 * changes it; a test tries all of them. */
static inline uint32_t tsn_record_check(uint64_t time, uint32_t tag, uint64_t sequence) {
  uint64_t product = (time ^ (uint64_t)tag << 32) * 0x9E3779B97F4A7C15u;
  return (uint32_t)(product >> 32) ^ (uint32_t)sequence;
}

#endif
