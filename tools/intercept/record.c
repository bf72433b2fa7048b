/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: starts a run, writes the events, and beats once an iteration.
 *
 * The run of the program that `tsanom record` was given, if it is linked with OpenMP or MPI,
 * begins when it is loaded: it is of the whole program, also if this comes to no region.
 * Otherwise it begins at the first region. This leaves alone the shells, compilers and launchers
 * between `tsanom record` and the program, which inherit LD_PRELOAD. Of several processes that
 * come to a region, the one that creates the run's files first has the run; the others report
 * that they are not recorded, and run.
 *
 *   UNTRIED ──first region──▶ RECORDING ──exit, destructor──▶ OFF
 *      │└──no run asked for, or it cannot be created──▶ OFF
 *      ├──constructor of a program with a runtime───────▶ LOADED ──exit──▶ OFF
 *      │                                    first region ──▶ RECORDING
 *      └──constructor of a program without regions────▶ PLAIN ──exit──▶ OFF
 *                                           first region ──▶ as from UNTRIED
 *
 * The child of a fork is UNTRIED again, and comes to OFF at its first region, with a
 * message.
 *
 * There is no helper thread: a process with one thread stays so, for which malloc()
 * takes no locks (some 15 ns for each region that allocates). The beating threads back
 * their streams themselves. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "asked.h"
#include "environment.h"
#include "intercept.h"
#include "modules.h"
#include "mpi.h"
#include "rank_file.h"
#include "record/clock.h"
#include "record/file.h"
#include "record/format.h"
#include "record/guard.h"
#include "record/identity.h"
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

/* The recorder object, which must not come from the program's heap: the program may have
 * replaced malloc(), and its own calls must see the heap that they see without
 * recording. */
static unsigned char icp_memory[256], plain_memory[256];

/* The runtime of the region that begins the run, in the thread that is at it. */
static _Thread_local uint16_t starting;

icp_settings icp_set;
icp_watch icp_watched;
_Thread_local icp_thread icp_me;

icp_request icp_asked;

/* Read before the program's own code runs: without it the first function must not begin
 * the run. */
bool icp_wants_functions;

static uint64_t number_in(const char *name) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

static void copy_text(const char *name, char *text, size_t bytes) {
  const char *value = getenv(name);
  if (value && strlen(value) < bytes) memcpy(text, value, strlen(value) + 1);
}

/* Whether a number is that of this process: in a container another one may have it. */
static bool is_here(uint64_t process, uint64_t pid_namespace) {
  tsn_run_header here;
  if (process != (uint64_t)getpid()) return false;
  tsn_identify(&here);
  return here.pid_namespace == pid_namespace;
}

/* Those of the C library, found before a signal handler may need them. */
static void (*original_exit)(int status);
static void (*original_quick_exit)(int status);
static int (*original_execve)(const char *path, char *const words[], char *const list[]);
static int (*original_execvp)(const char *file, char *const words[]);

static void find_originals(void) {
  void *found[] = {dlsym(RTLD_NEXT, "_exit"), dlsym(RTLD_NEXT, "execve"),
                   dlsym(RTLD_NEXT, "execvp"), dlsym(RTLD_NEXT, "quick_exit")};
  memcpy(&original_exit, &found[0], sizeof *found);
  memcpy(&original_execve, &found[1], sizeof *found);
  memcpy(&original_execvp, &found[2], sizeof *found);
  memcpy(&original_quick_exit, &found[3], sizeof *found);
}

static void read_request(icp_request *r) {
  copy_text(ENVIRONMENT_RUN, r->run, sizeof r->run);
  if (!*r->run) return;
  copy_text(ENVIRONMENT_LOOP, r->loop, sizeof r->loop);
  copy_text(ENVIRONMENT_LABELS, r->labels, sizeof r->labels);
  r->heartbeat_every = (uint32_t)number_in(ENVIRONMENT_HEARTBEAT_EVERY);
  r->metrics = (uint32_t)number_in(ENVIRONMENT_METRICS);
  r->baseline = (uint32_t)number_in(ENVIRONMENT_BASELINE);
  r->baseline_iterations = (uint32_t)number_in(ENVIRONMENT_BASELINE_ITERATIONS);
  r->cpu_time = number_in(ENVIRONMENT_CPU_TIME) != 0;
  r->is_rank = number_in(ENVIRONMENT_IS_RANK) == 1;
  r->program = number_in(ENVIRONMENT_PROCESS);
  if (!is_here(r->program, number_in(ENVIRONMENT_PROCESS_SPACE))) r->program = 0;
  uint64_t begins = r->program ? number_in(ENVIRONMENT_AT_LOAD) : 0;
  r->gives_way =
      begins == ENVIRONMENT_PLAIN_FOR_NOW || begins == ENVIRONMENT_LOADED_FOR_NOW;
  r->is_plain = begins == ENVIRONMENT_PLAIN || begins == ENVIRONMENT_PLAIN_FOR_NOW;
  r->is_loaded = begins == ENVIRONMENT_LOADED || begins == ENVIRONMENT_LOADED_FOR_NOW;
  r->max_size = number_in(ENVIRONMENT_MAX_SIZE);
  r->events = number_in(ENVIRONMENT_EVENTS);
  icp_wants_functions = number_in(ENVIRONMENT_FUNCTIONS) != 0;
  r->has_rank = rank_from_environment(&r->rank);
  tsn_vital_find_sampler();
  r->messages = tsn_messages_map(r->run);
}

/* The program's own code begins without an error. */
__attribute__((constructor)) void icp_read_request(void) {
  static bool is_read;
  int error = errno;
  if (is_read) return;
  is_read = true;
  find_originals();
  read_request(&icp_asked);
  icp_clear_asked(RTLD_NEXT, "");
  errno = error;
}

static bool has_run(void) {
  int32_t phase = atomic_load(&icp_set.phase);
  return phase == ICP_RECORDING || phase == ICP_PLAIN || phase == ICP_LOADED;
}

/* Called before the destructors, by the thread that called exit(). A program that exits
 * inside a region has not ended its work, whatever its status. If it comes to none, and the run
 * began before the program's own code, this comes behind the destructors, and ends the run. */
static void note_exit(int status, void *unused) {
  (void)unused;
  if (!has_run()) return;
  int32_t code = (status & 0xFF) + (icp_me.state.depth ? TSANOM_EXIT_INSIDE : 0);
  (void)tsanom_record_set_exit(icp_set.record, code);
  if (atomic_load(&icp_set.phase) != ICP_RECORDING) (void)icp_end_recording();
}

/* The rank by MPI_Init; -1: not known. The rank that the run is of; -1: it has none. */
static int mpi_rank = -1, mpi_size, recorded_rank = -1;

/* A message; returns false. The program goes on unrecorded. */
static bool report_failure(int error, const char *why) {
  ICP_REPORT(error, "nothing is recorded: %s", why);
  return false;
}

/* Several processes without ranks share the run: the first that comes to a region has it. */
static bool report_other_process(void) {
  ICP_REPORT(
      0,
      "this process is not recorded: the run belongs to another process or program; "
      "give each a run directory of its own");
  return false;
}

/* Whether the run is of another job than this one, which has these ranks or only one. */
static bool is_of_other_job(const char *run, const rank_identity *own, bool has_rank) {
  int there = ranks_compare(run, own);
  return there == RANKS_OTHER || (there == RANKS_SAME && !has_rank) || ranks_has_run(run);
}

/* A link in its place would lead elsewhere. */
static bool make_directory(const char *path) {
  struct stat facts;
  if (mkdir(path, 0777) != 0 && errno != EEXIST) return false;
  if (lstat(path, &facts) != 0) return false;
  errno = ENOTDIR;
  return S_ISDIR(facts.st_mode);
}

/* The run of processes that a program spawned lies in that of the program, since they are
 * ranks of another world. False: there is none, or it cannot be created. */
static bool choose_spawned(const char *run, const rank_identity *own,
                           char spawned[PATH_MAX]) {
  int length = snprintf(spawned, PATH_MAX, "%s/spawned.%d", run, own->spawned);
  if (!own->spawned || length < 0 || length >= PATH_MAX || !make_directory(spawned)) {
    return false;
  }
  if (own->rank == 0) {
    ICP_REPORT(0, "processes that MPI_Comm_spawn started are recorded as spawned.%d",
               own->spawned);
  }
  return true;
}

/* The directory of this process in the run, which is not of another job. */
static bool join(const char *run, const rank_identity *own, bool has_rank,
                 char directory[PATH_MAX]) {
  int length = has_rank ? snprintf(directory, PATH_MAX, "%s/rank.%d", run, own->rank)
                        : snprintf(directory, PATH_MAX, "%s", run);
  if (length < 0 || length >= PATH_MAX)
    return report_failure(ENAMETOOLONG, "path of the run");
  if (!has_rank) return true;
  int joined = ranks_join(run, own);
  if (joined == RANKS_OTHER) return report_other_process();
  if (joined == RANKS_NONE || !make_directory(directory)) {
    return report_failure(errno, "the directory of a rank cannot be created");
  }
  recorded_rank = own->rank;
  return true;
}

/* MPI's word on the rank is better than the environment's. */
static bool choose_directory(const char *run, char directory[PATH_MAX]) {
  rank_identity own = icp_asked.rank;
  static char spawned[PATH_MAX];
  bool has_rank = icp_asked.has_rank;
  if (mpi_rank >= 0) {
    own.rank = mpi_rank;
    own.size = mpi_size;
    has_rank = mpi_size > 1;
  }
  if (is_of_other_job(run, &own, has_rank)) {
    if (!choose_spawned(run, &own, spawned)) return report_other_process();
    if (is_of_other_job(spawned, &own, has_rank)) return report_other_process();
    run = spawned;
  }
  return join(run, &own, has_rank, directory);
}

/* If that fails, readers know it when the program has ended, unless beats were taken back. */
void icp_mark_run(const char *name) {
  tsn_file file;
  if (tsn_record_create_file(icp_set.record, &file, name) == 0) {
    tsn_file_close(&file);
  }
}

/* Write what --label says to the run, as lines. */
static void write_labels(void) {
  tsn_file file;
  size_t bytes = strlen(icp_asked.labels);
  if (!bytes) return;
  int error = tsn_record_create_file(icp_set.record, &file, "labels");
  if (error == 0) {
    error = tsn_file_write(&file, icp_asked.labels, bytes, 0);
    tsn_file_close(&file);
  }
  if (error) ICP_REPORT(error, "the labels cannot be written");
}

void icp_rank_is(int rank, int size) {
  mpi_rank = rank;
  mpi_size = size;
  if (atomic_load(&icp_set.phase) != ICP_RECORDING || recorded_rank == rank) return;
  if (recorded_rank < 0 && size == 1) return;
  ICP_REPORT(0,
             "this is rank %d of %d by MPI_Init, but it is recorded as %s%d, as the run "
             "began before MPI_Init",
             rank, size, recorded_rank < 0 ? "process " : "rank ",
             recorded_rank < 0 ? (int)getpid() : recorded_rank);
}

/* All ranks come here; one of them is enough. */
void icp_report_spawn(void) {
  if (mpi_rank > 0 || !icp_asked.is_rank) return;
  ICP_REPORT(
      0,
      "mpirun starts the processes of MPI_Comm_spawn without a recorder; to record "
      "them, put tsanom record in front of it: tsanom record -o RUN -- mpirun ...");
}

/* The reason first: a long path is cut. */
static const char *failure_text(const tsanom_fault *fault) {
  static char text[TSN_MESSAGE_TEXT];
  (void)snprintf(text, sizeof text, "%.100s: %.80s", fault->text, fault->file);
  return text;
}

/* ---- a program that has come to no region yet
 *
 * It may load OpenMP or MPI later, or start the program that uses them: python3, perl, sh,
 * env. Its run begins when it is loaded, in a directory of its own, and gives way:
 *
 *   RUN/program/  ──it comes to a region────▶ RUN/program.1; RUN begins, with regions
 *                   and is linked with OpenMP─▶ RUN goes on
 *                 ──it executes another one─▶ RUN/program.1; RUN/program begins anew
 *                 ──exit, and RUN is free───▶ RUN
 *                 ──exit, a child has it or goes on─▶ stays there
 *
 * So RUN is always of the process that comes to a region first, and of the program itself if
 * none does. A program that is killed leaves its run in RUN/program, where readers find it. */

/* A path of the run. */
typedef struct {
  char text[PATH_MAX + 64];
} path_text;

static path_text path_of(const char *folder, const char *name) {
  path_text path;
  (void)snprintf(path.text, sizeof path.text, "%s%s%s", icp_asked.run, folder, name);
  return path;
}

#define FOLDER "/" ENVIRONMENT_PLAIN_DIRECTORY

/* The header of a run in a folder of the run; zeros: there is none. */
static tsn_run_header header_in(const char *folder) {
  tsn_run_header run = {.pid = 0}, none = {.pid = 0};
  tsn_file file;
  if (tsn_file_open(&file, AT_FDCWD, path_of(folder, TSN_RUN_FILE).text, O_RDONLY) != 0) {
    return none;
  }
  bool is_read = pread(file.descriptor, &run, sizeof run, 0) == sizeof run;
  tsn_file_close(&file);
  return is_read ? run : none;
}

/* Another process may record into the same run. */
static bool is_of_this_process(void) {
  tsn_run_header run = header_in(FOLDER "/");
  return is_here(run.pid, run.pid_namespace);
}

/* Return the space that was reserved for events of a process which came to none. */
static void release_space(const char *folder) {
  enum { PUNCH = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE };
  for (uint32_t i = 0; i < MOST_ANNOUNCED; i++) {
    char name[TSN_FILE_NAME];
    tsn_file file;
    tsn_record first = {.time = 1};
    (void)snprintf(name, sizeof name, TSN_STREAM_FILE, i);
    if (tsn_file_open(&file, AT_FDCWD, path_of(folder, name).text, O_RDWR) != 0) return;
    off_t bytes = lseek(file.descriptor, 0, SEEK_END) - TSN_STREAM_HEADER;
    (void)!pread(file.descriptor, &first, sizeof first, TSN_STREAM_HEADER);
    if (!first.time) (void)fallocate(file.descriptor, PUNCH, TSN_STREAM_HEADER, bytes);
    tsn_file_close(&file);
  }
}

/* What the process recorded until it executed this program, or came to a region, gets another
 * name. */
static void put_plain_aside(void) {
  enum { MOST = 100 };
  if (!is_of_this_process()) return;
  release_space(FOLDER "/");
  release_space(FOLDER "/" TSN_REGIONS_DIRECTORY "/");
  path_text path = path_of(FOLDER, "");
  bool is_moved = false;
  for (int i = 1; i < MOST && !is_moved; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, FOLDER ".%d", i);
    is_moved = rename(path.text, path_of(name, "").text) == 0;
  }
}

static bool choose_plain_directory(char directory[PATH_MAX]) {
  int length = snprintf(directory, PATH_MAX, "%s" FOLDER, icp_asked.run);
  errno = ENAMETOOLONG;
  return (length < PATH_MAX && mkdir(directory, 0777) == 0) ||
         report_failure(errno, "the directory of the program cannot be created");
}

/* The run goes on in another directory, of which no process has made its run yet. Where the
 * file system cannot do that, it goes on where it is, and readers find it there. */
static bool take_place(const char *directory) {
  int error = tsn_record_move(icp_set.record, directory);
  if (!error) (void)rmdir(path_of(FOLDER, "").text);
  return error != EEXIST;
}

/* Children that go on may come to a region. */
static bool has_children(void) {
  siginfo_t facts;
  return waitid(P_ALL, 0, &facts, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* The program ends: its run becomes the one that was asked for, unless another process has begun
 * that. */
static void publish(void) {
  rank_identity ranks;
  if (!icp_asked.gives_way || has_children() ||
      ranks_read(icp_asked.run, &ranks) != RANKS_NONE) {
    return;
  }
  (void)take_place(icp_asked.run);
}

/* ---- the run begins and ends */

/* How many threads a region would have. */
static int threads_of_region(void) {
  int threads = icp_runtimes[starting].max_threads();
  if (threads < 1) threads = 1;
  return threads < MOST_ANNOUNCED ? threads : MOST_ANNOUNCED;
}

static bool start_search(void) {
  return (icp_iterations_start(&icp_watched.of_regions) == 0 &&
          icp_iterations_start(&icp_watched.of_shares) == 0) ||
         report_failure(ENOMEM, "the search for the main loop");
}

/* Create the run; false: reported. Whether a run was there is asked before and after the
 * attempt, since another process may create it in between. */
static bool start_run(int32_t phase, int threads) {
  static char directory[PATH_MAX];
  const bool is_plain = phase == ICP_PLAIN;
  tsanom_fault fault;
  tsanom_exec exec;
  if (!(phase != ICP_RECORDING && icp_asked.gives_way
            ? choose_plain_directory(directory)
            : choose_directory(icp_asked.run, directory))) {
    return false;
  }
  if (tsn_proc_address_space() / ADDRESS_PART < ADDRESS_SPACE) {
    return report_failure(ENOMEM, "a limit of address space (ulimit -v) leaves little");
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
  tsanom_status status =
      tsanom_record_init(is_plain ? plain_memory : icp_memory, sizeof icp_memory,
                         directory, threads, &options, &exec, &icp_set.record);
  if (status < 0) {
    return taken || ranks_has_run(directory) ? report_other_process()
                                             : report_failure(0, failure_text(&fault));
  }
  icp_visits_start(icp_set.want_cpu || icp_set.wants_metrics);
  int error = icp_places_start();
  if (!error) {
    if (is_plain || strcmp(icp_asked.loop, ENVIRONMENT_LOOP_TIME) == 0) {
      icp_mark_run("time-beats");
    }
    write_labels();
    return true;
  }
  (void)tsanom_record_finish(icp_set.record);
  return report_failure(error, "places.tsv cannot be created");
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

static void end_run(void *unused) {
  (void)unused;
  if (tsn_record_end(icp_set.record) < 0) {
    ICP_REPORT(
        0,
        "the end of the run could not be written: no descriptor, no right, or a limit of "
        "file size");
  }
}

/* Take what was asked for, start the run. When the program is loaded, its runtime is not asked for
 * the number of threads: it would read its variables, which the program may set yet. */
static bool begin(int32_t phase) {
  icp_quota_start();
  icp_set.process = getpid();
  icp_set.want_cpu = icp_asked.cpu_time;
  icp_set.wants_metrics = icp_usage_start();
  bool started = madvise(&icp_set, sizeof icp_set, MADV_WIPEONFORK) == 0 &&
                 on_exit(note_exit, NULL) == 0 &&
                 start_run(phase, phase == ICP_RECORDING ? threads_of_region() : 1);
  icp_own_start();
  return started;
}

static void start_at_load(void *unused) {
  (void)unused;
  int32_t phase = icp_asked.is_loaded ? ICP_LOADED : ICP_PLAIN;
  if (icp_asked.gives_way) put_plain_aside();
  bool started = begin(phase);
  atomic_store(&icp_set.phase, started               ? phase
                               : icp_asked.gives_way ? ICP_UNTRIED
                                                     : ICP_OFF);
}

bool icp_start_at_load(void) {
  if (!icp_me.own) icp_own_make();
  icp_section(start_at_load, NULL);
  return has_run();
}

/* Threads go on, and write nothing more: the end of their visits belongs to the run that has
 * ended. False: the run stays, which has come to totals, of which a process has one table. */
static bool give_way(void) {
  if (!icp_asked.gives_way || atomic_load(&icp_has_totals)) {
    ICP_REPORT(0, "regions and calls of this program are not recorded");
    return false;
  }
  atomic_store(&icp_set.phase, ICP_UNTRIED);
  end_run(NULL);
  put_plain_aside();
  return true;
}

/* The run is that of this process, unless one that it started came to a region first. */
static bool has_place(void) {
  static char directory[PATH_MAX];
  if (!icp_asked.gives_way) return true;
  icp_asked.gives_way = false;
  if (!choose_directory(icp_asked.run, directory)) return false;
  return take_place(directory) || report_other_process();
}

/* Regions and calls are added to the run, which goes on where it has begun. A handler of exit()
 * that is set now comes before the destructors. */
static bool begin_regions(int32_t phase) {
  icp_runtimes_start();
  if (!start_search() ||
      !(phase == ICP_LOADED ? on_exit(note_exit, NULL) == 0 : begin(ICP_RECORDING))) {
    return false;
  }
  if (phase == ICP_LOADED) tsn_record_announce(icp_set.record, threads_of_region());
  icp_quota_share(threads_of_region());
  return true;
}

/* The phase is stored last, after everything that it allows to be used. */
static void start(void *unused) {
  (void)unused;
  icp_read_request();
  if (!*icp_asked.run) {
    atomic_store(&icp_set.phase, ICP_OFF);
    return;
  }
  int32_t phase = atomic_load(&icp_set.phase);
  if ((phase == ICP_PLAIN && !give_way()) || (phase == ICP_LOADED && !has_place())) {
    atomic_store(&icp_set.is_refused, true);
    return;
  }
  report_own_wrappers();
  bool started = begin_regions(phase);
  icp_me.watched = started;
  icp_watch_start(starting);
  icp_set.began = icp_usage_now();
  atomic_store(&icp_set.phase, started               ? ICP_RECORDING
                               : phase == ICP_LOADED ? ICP_LOADED
                                                     : ICP_OFF);
}

static void start_once(void) {
  icp_section(start, NULL);
}

/* The phase is still that of the beginning in the child of a process that had begun. */
bool icp_start(uint16_t runtime) {
  int32_t untried = ICP_UNTRIED;
  tsn_guard guard;
  if (atomic_load_explicit(&icp_set.is_refused, memory_order_relaxed)) return false;
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

static double seconds_of(const struct rusage *r) {
  return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
         1e-6 * (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

/* The ranks of an mpirun that the program is, or has started, are in the run. */
static bool has_job(void) {
  rank_identity job;
  return ranks_read(icp_asked.run, &job) != RANKS_NONE;
}

/* A program that this one started has the run. Others, which came to regions later or to none, may
 * have had most of the work. */
static void report_others(const tsn_run_header *run, double children) {
  double recorded = 1e-9 * (double)(run->used + run->children);
  if (run->state != TSN_FINISHED || children - recorded <= recorded) return;
  ICP_REPORT(
      0,
      "the run is of %.*s, which took %.3g s of processor time; other processes took "
      "%.3g s, and are not recorded",
      (int)sizeof run->program, run->program, recorded, children - recorded);
}

/* Most of the work may have been that of programs that this one started, or of its forks. */
static void report_children(void) {
  struct rusage own, children;
  if (has_job() || getrusage(RUSAGE_SELF, &own) != 0 ||
      getrusage(RUSAGE_CHILDREN, &children) != 0) {
    return;
  }
  tsn_run_header run = header_in("/");
  if (run.pid && run.pid != (uint64_t)getpid()) {
    report_others(&run, seconds_of(&children));
    return;
  }
  if (seconds_of(&children) <= seconds_of(&own)) return;
  ICP_REPORT(0,
             "processes that the program started are not recorded, and took %.3g s of "
             "processor time, the program itself %.3g s",
             seconds_of(&children), seconds_of(&own));
}

static void end_plain(void *unused) {
  report_children();
  publish();
  end_run(unused);
}

static const char no_region[] =
    "the program has opened no parallel region of OpenMP and called no known function of "
    "MPI";

static void end_loaded(void *unused) {
  if (!atomic_load(&icp_set.is_refused)) {
    ICP_REPORT(0, "no regions are recorded: %s", no_region);
  }
  end_plain(unused);
}

/* The exchange keeps a second call from finishing the run again. */
bool icp_end_recording(void) {
  int32_t phase = atomic_exchange(&icp_set.phase, ICP_OFF);
  if (phase == ICP_RECORDING) icp_section(end_run, NULL);
  if (phase == ICP_PLAIN) icp_section(end_plain, NULL);
  if (phase == ICP_LOADED) icp_section(end_loaded, NULL);
  return phase != ICP_OFF && phase != ICP_UNTRIED;
}

/* The program itself has ended without a region or a call. Processes that it started may
 * have had some. */
static void report_nothing(void *unused) {
  (void)unused;
  if (ranks_has_run(icp_asked.run) || has_job()) return;
  ICP_REPORT(0, "nothing is recorded: %s", no_region);
}

/* exit() runs destructors; a process that is killed leaves a run that is complete but not
 * finished. */
__attribute__((destructor)) static void finish(void) {
  bool is_untried = atomic_load(&icp_set.phase) == ICP_UNTRIED;
  bool is_program = icp_asked.program == (uint64_t)getpid();
  if (is_untried && is_program) icp_section(report_nothing, NULL);
  icp_watch_last();
  if (atomic_load(&icp_set.phase) == ICP_RECORDING) (void)icp_end_recording();
}

/* Some programs end so (dash), also in a signal handler. A child of vfork() has the memory of its
 * parent, whose run goes on. */
_Noreturn static void leave(int status, void (*original)(int status)) {
  if (has_run() && icp_set.process == getpid()) {
    note_exit(status, NULL);
    icp_watch_last();
    (void)icp_end_recording();
  }
  if (original) original(status);
  for (;;) (void)syscall(SYS_exit_group, status);
}

/* NOLINTBEGIN(bugprone-reserved-identifier): theirs */

/* AddressSanitizer, which asks for its options here, ends programs that other libraries come before. */
ENTRY const char *__asan_default_options(void);
ENTRY const char *__asan_default_options(void) {
  return "verify_asan_link_order=0";
}

ENTRY void _exit(int status) {
  leave(status, original_exit);
}

ENTRY void _Exit(int status) {
  leave(status, original_exit);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* The functions that the program has for it come behind. */
ENTRY void quick_exit(int status) {
  leave(status, original_quick_exit);
}

/* A program is executed with these variables. Scripts set LD_PRELOAD, and clear it, without knowing
 * that the recorder is in it. */
static void note_execution(const char *path, char *const *variable) {
  static const char preloaded[] = "LD_PRELOAD=";
  const char *slash = path ? strrchr(path, '/') : NULL;
  icp_read_request();
  while (variable && *variable &&
         strncmp(*variable, preloaded, sizeof preloaded - 1) != 0)
    variable++;
  bool has_recorder = variable && *variable && strstr(*variable, "libtsanom-preload");
  if (!path || has_recorder || !icp_asked.messages ||
      __atomic_fetch_add(&icp_asked.messages->alone, 1, __ATOMIC_RELAXED)) {
    return;
  }
  ICP_REPORT(0,
             "%.60s is not recorded: LD_PRELOAD, which has the recorder, was set anew or "
             "removed before it was executed",
             slash ? slash + 1 : path);
}

ENTRY int execve(const char *path, char *const words[], char *const list[]) {
  note_execution(path, list);
  return original_execve(path, words, list);
}

ENTRY int execvp(const char *file, char *const words[]) {
  note_execution(file, environ);
  return original_execvp(file, words);
}

/* Code may be gone after this, and other code be loaded at its addresses: see places.c.
 * The C library unloads modules by other ways too, but they are its own. */
ENTRY int dlclose(void *handle) {
  int failed = icp_dlclose(handle);
  if (failed) return failed;
  icp_runtimes_forget_unloaded();
  if (has_run()) {
    icp_places_forget_unloaded();
    icp_mpi_forget();
  }
  return 0;
}
