/* SPDX-License-Identifier: BSD-3-Clause */
/* Vital signs: samples of what the kernel knows about the process and its threads.
 *
 *   threads that claim a stream ──task──▶ board ──▶ sampler ──▶ heartbeat.vital
 *
 * The sampler is a helper thread, or a process where the program must not have a helper
 * thread. It has a table of descriptors of its own: what it opens and closes many times
 * a second never takes a number that the program expects to get. A thread's first beat
 * makes no system call for it.
 *
 * The first samples and the last are taken by the threads that call init and finish. */
#ifndef TSN_RECORD_VITAL_H
#define TSN_RECORD_VITAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <tsanom/record.h>

#include "record/file.h"
#include "record/format.h"
#include "record/helper.h"
#include "record/inside.h"
#include "record/vital_proc.h"

enum {
  TSN_VITAL_PERIOD = 50, /* ms, if the options do not say */
  /* The sampler's share of a processor is 1 / TSN_VITAL_SHARE. */
  TSN_VITAL_SHARE = 1250,
  TSN_VITAL_KEPT = 256 /* threads whose files the sampler keeps open */
};

/* Phases of a board: one writes to the file at a time. */
enum { TSN_VITAL_OPEN = 0, TSN_VITAL_WRITING, TSN_VITAL_CLOSED };

/* What a sampler knows of the run. Its mapping is never unmapped, and another process may
 * share it. */
typedef struct {
  uint32_t bytes; /* of this struct: both processes have the same layout */
  int32_t clock;
  int32_t process;
  _Atomic uint32_t phase;
  _Atomic uint32_t streams;
  uint64_t period; /* ns */
  uint64_t most;   /* samples in the file; 0: any number */
  _Atomic uint64_t count, lost;
  uint64_t slots;               /* of the file, in use; see vital_sample.c for these: */
  uint64_t stride, hand, found; /* stride 1: no sample was overwritten */
  uint32_t of_process;          /* samples */
  struct {
    _Atomic int32_t task; /* the kernel's number of the owner; 0: nobody */
    int32_t thread;
    uint32_t samples;
  } of[TSANOM_RECORD_STREAMS_MAX];
  tsn_team_thread team[TSN_TEAM_MOST]; /* by thread number */
} tsn_vital_board;

/* Of a channel; all zeros: it has no vital signs. */
typedef struct {
  _Atomic(tsn_vital_board *) board; /* NULL: none now */
  /* The board that the channel's streams are entered in: its own, or that of the run's
   * first channel, whose announced streams have the same numbers. */
  _Atomic(tsn_vital_board *) entered;
  tsn_vital_board *own, *shared; /* those that were made, for a thread and a process */
  uint32_t sampler;              /* TSN_VITAL_BY_* */
  int32_t exit;                  /* exit status, as far as it is known */
  tsn_file file;
  tsn_helper helper;
  tsn_file memory; /* of `shared` */
  tsn_file life;   /* the write end of the process's pipe */
} tsn_vital;

typedef struct {
  tsn_vital_board *board;
  int file;      /* heartbeat.vital */
  int directory; /* of the process in /proc; -1: there is none */
  int handle;    /* of the process; -1: there is none */
  uint32_t keep; /* streams whose files stay open */
  tsn_proc_files process;
  tsn_proc_files kept[TSN_VITAL_KEPT];
  uint32_t next;         /* stream to sample next */
  int64_t credit;        /* processor time that it may use, ns */
  uint64_t looked, used; /* elapsed and processor time when credit was computed */
  uint64_t cost;         /* that counted for the last round, ns */
} tsn_vital_sampler;

/* vital_sample.c */

/* Begin to sample: of a sampler with a table of descriptors of its own. */
void tsn_vital_begin(tsn_vital_sampler *sampler, tsn_vital_board *board, int file,
                     int directory);
/* Nanoseconds to wait for the next round. */
int64_t tsn_vital_pause(tsn_vital_sampler *sampler);
/* Sample the process, and some of its threads in turn. False: there is nothing more to
 * sample. */
bool tsn_vital_round(tsn_vital_sampler *sampler);
/* Sample the process and all threads; the caller is the only one that writes. */
void tsn_vital_sample_all(tsn_vital_board *board, int file, int32_t exit_code);
/* Note what ended a program that did not finish its run, if the kernel still knows it. */
void tsn_vital_note_end(tsn_vital_sampler *sampler);

/* Write samples, whose sequence and check it fills in; count those that were lost. */
void tsn_vital_write(tsn_vital_board *board, int file, tsn_vital_record *record,
                     size_t count);

/* The descriptors that tsanom-sampler is started with, and its argument: another version
 * ends at once. */
#define TSN_TEXT(value) TSN_TEXT_OF(value)
#define TSN_TEXT_OF(value) #value
#define TSN_SAMPLER_VERSION      \
  TSN_TEXT(TSANOM_VERSION_MAJOR) \
  "." TSN_TEXT(TSANOM_VERSION_MINOR) "." TSN_TEXT(TSANOM_VERSION_PATCH)

enum {
  TSN_SAMPLER_FILE = 3, /* heartbeat.vital; 0 to 2 lead nowhere */
  TSN_SAMPLER_BOARD,    /* memory with the tsn_vital_board */
  TSN_SAMPLER_PROC,     /* directory of the program in /proc */
  TSN_SAMPLER_LIFE,     /* pipe that breaks when the program ends */
  TSN_SAMPLER_WORDS, /* environment of the program, empty when it executes another one */
  TSN_SAMPLER_END
};

#endif
