/* SPDX-License-Identifier: BSD-3-Clause */
/** @file
 *  Runs: what did a program record, and how do I pass it to an analysis? Also model files.
 *
 *  Open a run by tsanom_runs_open(), whether its program finished, was killed, or still
 *  runs. While it runs, call tsanom_runs_refresh() to add what it wrote since. Then call the
 *  function whose result your analysis takes:
 *
 *  | you want                                | function                | for                   |
 *  |-----------------------------------------|-------------------------|-----------------------|
 *  | a verdict by heartbeats                 | tsanom_runs_hsa()       | tsanom_hsa_diagnose() |
 *  | causes of anomalies, a summary          | tsanom_runs_hsa()       | <tsanom/diagnosis.h>  |
 *  | iterations and speedup                  | tsanom_runs_events()    | tsanom_speedup_push() |
 *  | periods of the number of active threads | tsanom_runs_active()    | tsanom_dpd_find()     |
 *  | which ranks or threads differ           | tsanom_runs_spmd()      | tsanom_spmd_analyze() |
 *  | memory, processor time and waiting      | tsanom_runs_vitals()    | your program          |
 *  | what a thread does, event by event      | tsanom_runs_visits()    | your program          |
 *  | what threads did in iterations          | tsanom_runs_activities()| your program          |
 *  | the records as they were written        | tsanom_runs_stream_at() | your program          |
 *
 *  @code{.c}
 *  FILE *file = fopen("beats.csv", "w");
 *  fputs("thread,time\n0,10\n0,10.5\n0,11\n0,12\n", file);
 *  fclose(file);
 *  tsanom_runs *run = NULL;
 *  tsanom_runs_stream beats;
 *  double rates[2];
 *  if (tsanom_runs_open("beats.csv", NULL, NULL, &run) < 0) return 1;
 *  tsanom_runs_stream_at(run, TSANOM_RUNS_BEATS, 0, &beats);
 *  tsanom_runs_rate(beats.time, beats.count, 2, NULL, rates);
 *  printf("%.2f, then %.2f beats per second\n", rates[0], rates[1]);
 *  // -> 2.00, then 1.33 beats per second
 *  tsanom_runs_destroy(run);
 *  @endcode
 *
 *  A run is a directory or a file:
 *  - DIR/heartbeat.*: heartbeats, one stream per thread (<tsanom/heartbeat.h>);
 *  - DIR/regions: events of parallel regions (`tsanom record`);
 *  - DIR/spmd: region times of processes (tsanom_spmd_recorder_write());
 *  - DIR/ranks.tsv, DIR/rank.K: the ranks of an MPI program, each a run (docs/mpi.md);
 *  - FILE.csv: heartbeats, with the columns `thread` and `time`;
 *  - FILE.json: region times of all processes.
 *
 *  **Guarantees.** Each byte of each file is verified once. A file that is missing, cut
 *  short, foreign or damaged, even by one bit, is rejected: tsanom_exec::fault receives its
 *  path, the offset or the line, and a sentence. If you want what is intact before the
 *  damage, set tsanom_runs_options::salvage. Files of a run directory must be regular files;
 *  no function waits for a FIFO in their place. docs/formats.md documents the formats.
 *
 *  **Memory.** A run owns all arrays and names that its functions return: outputs "of the
 *  run". They are valid until the next refresh, or until the run is destroyed. Its memory
 *  comes from the allocator of the exec that it was opened with, 12 bytes per beat and per
 *  record of a short stream; of a stream of more than 4096 region events, functions read the
 *  records again. Parsers also use the C heap. A run serves one thread at a time; different
 *  runs are independent.
 *
 *  **Errors** besides the common ones: ::TSANOM_E_IO, a file cannot be opened, read or
 *  written; ::TSANOM_E_FORMAT, a file is damaged or of another format; ::TSANOM_E_STATE,
 *  the run lacks what the function needs; ::TSANOM_E_INDEX, there is no such stream, place
 *  or thread. After an error, and if the poll stops a call, the run and the outputs are
 *  unchanged; but a file that changed since it was opened may be noticed when elements of
 *  tsanom_runs_events() and tsanom_runs_active() are written: then `*count` is not.
 *  threads, isa and workspace of exec are not used.
 *
 *  **Link** libtsanom-runs, which needs the C library and libjansson, but neither libtsanom
 *  nor BLAS. This header declares the inputs of the analyses without their fields: include
 *  the header of the analysis that you use. */
#ifndef TSANOM_RUNS_H
#define TSANOM_RUNS_H

#include <tsanom/base.h>

/** @addtogroup runs
 *  @{ */

#ifdef __cplusplus
extern "C" {
#endif

/* The inputs of the analyses. Include the header of the analysis that you use. */
struct tsanom_hsa_model_data;   /* <tsanom/hsa.h> */
struct tsanom_diagnosis_normal; /* <tsanom/diagnosis.h> */
struct tsanom_hsa_run;          /* <tsanom/hsa.h> */
struct tsanom_hsa_vital;        /* <tsanom/hsa.h> */
struct tsanom_speedup_event;    /* <tsanom/speedup.h> */
struct tsanom_spmd_data;        /* <tsanom/spmd.h> */

/** Parts of a run, to combine by `|`. ABI: append only. */
enum {
  TSANOM_RUNS_BEATS = 1,   /**< heartbeats */
  TSANOM_RUNS_REGIONS = 2, /**< events of parallel regions */
  TSANOM_RUNS_SPMD = 4,    /**< region times that processes wrote */
  /** Only in options: what tsanom_runs_spmd() needs, ::TSANOM_RUNS_SPMD if it is there,
   *  else ::TSANOM_RUNS_REGIONS. */
  TSANOM_RUNS_REGION_TIMES = 8
};

/** What sampled the vital signs of a run, besides init and finish, which always do. The
 *  values are ABI: append only. */
enum {
  TSANOM_RUNS_VITAL_NONE = 0,    /**< the run has no vital signs */
  TSANOM_RUNS_VITAL_THREAD = 1,  /**< a helper thread of the program */
  TSANOM_RUNS_VITAL_PROCESS = 2, /**< a process beside the program */
  TSANOM_RUNS_VITAL_ENDS = 3     /**< nothing: neither could be had */
};

enum {
  TSANOM_RUNS_PROCESS = -1,     /**< the process, where a thread number is expected */
  TSANOM_RUNS_PLACES_MAX = 8192 /**< places of a run; the last stands for all others */
};

/** What the events of tsanom_runs_events() are. ABI: append only. */
enum {
  TSANOM_RUNS_LEVEL_REGIONS = 0, /**< outermost parallel regions, begin to end */
  /** The work before each end of a worksharing construct: since the previous end or
   *  the region's begin. */
  TSANOM_RUNS_LEVEL_WORKSHARING = 1
};

/** How to open a run: fill by tsanom_runs_options_init(), then change fields. */
typedef struct tsanom_runs_options {
  size_t struct_size; /**< set by _init */
  /** TSANOM_RUNS_BEATS, ...: the parts to read; all of them must be there. 0 (default):
   *  the parts that are there, at least one. A file at `path` is read as JSON if its name
   *  ends in ".json" or if region times are requested, else as CSV. */
  int32_t parts;
  /** 1 (default): name code by function, file and line, for which the program `addr2line`
   *  is run once per module; 0: by module and address only. */
  int32_t symbols;
  /** 1: read each file of a damaged run directory up to its first damage, see
   *  tsanom_runs_first_damage(); a stream whose header is damaged has no records. Without
   *  `heartbeat.run`, the times are unknown, and the run is rejected. 0 (default): reject
   *  a run in which one bit is wrong. */
  int32_t salvage;
  int32_t reserved0; /**< must be 0 */
} tsanom_runs_options;

/** Write the defaults described at ::tsanom_runs_options. @initializes{options} */
TSANOM_API tsanom_status tsanom_runs_options_init(tsanom_runs_options *options,
                                                  size_t struct_size);

/** An open run. */
typedef struct tsanom_runs tsanom_runs;

/** Open a run and verify all of it. The poll counts streams.
 *
 *  A run whose program still runs contains what was written until now; a record that the
 *  program is writing at this moment is not damage. O(bytes of the run), except that
 *  holes of sparse files cost nothing.
 *  @param      path  a run directory or a file; "-" is standard input
 *  @param[out] run   destroy it by tsanom_runs_destroy()
 *  @options @exec @stopped */
TSANOM_API tsanom_status tsanom_runs_open(const char *path,
                                          const tsanom_runs_options *options,
                                          const tsanom_exec *exec, tsanom_runs **run);

/** List the ranks of a run of several ranks, which `tsanom record` writes of an MPI
 *  program. The run of rank K is opened by its path, PATH/rank.K; the path of all opens
 *  their region times only, for tsanom_runs_spmd(). Ranks that recorded nothing are
 *  missing. O(ranks·log(ranks)).
 *  @param      path      a run directory
 *  @param[out] ranks     the first `capacity` ranks, increasing; NULL if capacity is 0
 *  @param      capacity  elements of `ranks`
 *  @param[out] count     ranks that recorded a run; 0: it is not a run of several ranks
 *  @param[out] size      ranks of the job; 0: not known
 *  @exec @status
 *  @retval TSANOM_PARTIAL  capacity is not 0, but below count */
TSANOM_API tsanom_status tsanom_runs_ranks(const char *path, const tsanom_exec *exec,
                                           int32_t *ranks, size_t capacity, size_t *count,
                                           size_t *size);

/** A message of the recorder inside of a program, which prints nothing itself: why
 *  something was not recorded. */
typedef struct tsanom_runs_message {
  uint64_t number;      /**< in the run, from 1 */
  double time;          /**< seconds since 1970 */
  int32_t process;      /**< number of the process that reports it */
  int32_t error;        /**< the errno that explains it; 0: none does */
  char text[224];       /**< terminated by zero, without control characters */
  uint64_t reserved[2]; /**< 0 */
} tsanom_runs_message;

/** Read what the recorders inside of a program's processes report about a run, whether or
 *  not it can be opened. Call it first: if a program was not recorded, you find the reason
 *  here. At most 16 messages are kept, the latest.
 *  @param      path      a run directory, or that of a rank in it
 *  @param[out] messages  the latest `capacity` messages in order; NULL if capacity is 0
 *  @param      capacity  elements of `messages`; 16 are enough
 *  @param[out] count     messages there are; 0 also if the run has no page of messages
 *  @exec @status
 *  @retval TSANOM_PARTIAL  capacity is not 0, but below count */
TSANOM_API tsanom_status tsanom_runs_messages(const char *path, const tsanom_exec *exec,
                                              tsanom_runs_message *messages,
                                              size_t capacity, size_t *count);

/** Open separate runs as the processes of one program, for tsanom_runs_spmd(). Only their
 *  region events are read. A run of several ranks stands for its ranks. Processes are
 *  named by their paths; of a single run of several ranks, by the ranks. The poll counts
 *  processes.
 *  @param      paths    `count` run directories, all different
 *  @param      count    at least 1
 *  @param      options  NULL: the defaults; parts must be 0, ::TSANOM_RUNS_SPMD or
 *                       ::TSANOM_RUNS_REGION_TIMES
 *  @param[out] run      destroy it by tsanom_runs_destroy()
 *  @exec @stopped */
TSANOM_API tsanom_status tsanom_runs_open_processes(const char *const *paths,
                                                    size_t count,
                                                    const tsanom_runs_options *options,
                                                    const tsanom_exec *exec,
                                                    tsanom_runs **run);

/** Destroy a run and everything that it returned. @param run NULL: nothing happens */
TSANOM_API void tsanom_runs_destroy(tsanom_runs *run);

/** Add what the program wrote since the run was opened or refreshed.
 *
 *  The cost is O(new records + streams): each stream continues after its last verified
 *  record. Two events make one refresh read a part again as a whole: the program
 *  finished, or the measured period of the clock changed by more than 1e-7 of its value.
 *  Each refresh does so with a part whose clock restarted. So times of
 *  an unfinished run differ from those of a run opened anew by at most that factor; those
 *  of a finished run are the same, bit for bit. A part that appears after the run was
 *  opened is added if options.parts is 0. CSV and JSON files are read again.
 *
 *  Returned arrays and names become invalid.
 *  @param[out] added  records added to all streams; may be NULL
 *  @the{run} @exec @stopped
 *  @retval TSANOM_E_STATE  another run is there now, or the run is of standard input */
TSANOM_API tsanom_status tsanom_runs_refresh(tsanom_runs *run, const tsanom_exec *exec,
                                             uint64_t *added);

/** Description of a run. Begin with `{.struct_size = sizeof x}`. Clock, process and
 *  program are those of the heartbeats, else of the regions, else 0. */
typedef struct tsanom_runs_info {
  size_t struct_size; /**< sizeof, set by the caller */
  int32_t parts;      /**< TSANOM_RUNS_BEATS, ... that were read */
  /** TSANOM_RUN_*. If the recording has not ended, each call asks the kernel whether the
   *  program still runs. Of several processes it is the greatest of their states when they
   *  were read, of a file ::TSANOM_RUN_UNKNOWN. */
  int32_t state;
  int64_t start;          /**< beginning, in nanoseconds since 1970 UTC */
  int64_t pid;            /**< the process */
  double tick;            /**< seconds between two ticks of the clock */
  double last;            /**< time of the latest record in seconds since the beginning */
  int32_t clock;          /**< TSANOM_RECORD_CLOCK_*, never AUTO; 0: none */
  int32_t announced;      /**< threads that the program announced */
  uint64_t beats;         /**< heartbeats that were recorded */
  uint64_t events;        /**< region events of all streams */
  uint64_t beats_dropped; /**< heartbeats that could not be written: see `error` */
  uint64_t events_dropped; /**< region events lost for the same reason */
  size_t beat_streams;     /**< streams of heartbeats: see tsanom_runs_stream_at() */
  size_t event_streams;    /**< streams of region events */
  size_t places;           /**< places in the code that region events name */
  char program[64];        /**< name of the program, terminated by zero */
  /** Records after the first damage of their stream, which salvage leaves out, and records
   *  that are cut off. If a stream is incomplete or has no header, its records count as
   *  0. */
  uint64_t skipped;
  /** Restarts of the clock, of the part that has more: the machine was suspended, or a
   *  virtual machine migrated. Times are those of docs/runs.md, "Times"; intervals that
   *  contain a restart are too short. */
  size_t restarts;
  int32_t vital;          /**< what sampled the vital signs: TSANOM_RUNS_VITAL_* */
  int32_t error;          /**< why the first record was dropped: an errno, such as ENOSPC
                               where the disk was full; 0: not known, or none was */
  double vital_period_s;  /**< seconds between samples at best; 0: no vital signs */
  uint64_t vital_samples; /**< samples of the process and of all threads */
  uint64_t vital_lost;    /**< samples lost: to a full disk, known once the run is
                               finished, or because salvage stops at the first damaged
                               one */
  size_t vital_threads;   /**< thread numbers with samples are below it */
  size_t totals; /**< rows of totals, kept after single events were no longer recorded; 0:
                      all events were recorded. Only tsanom_runs_spmd() and
                      tsanom_runs_hsa() use them */
  uint64_t beats_interpolated; /**< heartbeats that were counted and not recorded, since
                                    only a sample of them is in the totals.
                                    tsanom_runs_hsa() places them at equal distances
                                    between those that were */
  uint64_t beats_by_time;  /**< beats of tsanom_runs_hsa() that were not recorded, since
                             the program has none: one for each 50 ms of processor time of
                               a thread, by its vital signs (docs/runs.md). 0: its beats
                               are those recorded */
  double last_event;       /**< time of the latest region event; 0: there is none */
  uint64_t beats_of_steps; /**< beats that are no iterations: of a program without a main
                             loop, each at 64 tasks or 16 chunks of a dynamic loop in a
                             region. 0: its beats are iterations, or by time */
} tsanom_runs_info;

/** Describe a run.
 *  @param[out] info  initialized; the description
 *  @the{run} @status */
TSANOM_API tsanom_status tsanom_runs_describe(const tsanom_runs *run,
                                              tsanom_runs_info *info);

/** The first damage that tsanom_runs_options::salvage passed over: the fault with which
 *  tsanom_runs_open() without that option rejects the run. Without damage its status is
 *  ::TSANOM_OK, and its texts are empty.
 *  @param[out] damage  begins with its struct_size; the damage
 *  @the{run} @status */
TSANOM_API tsanom_status tsanom_runs_first_damage(const tsanom_runs *run,
                                                  tsanom_fault *damage);

/** Records of one stream. Each belongs to one thread of the program; a thread number can
 *  have several streams, for nested parallel regions reuse numbers. Events of a team that is
 *  not shown, as another thread opens the regions of the main loop, have the number -1. */
typedef struct tsanom_runs_stream {
  const double *time;  /**< seconds since the run began; of a CSV file as written; of an
                            early heartbeat that of its record: see docs/formats.md */
  const uint32_t *tag; /**< of a heartbeat: what the program passed; of one by `tsanom
                            record`, and of a region event: see docs/formats.md; NULL of a
                            CSV file */
  size_t count;        /**< records */
  uint64_t dropped;    /**< records lost because the disk was full */
  int32_t thread;    /**< thread number of the records; of streams 0 to announced-1 their
                          index */
  int32_t reserved0; /**< 0 */
  uint64_t reserved[4]; /**< 0 */
} tsanom_runs_stream;

/** Look at one stream of records, in the order in which they were written. The first call
 *  for a stream of more than 4096 region events reads its records again, 12 bytes each, which
 *  the run then keeps; tsanom_runs_visits() and tsanom_runs_events() need no memory for them.
 *  @param      part    ::TSANOM_RUNS_BEATS or ::TSANOM_RUNS_REGIONS
 *  @param      index   below tsanom_runs_info::beat_streams or _event_streams
 *  @param[out] stream  of the run
 *  @the{run} @status
 *  @retval TSANOM_E_OPTION  part is neither of the two */
TSANOM_API tsanom_status tsanom_runs_stream_at(const tsanom_runs *run, int32_t part,
                                               size_t index, tsanom_runs_stream *stream);

/** Kinds of visits. ABI: append only. */
enum {
  TSANOM_RUNS_VISIT_BEGIN =
      0,                     /**< the thread begins a parallel region or a call of MPI */
  TSANOM_RUNS_VISIT_END = 1, /**< it ends it */
  TSANOM_RUNS_VISIT_PART =
      2, /**< it ends a worksharing construct, or reaches a barrier */
  TSANOM_RUNS_VISIT_WORK = 3, /**< its work in a region ends: it waits for its team */
  TSANOM_RUNS_VISIT_TASKS = 4 /**< it has created tasks of one function */
};

/** What a thread does at a moment. */
typedef struct tsanom_runs_visit {
  double time;   /**< seconds since the run began */
  double begin;  /**< of an END: when it began; else 0 */
  double cpu_s;  /**< processor time of what ends, or of the code before a call that
                          begins; NaN: not measured */
  size_t depth;  /**< regions and calls that are open around it */
  int32_t kind;  /**< TSANOM_RUNS_VISIT_* */
  int32_t place; /**< index of its place, of tasks of their function; -1 of WORK */
  int32_t outer; /**< the place of the innermost region or call around it; -1: none */
  int32_t
      threads; /**< of END, PART and WORK of the team; of TASKS their number; else 0 */
  int32_t is_call;      /**< of BEGIN and END: 1: a call of MPI; 0: a region */
  int32_t is_known;     /**< of END: 1: it was recorded; 0: the records stop before */
  int32_t thread;       /**< number of the thread, as in ::tsanom_runs_stream */
  int32_t reserved0;    /**< 0 */
  uint64_t reserved[1]; /**< 0 */
} tsanom_runs_visit;

/** A function that receives visits, and its first argument. */
typedef struct tsanom_runs_visitor {
  /** Called by the calling thread only; the visit is valid during the call. A result other
   *  than 0 asks to stop. */
  int32_t (*visit)(void *user, const tsanom_runs_visit *visit);
  void *user; /**< first argument of visit */
} tsanom_runs_visitor;

/** Walk over the region events of one stream: which end belongs to which begin, and what is
 *  open. An end without a begin is left out; so are regions within 64 others. What is open
 *  at the end is ended then, with is_known 0. Functions (`tsanom record --functions`) are not
 *  visited. O(records of the stream); a long stream is read again, in pieces.
 *  @param run      an open run with region events
 *  @param index    below tsanom_runs_info::event_streams
 *  @param visitor  receives the visits in order of time
 *  @exec @status
 *  @retval TSANOM_STOPPED  the visitor asked for it */
TSANOM_API tsanom_status tsanom_runs_visits(const tsanom_runs *run, size_t index,
                                            const tsanom_exec *exec,
                                            const tsanom_runs_visitor *visitor);

/** What a thread does in an iteration. ABI: append only. */
enum {
  TSANOM_RUNS_ACTIVITY_REGION =
      0, /**< its work in a parallel region, or in a part of it */
  TSANOM_RUNS_ACTIVITY_BEFORE = 1, /**< the code before a region or call */
  TSANOM_RUNS_ACTIVITY_CALL = 2,   /**< a call of MPI */
  TSANOM_RUNS_ACTIVITY_WAIT = 3    /**< the end of a region: it waits for its team */
};

/** What a thread did in iterations. */
typedef struct tsanom_runs_activity {
  int32_t what;             /**< TSANOM_RUNS_ACTIVITY_* */
  int32_t thread;           /**< number of the thread */
  size_t place;             /**< index of the place of the region, part or call */
  const char *name;         /**< tsanom_runs_place_name() of it */
  const double *seconds;    /**< of tsanom_runs_loop::classes classes */
  const double *iterations; /**< of these, in how many it was done */
} tsanom_runs_activity;

/** Iterations, and what to add up in them. Zero it, then set the fields until `classes`. */
typedef struct tsanom_runs_loop {
  size_t iterations; /**< n, at least 1 */
  /** n + 1 times that do not decrease, in seconds since the run began: iteration i begins at
   *  begin[i], and the last one ends at begin[n] */
  double *begin;
  int32_t thread;       /**< number of the thread that beats there */
  int32_t of_processor; /**< 1: add up processor times; 0: times */
  /** Of n elements: each iteration has a class below `classes`, or -1: it is left out. NULL:
   *  nothing is added up by class. */
  const int32_t *class_of;
  size_t classes; /**< at least 1, unless `class_of` is NULL */
  /** n elements, receives the processor time of each iteration, as the mean of the threads;
   *  NULL: not wanted */
  double *processor_s;
  /** Result: how many seconds pass in regions for each second of `processor_s`; 0: processor
   *  times are not known or not wanted, or too few are known */
  double waited;
  /** Result with classes: of the run, until the next call or refresh. The sum over what
   *  `thread` did is the time of the iterations */
  const tsanom_runs_activity *activity;
  size_t count;         /**< number of activities; 0: the run has no region events */
  uint64_t reserved[2]; /**< 0 */
} tsanom_runs_loop;

/** Add up what threads did in iterations, by their region events. What extends over several
 *  iterations is left out. Call it first with neither classes nor `processor_s`: a thread beats
 *  where a region begins, but may lose its processor before; that call only moves `begin` to the
 *  begin of the region. Of processor
 *  times, ::TSANOM_RUNS_ACTIVITY_BEFORE has only those before calls, and there is no
 *  ::TSANOM_RUNS_ACTIVITY_CALL or _WAIT. O(region events).
 *  @param[in,out] loop  what to add up, and the result
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_runs_activities(tsanom_runs *run, const tsanom_exec *exec,
                                                tsanom_runs_loop *loop);

/** The heartbeats of a run by thread, for the functions of <tsanom/hsa.h>. Streams of one
 *  thread number are merged and sorted by time. Threads are numbered from 0; one that
 *  never beat has an empty series. Of a run by `tsanom record`, beats before the main
 *  loop was found are left out, if those were iterations of a loop inside it: there the
 *  tags begin anew. The iterations of the main loop before it was found are beats, of a
 *  thread number with one stream. tsanom_runs_stream_at() has all beats of the streams.
 *  After the last recorded event, a thread whose events are added up has only sampled beats;
 *  the others are placed between them at equal distances
 *  (tsanom_runs_info::beats_interpolated). If a program has no beats, or took them back, those of its
 *  processor time are returned (tsanom_runs_info::beats_by_time). Times count from the
 *  beginning of the run; those of a CSV file are as written, and it begins at its
 *  earliest beat.
 *  @param      run    an open run with heartbeats
 *  @param[out] beats  of the run
 *  @exec @status */
TSANOM_API tsanom_status tsanom_runs_hsa(const tsanom_runs *run, const tsanom_exec *exec,
                                         const struct tsanom_hsa_run **beats);

/** Vital signs of a run: what the recorder sampled at the beginning, every
 *  tsanom_runs_info::vital_period_s or less often, and at the end. A refresh adds new
 *  samples, and costs O(new samples · log(beats)).
 *  @param      run      an open run with vital signs
 *  @param      thread   a thread number, or ::TSANOM_RUNS_PROCESS
 *  @param[out] samples  of the run, in order of time
 *  @param[out] count    number of samples; 0 for a thread without samples
 *  @exec @status
 *  @retval TSANOM_E_INDEX  thread is negative, or a number that no thread can have */
TSANOM_API tsanom_status tsanom_runs_vitals(const tsanom_runs *run, int32_t thread,
                                            const tsanom_exec *exec,
                                            const struct tsanom_hsa_vital **samples,
                                            size_t *count);

/** Sample a thread of a running program now, as its recorder does. Use it for a thread that is
 *  silent and has no new samples: the recorder of a program that is stopped, or that gets
 *  no processor, takes none, but whether a thread hangs follows from what it does now. The
 *  program must run on this machine. O(log(beats)), and three files of /proc are read.
 *  @param      run     an open run with heartbeats and vital signs
 *  @param      thread  a thread number; of several threads with this number, the one that
 *                      was sampled last is sampled
 *  @param[out] sample  its time is that of the latest refresh; switches and
 *                      tsanom_hsa_vital::spun_s are not known
 *  @exec @status
 *  @retval TSANOM_INFEASIBLE  the thread has ended, is on another machine, or was never
 *                             sampled: `sample` is not modified
 *  @retval TSANOM_E_INDEX  thread is negative, or a number that no thread can have */
TSANOM_API tsanom_status tsanom_runs_sample(const tsanom_runs *run, int32_t thread,
                                            const tsanom_exec *exec,
                                            struct tsanom_hsa_vital *sample);

/** Events of the thread that opens the outermost parallel regions. If several threads do,
 *  it is the one with the most records. An event of tsanom_speedup_event::region r took
 *  place at tsanom_runs_place_at() r. An event that has not ended is not included.
 *
 *  Ask for a few thousand at a time, from where the last call ended: so 10 million events
 *  need no memory. Such a call costs O(records of these events), any other one O(records of
 *  the stream).
 *  @param      run       an open run with region events
 *  @param      level     TSANOM_RUNS_LEVEL_*
 *  @param      first     number of the first event that is wanted, from 0
 *  @param[out] events    in order of time; NULL: they are only counted
 *  @param      capacity  number of elements of `events`
 *  @param[out] count     how many were written, or counted
 *  @exec @status
 *  @retval TSANOM_PARTIAL   there are more than `capacity`
 *  @retval TSANOM_E_OPTION  there is no such level */
TSANOM_API tsanom_status tsanom_runs_events(tsanom_runs *run, int32_t level, size_t first,
                                            const tsanom_exec *exec,
                                            struct tsanom_speedup_event *events,
                                            size_t capacity, size_t *count);

/** Number of active threads over time, for tsanom_dpd_find(): the quantity of figure 3 of
 *  the periodicity paper. Interval i extends from i·interval to (i + 1)·interval seconds
 *  after the beginning of the run; the last one is complete. active[i] is the mean number
 *  of threads that work in it. The thread whose events tsanom_runs_events() returns
 *  always works; each other one works from the begin to the end of a parallel region,
 *  without the waiting at its end. O(region events + threads·capacity).
 *  @param run       an open run with region events
 *  @param interval  seconds, above 0
 *  @array{active,count}
 *  @exec @status
 *  @retval TSANOM_E_OPTION  interval is not above 0, or not finite */
TSANOM_API tsanom_status tsanom_runs_active(const tsanom_runs *run, double interval,
                                            const tsanom_exec *exec, double *active,
                                            size_t capacity, size_t *count);

/** Whether the thread that began the recording is in a call of MPI now: it may wait there
 *  for another rank. Reads the latest event in the file; the run need not be refreshed,
 *  nor opened with its region events. O(log events + places).
 *  @param      run     an open run
 *  @param[out] inside  1: in a call; 0: outside of calls; -1: not known, as of a run
 *                      without region events, or one that dropped some
 *  @exec @status */
TSANOM_API tsanom_status tsanom_runs_in_call(const tsanom_runs *run,
                                             const tsanom_exec *exec, int32_t *inside);

/** A place in the code. */
typedef struct tsanom_runs_place {
  const char *module;    /**< path of the program or library */
  uint64_t address;      /**< of the region's outlined function or of the call, as linked:
                              an address for nm and addr2line */
  int32_t kind;          /**< of the visits that have it: ::TSANOM_RUNS_VISIT_BEGIN of a
                              region or call, _PART of a worksharing construct, _TASKS of
                              the function of tasks */
  int32_t is_call;       /**< 1: the address to which a call returns; 0: of a function */
  const char *call;      /**< of a call of MPI: the function; NULL: a region or share */
  uint64_t communicator; /**< of a call of MPI: the number of its communicator, from 1 in
                              the order of first use; 0: none */
} tsanom_runs_place;

/** Look up a place.
 *  @param      index  below tsanom_runs_info::places
 *  @param[out] place  of the run
 *  @the{run} @status */
TSANOM_API tsanom_status tsanom_runs_place_at(const tsanom_runs *run, size_t index,
                                              tsanom_runs_place *place);

/** Name a place: "function (file.c:12)", "function", or "module+0xADDRESS" if no symbol
 *  covers the address or the module's file has changed since. A call of MPI has the
 *  function in front: "MPI_Send in function (file.c:12)". UTF-8. The first call runs
 *  `addr2line`: see tsanom_runs_options::symbols.
 *  @param      index  below tsanom_runs_info::places
 *  @param[out] name   a string of the run
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_runs_place_name(tsanom_runs *run, size_t index,
                                                const tsanom_exec *exec,
                                                const char **name);

/** Region times of the processes of a run, with names. */
typedef struct tsanom_runs_spmd_data {
  const struct tsanom_spmd_data *data; /**< for tsanom_spmd_analyze() */
  const char *const *region;  /**< names of data->regions regions, all different */
  const char *const *process; /**< names of data->processes processes, all different;
                                     NULL: they are known by number only */
  const char *const *metric;  /**< names of data->metrics metrics, all different */
  const double *waiting;      /**< by process, seconds in calls of MPI; NULL: not known */
  const char *const *dropped; /**< what was left out: names of functions that were called
                                   too often to be recorded, and of regions whose work is
                                   tasks, the times of which are not; NULL: nothing */
  size_t dropped_count;       /**< their number */
  const double *stalled; /**< by process, seconds of computations between calls of MPI
                              in which the process had no processor: others had it,
                              or it waited for a file; NULL: not known */
} tsanom_runs_spmd_data;

/** The matrix of region times × processes.
 *
 *  If the run has the part ::TSANOM_RUNS_SPMD, it is that of all files together: regions
 *  and metrics are matched by name, a region that a process did not enter took no time
 *  there, a metric that it did not measure is NaN. A run of several ranks, and runs that
 *  tsanom_runs_open_processes() opened, are processes whose regions are the computations
 *  between calls of MPI: see docs/mpi.md; or the functions that their first threads
 *  called, if these were recorded. Otherwise the threads of the region events are the
 *  processes, which needs the processor times of `tsanom record`: a region is
 *  a place within the regions open around it, its time that of the thread in it, its
 *  error that of the scatter of its visits or parts (docs/spmd.md), and the metric
 *  "calls" counts visits. Regions that create tasks are left out: which thread executes
 *  these is not recorded. Regions nested in it are also its parts between worksharing
 *  constructs, and the functions called in it; "A > B" is the name of B in A. The first
 *  call after opening or refreshing costs O(region events), later ones O(1).
 *  @param[out] spmd  of the run
 *  @the{run} @exec @status */
TSANOM_API tsanom_status tsanom_runs_spmd(tsanom_runs *run, const tsanom_exec *exec,
                                          tsanom_runs_spmd_data *spmd);

/** Windowed heart rate \f$r_i = w / (t_i - t_{i-w})\f$, \f$w \le i < n\f$, in beats per
 *  unit of time (heartbeat paper, section 3). O(n). Times that differ by less than about
 *  \f$w \cdot 10^{-308}\f$ have an infinite rate.
 *  @param      time    n times, finite and strictly increasing
 *  @param      count   n, above window, else ::TSANOM_E_COUNT
 *  @param      window  w, in beats, >= 1, else ::TSANOM_E_OPTION
 *  @param[out] rates   n-window rates, r_i at i-window; must not overlap `time`
 *  @exec @status
 *  @retval TSANOM_E_NONFINITE  a time is NaN or infinite
 *  @retval TSANOM_E_ORDER      a time is not above the one before it */
TSANOM_API tsanom_status tsanom_runs_rate(const double *time, size_t count, size_t window,
                                          const tsanom_exec *exec, double *rates);

/** @name Model files
 *  JSON that reads back to the same numbers, bit for bit.
 *  @{ */

/** What a model file contains. */
typedef struct tsanom_runs_model_data {
  const struct tsanom_hsa_model_data *model; /**< for tsanom_hsa_model_create() */
  const char *const *run; /**< names of model->run_count normal runs, UTF-8 */
  /** Normal ranges of signs, for tsanom_diagnosis_find_causes(), with the conditions of the
   *  normal runs; NULL: none, the decision tree of its options is the only rule. */
  const struct tsanom_diagnosis_normal *normal;
  uint64_t reserved[3]; /**< 0 */
} tsanom_runs_model_data;

/** A model file in memory. */
typedef struct tsanom_runs_model tsanom_runs_model;

/** Load a model file. Memory is proportional to the size of the file. Whether the
 *  references agree with one another is checked when a model is made of them.
 *  @param      path   the file; "-" is standard input
 *  @param[out] model  destroy it by tsanom_runs_model_destroy()
 *  @exec @status */
TSANOM_API tsanom_status tsanom_runs_model_load(const char *path, const tsanom_exec *exec,
                                                tsanom_runs_model **model);

/** Parse the text of a model file.
 *  @param      text   the JSON
 *  @param      bytes  its length
 *  @param      name   what faults call it
 *  @param[out] model  destroy it by tsanom_runs_model_destroy()
 *  @exec @status */
TSANOM_API tsanom_status tsanom_runs_model_parse(const char *text, size_t bytes,
                                                 const char *name,
                                                 const tsanom_exec *exec,
                                                 tsanom_runs_model **model);

/** Look at a model.
 *  @param[out] data  points into the model
 *  @the{model} @status */
TSANOM_API tsanom_status tsanom_runs_model_get(const tsanom_runs_model *model,
                                               tsanom_runs_model_data *data);

/** Destroy a model. @param model NULL: nothing happens */
TSANOM_API void tsanom_runs_model_destroy(tsanom_runs_model *model);

/** Save a model. The file appears complete or not at all: it is written under a temporary
 *  name beside it, then renamed. A symbolic link is followed, the permissions of a replaced
 *  file are kept, and what is not a regular file, such as /dev/stdout, is written directly.
 *  In a sticky directory that all may write, a link or FIFO of another user is rejected,
 *  unless it is the owner of the directory.
 *  @param path  the file; "-" is standard output
 *  @param data  the model; bytes of a name that is not UTF-8 are written as '?'
 *  @exec @status
 *  @retval TSANOM_E_COUNT   there is no thread or no run
 *  @retval TSANOM_E_FORMAT  it could not be read back: a number that is not finite, say */
TSANOM_API tsanom_status tsanom_runs_model_save(const char *path,
                                                const tsanom_runs_model_data *data,
                                                const tsanom_exec *exec);
/** @} */

#ifdef __cplusplus
}
#endif
/** @} */
#endif
