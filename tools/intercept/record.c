/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: starts a run at the first parallel region of the process, writes the
 * events, and beats once an iteration.
 *
 * Starting at the first region, not when the library is loaded, leaves alone the shells,
 * compilers and launchers between `tsanom record` and the program, which inherit
 * LD_PRELOAD. Of several processes that come to a region, the one that creates the run's
 * files first has the run; the others report that they are not recorded, and run.
 *
 *   UNTRIED ──first region──▶ RECORDING ──exit, destructor──▶ OFF
 *      └──no run asked for, or it cannot be created──▶ OFF
 *
 * The child of a fork is UNTRIED again, and comes to OFF at its first region, with a
 * message.
 *
 * There is no helper thread: a process with one thread stays so, for which malloc()
 * takes no locks (some 15 ns for each region that allocates). The beating threads back
 * their streams themselves.
 *
 * One thread is watched for iterations (watch.c). They are counted in its
 * outermost regions; where these show no loop, in the worksharing constructs of the
 * region that it is in. --heartbeat-every replaces the search by a count.
 *
 * --baseline P:K runs the K first iterations that are found with P threads. The number
 * is put into each region's request, so that the program's own settings return by
 * themselves; by OMPT, which cannot change a request, it is set in the runtime and
 * restored. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "asked.h"
#include "directory.h"
#include "environment.h"
#include "intercept.h"
#include "mpi.h"
#include "now.h"
#include "profile.h"
#include "ranks.h"
#include "record/guard.h"
#include "record/inside.h"
#include "record/regions.h"
#include "record/vital_proc.h"
#include "runtime.h"
#include "section.h"

/* Streams created at the start, one for each thread that the runtime would use, at most;
 * each takes 256 KiB of disk in each channel. Further threads get theirs when they beat.
 */
enum { MOST_ANNOUNCED = 256 };

/* What recording takes of the address space besides the streams, and at most that part of
 * what a limit leaves: the program maps the stacks of its threads later. */
enum { ADDRESS_SPACE = 8 << 20, ADDRESS_PART = 8 };

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What the command asked for. */
/* Regions; 0: a beat an iteration. */
static uint32_t heartbeat_every;
/* Threads, and iterations to measure; 0: none. */
static unsigned baseline_wanted, baseline_threads, baseline_left;
/* LLVM: what the program had; 0: nothing to restore. */
static int restore_threads;
static uint16_t changed; /* the runtime in which they are */
static unsigned baseline_iterations;
/* Regions since the last beat, with heartbeat_every. */
static uint32_t regions_since;

/* The main loop was named, and its place has not been met. */
static bool expects_loop;

/* The recorder object, which must not come from the program's heap: the program may have
 * replaced malloc(), and its own calls must see the heap that they see without
 * recording. */
static unsigned char icp_memory[256];

/* The runtime of the region that begins the run, in the thread that is at it. Then that of
 * the latest region to which a baseline may apply: the number of threads is changed and
 * restored in one runtime. */
static _Thread_local uint16_t starting;
static uint16_t latest;

icp_settings icp_set;
icp_watch icp_watched;
_Thread_local icp_thread icp_me;

/* Called before the destructors, by the thread that called exit(). A program that exits
 * inside a region has not ended its work, whatever its status. If the run began before the
 * program's own code, this comes behind the destructors, and ends the run. */
static void note_exit(int status, void *unused) {
  (void)unused;
  if (atomic_load(&icp_set.phase) != ICP_RECORDING) return;
  int32_t code = (status & 0xFF) + (icp_me.state.depth ? TSANOM_EXIT_INSIDE : 0);
  (void)tsanom_record_set_exit(icp_set.record, code);
  if (icp_asked.is_plain) (void)icp_end_recording();
}

/* The reason first: a long path is cut. */
static const char *failure_text(const tsanom_fault *fault) {
  static char text[TSN_MESSAGE_TEXT];
  (void)snprintf(text, sizeof text, "%.100s: %.80s", fault->text, fault->file);
  return text;
}

/* Create the run; false: reported. Whether a run was there is asked before and after the
 * attempt, since another process may create it in between. */
static bool start_run(const char *run) {
  static char directory[PATH_MAX];
  tsanom_fault fault;
  tsanom_exec exec;
  if (!icp_choose_directory(run, directory)) return false;
  if (tsn_proc_address_space() / ADDRESS_PART < ADDRESS_SPACE) {
    return icp_report_failure(ENOMEM,
                              "a limit of address space (ulimit -v) leaves little");
  }
  int threads = icp_runtimes[latest].max_threads();
  if (threads < 1) threads = 1;
  if (threads > MOST_ANNOUNCED) threads = MOST_ANNOUNCED;
  if (icp_iterations_start(&icp_watched.of_regions) != 0 ||
      icp_iterations_start(&icp_watched.of_shares) != 0) {
    return icp_report_failure(ENOMEM, "the search for the main loop");
  }
  tsanom_record_options options;
  tsanom_record_options_init(&options, sizeof options);
  options.channels = TSANOM_RECORD_HEARTBEATS | TSANOM_RECORD_REGIONS;
  /* A helper thread would make the program multithreaded. */
  options.helper = TSANOM_RECORD_HELPER_NONE;
  options.vital_most = icp_quota_vitals();
  fault = (tsanom_fault){.struct_size = sizeof fault};
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  bool taken = ranks_has_run(directory);
  tsanom_status status = tsanom_record_init(icp_memory, sizeof icp_memory, directory,
                                            threads, &options, &exec, &icp_set.record);
  if (status < 0) {
    return taken || ranks_has_run(directory)
               ? icp_report_other_process()
               : icp_report_failure(0, failure_text(&fault));
  }
  icp_quota_share(threads);
  icp_visits_start(icp_set.want_cpu || icp_set.wants_metrics);
  int error = icp_places_start();
  if (!error) {
    if (strcmp(icp_asked.loop, ENVIRONMENT_LOOP_TIME) == 0) icp_mark_time_beats();
    icp_write_labels();
    return true;
  }
  (void)tsanom_record_finish(icp_set.record);
  return icp_report_failure(error, "places.tsv cannot be created");
}

/* Follow the place of --loop, which this is, and nothing else. */
static void meet_loop(icp_iterations *iterations, uint32_t place) {
  if (place != atomic_load(&icp_expected_place)) return;
  icp_iterations_name(iterations, place);
  expects_loop = false;
}

static void expect_loop(void) {
  if (!*icp_asked.loop) return;
  expects_loop = true;
  icp_places_expect(icp_asked.loop);
  icp_iterations_name(&icp_watched.of_regions, ICP_NO_ANCHOR);
  icp_iterations_name(&icp_watched.of_shares, ICP_NO_ANCHOR);
}

/* Tools of MPI are linked into some programs: their functions come before ours, and call
 * those with the prefix PMPI_. */
static void report_own_wrappers(void) {
  const void *first = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
  if (!first || icp_is_own(first)) return;
  ICP_REPORT(
      0,
      "the program has its own wrappers of MPI functions: calls through them are not "
      "recorded, and count as computation");
}

/* Take what was asked for, find the runtime's functions, start the run. The phase is stored
 * last, after everything that it allows to be used. */
static void start(void *unused) {
  (void)unused;
  icp_read_request();
  if (!*icp_asked.run) {
    atomic_store(&icp_set.phase, ICP_OFF);
    return;
  }
  icp_quota_start();
  heartbeat_every = icp_asked.heartbeat_every;
  icp_set.want_cpu = icp_asked.cpu_time;
  icp_set.wants_metrics = icp_usage_start();
  baseline_wanted = baseline_threads = icp_asked.baseline;
  baseline_left = baseline_iterations = icp_asked.baseline_iterations;
  icp_runtimes_start();
  latest = starting;
  report_own_wrappers();
  bool started = madvise(&icp_set, sizeof icp_set, MADV_WIPEONFORK) == 0 &&
                 on_exit(note_exit, NULL) == 0 && start_run(icp_asked.run);
  icp_own_start();
  icp_me.watched = started;
  atomic_store(&icp_watched.owner, &icp_me);
  expect_loop();
  icp_set.beats_at_tasks = !heartbeat_every && !expects_loop;
  icp_watched.special = heartbeat_every || baseline_threads || expects_loop;
  icp_set.began = icp_usage_now();
  atomic_store(&icp_set.phase, started ? ICP_RECORDING : ICP_OFF);
}

static void start_once(void) {
  icp_section(start, NULL);
}

/* The phase is still that of the beginning in the child of a process that had begun. */
bool icp_start(uint16_t runtime) {
  int32_t untried = ICP_UNTRIED;
  tsn_guard guard;
  if (!icp_me.own) icp_own_make();
  starting = runtime;
  tsn_guard_enter(&guard);
  pthread_once(&once, start_once);
  if (atomic_compare_exchange_strong(&icp_set.phase, &untried, ICP_OFF)) {
    ICP_REPORT(0,
               "this process is not recorded: the run belongs to its parent, which had "
               "begun it before the fork");
  }
  tsn_guard_leave(&guard);
  return atomic_load_explicit(&icp_set.phase, memory_order_relaxed) == ICP_RECORDING;
}

static void end_run(void *unused) {
  (void)unused;
  if (tsn_record_end(icp_set.record) < 0) {
    ICP_REPORT(0, "the end of the run could not be written: no descriptor, or no right");
  }
}

/* The exchange keeps a second call from finishing the run again. */
bool icp_end_recording(void) {
  if (atomic_exchange(&icp_set.phase, ICP_OFF) != ICP_RECORDING) return false;
  icp_section(end_run, NULL);
  return true;
}

/* The program itself has ended without a region or a call. Processes that it started may
 * have had some. */
static void report_nothing(void *unused) {
  (void)unused;
  if (ranks_has_run(icp_asked.run)) return;
  ICP_REPORT(
      0,
      "nothing is recorded: the program has opened no parallel region of OpenMP and "
      "called no known function of MPI");
}

/* exit() runs destructors; a process that is killed or calls _exit() leaves a run that
 * is complete but not finished. */
__attribute__((destructor)) static void finish(void) {
  bool is_untried = atomic_load(&icp_set.phase) == ICP_UNTRIED;
  bool is_program = icp_asked.program == (uint64_t)getpid();
  if (is_untried && is_program) icp_section(report_nothing, NULL);
  if (!icp_asked.is_plain) (void)icp_end_recording();
}

/* Code may be gone after this, and other code be loaded at its addresses: see places.c.
 * The C library unloads modules by other ways too, but they are its own. */
ENTRY int dlclose(void *handle) {
  int failed = icp_dlclose(handle);
  if (failed) return failed;
  icp_runtimes_forget_unloaded();
  if (atomic_load(&icp_set.phase) == ICP_RECORDING) {
    icp_places_forget_unloaded();
    icp_mpi_forget();
  }
  return 0;
}

/* The parts of a region that the watched thread opened lie between its barriers, at
 * which the thread waits. Those of nested regions are not recorded, so that this state
 * needs no stack. */
icp_usage icp_begin_parts(void) {
  icp_usage now = icp_usage_now();
  if (icp_me.state.role != ICP_OTHER) {
    icp_me.own->part = now;
    icp_me.has_parts = false;
  }
  return now;
}

tsn_team_thread *icp_show_team(uint32_t number) {
  return tsn_record_team(icp_set.record, number);
}

/* At the end of a region: its last part, if it has several, then the whole. */
uint64_t icp_record_work(const icp_usage *began) {
  icp_usage now = icp_usage_now();
  if (icp_me.state.role != ICP_OTHER && icp_me.has_parts) {
    icp_record_between(&icp_me.own->part, &now);
  }
  icp_record_between(began, &now);
  return now.cpu;
}

/* By OMPT the frames are those of callbacks, which say nothing; so does another stack, which
 * is far away. */
void icp_end_left_regions(const char *here) {
  enum { FAR = 1 << 26 };
  if (icp_set.by_ompt || here <= icp_me.frame || here - icp_me.frame >= FAR) return;
  for (uint32_t n = icp_me.state.depth; n > 0; n--) {
    bool is_known = icp_me.open > 0 && icp_me.open <= ICP_DEPTH_MOST;
    uint32_t place = is_known ? icp_me.own->place[icp_me.open - 1] : 0;
    if (icp_me.open > 0) icp_record(TSN_REGIONS_END, place, icp_me.state.team);
  }
  icp_me.state = icp_me.own->outside;
}

/* Run the first iterations that are found with the baseline's threads. Before the first
 * of them begins, nothing is changed: the regions in front of the loop are not part of
 * it. */
static void measure_baseline(bool begins, unsigned *threads) {
  if (begins) {
    baseline_left--;
    if (icp_set.by_ompt && !restore_threads) {
      changed = latest;
      restore_threads = icp_runtimes[changed].max_threads();
      icp_runtimes[changed].set_threads((int)baseline_threads);
    }
  }
  if (baseline_left < baseline_iterations) *threads = baseline_threads;
}

void icp_restart(icp_iterations *iterations) {
  iterations->restarts = false;
  if (icp_iteration() > 1) {
    atomic_store_explicit(&icp_watched.iteration, 0, memory_order_relaxed);
  }
  icp_watched.first = icp_iteration() + 1;
  icp_watched.early = iterations->early;
  /* Totals have no beats from before a restart; then no thread gets early ones. */
  if (atomic_load_explicit(&icp_has_totals, memory_order_relaxed)) {
    icp_watched.early.count = 0;
  }
  if (!baseline_iterations || heartbeat_every) return;
  baseline_threads = baseline_wanted;
  baseline_left = baseline_iterations;
  icp_watched.special = true;
}

/* The moment of an iteration is that of its first event in the watched thread. A record
 * with a time in the past would look like a restart of the clock, so that the tag says
 * how long ago it was. */
void icp_write_early(uint32_t iteration) {
  enum { MICROSECOND = 1000 };
  const icp_early *early = &icp_watched.early;
  const uint32_t bit = UINT32_C(1) << TSN_REGIONS_EARLY_BIT;
  if (iteration != icp_watched.first || icp_me.is_over) return;
  uint64_t first = early->count > ICP_EARLY ? early->count - ICP_EARLY : 0;
  for (uint64_t k = first; k < early->count; k++) {
    uint64_t ago = (icp_now() - early->moment[k % ICP_EARLY]) / MICROSECOND;
    if (ago >= bit || !icp_may_write()) continue;
    (void)tsanom_record_beat(icp_set.record, (int32_t)icp_me.state.number,
                             bit | (uint32_t)ago);
  }
}

static void end_baseline(void) {
  baseline_threads = 0;
  icp_watched.special = heartbeat_every != 0;
  if (restore_threads) icp_runtimes[changed].set_threads(restore_threads);
  restore_threads = 0;
}

/* A region of the watched thread where icp_watched.special is set. */
void icp_open_specially(uint32_t place, unsigned *threads) {
  if (heartbeat_every) {
    if (regions_since == 0) icp_next_iteration();
    if (++regions_since == heartbeat_every) regions_since = 0;
    if (!baseline_threads) return;
  }
  if (expects_loop) {
    meet_loop(&icp_watched.of_regions, place);
    icp_watched.special = heartbeat_every || baseline_threads || expects_loop;
  }
  bool begins = icp_iterations_push(&icp_watched.of_regions, place);
  if (begins && !heartbeat_every) icp_begin_iteration(&icp_watched.of_regions);
  if (!baseline_threads) return;
  if (icp_place_runtime[place]) latest = icp_place_runtime[place];
  if (begins && baseline_left == 0) {
    end_baseline();
  } else {
    measure_baseline(begins, threads);
  }
}

/* An optimizer turns the last call of a region's function into a jump (gcc -O2: that of
 * GOMP_barrier, GOMP_loop_end). Then the call returns to whatever called that function:
 * this library, or the runtime. So the place is the function instead, and the construct:
 * address + 1 + construct, because a call is looked up one byte before the address that
 * it returns to, which lies in the function. */
static uint32_t place_of_share(const void *return_address, int construct) {
  uintptr_t address = (uintptr_t)return_address;
  if (icp_is_own(return_address) ||
      icp_is_in(&icp_runtimes[icp_me.state.runtime].code, return_address)) {
    address = icp_watched.region + 1 + (uintptr_t)construct;
  }
  return icp_place(address, TSN_REGIONS_SHARE, true);
}

void icp_share(const void *return_address, int construct) {
  bool is_leader = icp_me.state.role == ICP_LEADER;
  if (icp_me.state.role == ICP_OTHER || !icp_recording()) return;
  icp_waits();
  if (!is_leader && !icp_set.want_cpu) return;
  uint32_t place = place_of_share(return_address, construct);
  if (icp_set.want_cpu) {
    icp_record_usage(&icp_me.own->part);
    icp_me.has_parts = true;
  }
  icp_record(TSN_REGIONS_SHARE, place, icp_me.state.team);
  if (!is_leader || heartbeat_every) return;
  if (expects_loop) meet_loop(&icp_watched.of_shares, place);
  /* Worksharing shows the iterations where the regions do not: this one is not of a loop
   * of regions. */
  bool begins = icp_iterations_push(&icp_watched.of_shares, place);
  bool is_of_regions = icp_set_has(icp_watched.of_regions.member, icp_watched.place);
  if (begins && !is_of_regions) icp_begin_iteration(&icp_watched.of_shares);
}

/* Behind the barrier at which a part ended, the next one begins. */
void icp_shared(void) {
  if (icp_me.state.role == ICP_OTHER || !icp_recording()) return;
  icp_waited();
  icp_beat(icp_iteration());
  if (icp_set.want_cpu) icp_me.own->part = icp_usage_now();
}
