/* SPDX-License-Identifier: BSD-3-Clause */
/* The vital signs of a channel: the board, the file, and the helper thread. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/channel.h"
#include "record/file.h"
#include "record/guard.h"
#include "record/inside.h"
#include "record/vital.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

/* A process that samples a program which must not have a helper thread.
 *
 *   program ──clone──▶ intermediate ──clone──▶ sampler ──execve──▶ tsanom-sampler
 *                      ends at once            belongs to init
 *
 * The clones share the program's memory until they end or execute another program, while
 * the calling thread is suspended: nothing is copied, however large the program is. The
 * intermediate sends no signal when it ends, and only __WCLONE finds it: the program's
 * wait() does not. After execve() it would, so that another process executes.
 *
 * The sampler shares the board, and has the read end of a pipe of which the program has
 * the write end: the pipe breaks when the program ends or executes another program. Where
 * the program has no number to spare for it, the sampler waits for the process itself, and
 * asks at each round whether the environment is still that of the program. It has no other
 * descriptor of the program, a session of its own, and all signals blocked. */

enum { STACK = 16 << 10 };

typedef struct {
  const char *path;
  int given[TSN_SAMPLER_END];
  volatile bool failed;
  _Alignas(16) unsigned char stack[2][STACK]; /* of both processes */
} request;

#define NOT_CHECKED __attribute__((no_sanitize("address", "thread")))

static char sampler_path[PATH_MAX];
static bool is_found;

/* `sampler_path` becomes directory/way/tsanom-sampler; whether it can be executed. */
static bool is_sampler(const char *directory, int length, const char *way) {
  int written = snprintf(sampler_path, sizeof sampler_path, "%.*s/%s/tsanom-sampler",
                         length, directory, way);
  return written < PATH_MAX && access(sampler_path, X_OK) == 0;
}

/* The environment variable is set by `tsanom record`, and is ignored in set-user-ID
 * programs. Without it the place of the file that contains this variable leads to the
 * sampler, so that an installation may be moved: the way is that of the installation, or
 * none in the build tree. A program that contains the archive may be anywhere: then the
 * sampler is where it was to be installed. */
static void find_sampler(void) {
  const char *path = secure_getenv("TSANOM_RECORD_SAMPLER"), *end = NULL;
  Dl_info place;
  if (path && strlen(path) < sizeof sampler_path && access(path, X_OK) == 0) {
    memcpy(sampler_path, path, strlen(path) + 1);
    return;
  }
  if (dladdr(sampler_path, &place)) {
    end = strrchr(place.dli_fname, '/');
  }
  int length = end ? (int)(end - place.dli_fname) : 0;
  if ((end && is_sampler(place.dli_fname, length, TSN_TO_SAMPLER)) ||
      (end && is_sampler(place.dli_fname, length, "."))) {
    return;
  }
  (void)is_sampler("", 0, TSN_SAMPLER_DIRECTORY);
}

void tsn_vital_find_sampler(void) {
  find_sampler();
  is_found = true;
}

/* Lay out the descriptors and execute; returns on failure. */
NOT_CHECKED static void execute_sampler(const request *r) {
  char *const arguments[] = {(char[]){"tsanom-sampler"}, (char[]){TSN_SAMPLER_VERSION},
                             NULL};
  char *const environment[] = {NULL};
  int high[TSN_SAMPLER_END];
  for (int i = 0; i < TSN_SAMPLER_END; i++) {
    high[i] = fcntl(r->given[i], F_DUPFD, TSN_SAMPLER_END);
    if (high[i] < 0) return;
  }
  for (int i = 0; i < TSN_SAMPLER_END; i++) {
    if (dup2(high[i], i) != i) return;
  }
  if (syscall(SYS_close_range, (unsigned)TSN_SAMPLER_END, ~0U, 0U) == 0) {
    /* Not the function, which is ours if the recorder is preloaded. */
    (void)syscall(SYS_execve, r->path, arguments, environment);
  }
}

NOT_CHECKED static int become_sampler(void *argument) {
  request *r = argument;
  execute_sampler(r);
  r->failed = true;
  _exit(1);
}

NOT_CHECKED static int start_sampler(void *argument) {
  request *r = argument;
  if (__clone(become_sampler, r->stack[1] + STACK, CLONE_VM | CLONE_VFORK, r) < 0) {
    r->failed = true;
  }
  _exit(0);
}

/* Of the program's children it would be the only one that the program did not start. */
static bool would_be_adopted(void) {
  int adopts = 0;
  return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) != 0 || adopts;
}

static bool start_processes(request *r) {
  pid_t intermediate =
      __clone(start_sampler, r->stack[0] + STACK, CLONE_VM | CLONE_VFORK, r);
  pid_t ended = -1;
  do ended = intermediate < 0 ? -1 : waitpid(intermediate, NULL, (int)__WCLONE);
  while (ended < 0 && intermediate >= 0 && errno == EINTR);
  return ended >= 0 && !r->failed;
}

/* The environment of the process, which belongs to the program that it executes; -1: it is not shown. */
static int open_words(int directory) {
  char first;
  int words = openat(directory, "environ", O_RDONLY | O_CLOEXEC, 0);
  if (words < 0 || pread(words, &first, 1, 0) == 1) return words;
  (void)close(words);
  return -1;
}

/* Start the process; false: it cannot be started. */
static bool start_process(tsn_vital *vital) {
  int life[2];
  if (!is_found) find_sampler();
  if (access(sampler_path, X_OK) != 0 || would_be_adopted() || tsn_processes_are_few() ||
      !tsn_file_is_ours(&vital->memory) || pipe2(life, O_CLOEXEC) != 0) {
    return false;
  }
  bool is_kept =
      tsn_file_keep(&vital->life, life[1]) == 0 && tsn_file_settle(&vital->life, false);
  request *r =
      mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int null = openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
  int directory = tsn_proc_open(0), words = open_words(directory);
  bool started = false;
  if (r != MAP_FAILED && null >= 0 && directory >= 0) {
    r->path = sampler_path;
    for (int i = 0; i < TSN_SAMPLER_FILE; i++) r->given[i] = null;
    r->given[TSN_SAMPLER_FILE] = vital->file.descriptor;
    r->given[TSN_SAMPLER_BOARD] = vital->memory.descriptor;
    r->given[TSN_SAMPLER_PROC] = directory;
    r->given[TSN_SAMPLER_LIFE] = is_kept ? life[0] : null;
    r->given[TSN_SAMPLER_WORDS] = words >= 0 ? words : null;
    started = start_processes(r);
  }
  if (r != MAP_FAILED) (void)munmap(r, sizeof *r);
  if (null >= 0) (void)close(null);
  tsn_proc_close(words);
  tsn_proc_close(directory);
  (void)close(life[0]);
  if (!started) tsn_file_close(&vital->life);
  return started;
}

/* A board that can be shared, zeroed, at the address of the mapping before, which a thread
 * may be looking at; NULL: there is none. */
static tsn_vital_board *map_shared(tsn_vital *vital) {
  size_t bytes = sizeof *vital->shared;
  int memory = tsn_file_fits((off_t)bytes) ? memfd_create("tsanom", MFD_CLOEXEC) : -1;
  if (memory < 0) return NULL;
  if (tsn_file_keep(&vital->memory, memory) != 0) return NULL;
  int flags = MAP_SHARED | (vital->shared ? MAP_FIXED : 0);
  void *board = MAP_FAILED;
  if (ftruncate(vital->memory.descriptor, (off_t)bytes) == 0) {
    board = mmap(vital->shared, bytes, PROT_READ | PROT_WRITE, flags,
                 vital->memory.descriptor, 0);
  }
  if (board != MAP_FAILED && madvise(board, bytes, MADV_DONTFORK) == 0) {
    return vital->shared = board;
  }
  if (board != MAP_FAILED && !vital->shared) (void)munmap(board, bytes);
  tsn_file_close(&vital->memory);
  return NULL;
}

static int write_header(tsn_channel *channel, uint32_t state) {
  tsn_vital *vital = &channel->vital;
  const tsn_vital_board *board = atomic_load(&vital->board);
  bool finished = state == TSN_FINISHED;
  tsn_vital_header header = {
      .magic = TSN_VITAL_MAGIC,
      .version = TSN_FORMAT_VERSION,
      .bytes = sizeof header,
      .run_id = channel->header.run_id,
      .state = state,
      .sampler = vital->sampler,
      .period = board->period,
      .count = finished ? board->slots : 0,
      .lost = finished ? board->lost : 0,
      .unordered = board->stride > 1,
  };
  header.checksum = tsn_checksum(&header, offsetof(tsn_vital_header, checksum));
  return tsn_file_write(&vital->file, &header, sizeof header, 0);
}

/* What a helper thread and the program share, or a process and the program. */
static tsn_vital_board *get_board(tsn_vital *vital, int32_t helper) {
  tsn_vital_board *board = NULL;
  vital->memory.descriptor = vital->life.descriptor = -1;
  if (helper == TSANOM_RECORD_HELPER_NONE) board = map_shared(vital);
  if (board) return board;
  if (!vital->own) vital->own = tsn_channel_map(sizeof *vital->own);
  return vital->own;
}

int tsn_vital_prepare(tsn_channel *channel, const tsn_channel_options *options) {
  tsn_vital *vital = &channel->vital;
  atomic_store(&vital->board, NULL);
  atomic_store(&vital->entered, NULL);
  vital->exit = 0;
  vital->file = (tsn_file){.descriptor = -1};
  if (options->vital_ms == TSANOM_RECORD_VITAL_OFF) return 0;
  tsn_vital_board *board = get_board(vital, options->helper);
  if (!board) return ENOMEM;
  board->bytes = sizeof *board;
  board->clock = channel->clock;
  board->process = (int32_t)getpid();
  board->period =
      (uint64_t)(options->vital_ms ? options->vital_ms : TSN_VITAL_PERIOD) * 1000000;
  board->most = (uint64_t)options->vital_most;
  board->phase = TSN_VITAL_OPEN;
  board->streams = 0;
  board->count = board->lost = 0;
  board->slots = board->hand = board->found = 0;
  board->stride = 1;
  board->of_process = 0;
  memset(board->team, 0, sizeof board->team);
  atomic_store(&vital->board, board);
  atomic_store(&vital->entered, board);
  return 0;
}

void tsn_vital_add(tsn_channel *channel, uint32_t stream, int32_t thread) {
  tsn_vital_board *board = atomic_load(&channel->vital.board);
  if (!board) return;
  atomic_store_explicit(&board->of[stream].task, 0, memory_order_relaxed);
  board->of[stream].thread = thread;
  board->of[stream].samples = 0;
  atomic_store_explicit(&board->streams, stream + 1, memory_order_release);
}

/* The C library knows the kernel's number of a thread; asking the kernel would be a
 * system call in a beat. The number is a part of the name of the thread's clock. 0: it is
 * not known. */
static int32_t own_task(void) {
  clockid_t clock;
  return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? ~(clock >> 3) : 0;
}

/* The number of the thread that a stream is entered with; NULL: it is not entered. */
static _Atomic int32_t *task_of(tsn_channel *channel, uint32_t stream) {
  tsn_vital_board *board =
      atomic_load_explicit(&channel->vital.entered, memory_order_acquire);
  bool is_own =
      board == atomic_load_explicit(&channel->vital.board, memory_order_relaxed);
  if (!board || (!is_own && stream >= (uint32_t)channel->header.announced)) return NULL;
  return &board->of[stream].task;
}

/* A thread that beats is entered instead of one that only has region events. */
void tsn_vital_claim(tsn_channel *channel, uint32_t stream) {
  _Atomic int32_t *task = task_of(channel, stream);
  int32_t own = task ? own_task() : 0, nobody = 0;
  if (!own) return;
  if (atomic_load_explicit(&channel->vital.board, memory_order_relaxed)) {
    atomic_store_explicit(task, own, memory_order_relaxed);
  } else {
    (void)atomic_compare_exchange_strong(task, &nobody, own);
  }
}

void tsn_vital_release(tsn_channel *channel, uint32_t stream) {
  _Atomic int32_t *task = task_of(channel, stream);
  int32_t own = task ? own_task() : 0;
  if (own) (void)atomic_compare_exchange_strong(task, &own, 0);
}

int tsn_vital_create(tsn_channel *channel) {
  tsn_vital *vital = &channel->vital;
  tsn_vital_board *board = atomic_load(&vital->board);
  if (!board) return 0;
  vital->sampler = TSN_VITAL_BY_ENDS;
  int error = tsn_storage_create_file(channel, &channel->vital.file, TSN_VITAL_FILE);
  if (!error) error = tsn_file_extend(&channel->vital.file, 0, TSN_VITAL_RECORD);
  if (!error) error = write_header(channel, TSN_RUNNING);
  if (!error) tsn_vital_sample_all(board, vital->file.descriptor, 0);
  return error;
}

/* Give the calling thread a table of descriptors with only this one in it. */
static bool take_own_descriptors(unsigned file) {
  return syscall(SYS_close_range, file + 1, ~0U, CLOSE_RANGE_UNSHARE) == 0 &&
         (file == 0 || syscall(SYS_close_range, 0U, file - 1, 0U) == 0);
}

static void *sample(void *argument) {
  tsn_channel *channel = argument;
  tsn_vital *vital = &channel->vital;
  tsn_vital_sampler sampler;
  if (!take_own_descriptors((unsigned)vital->file.descriptor) ||
      !tsn_file_is_ours(&vital->file)) {
    return NULL;
  }
  int directory = tsn_proc_open(0);
  if (directory < 0) return NULL;
  vital->sampler = TSN_VITAL_BY_THREAD;
  (void)write_header(channel, TSN_RUNNING);
  tsn_vital_begin(&sampler, atomic_load(&vital->board), vital->file.descriptor,
                  directory);
  while (tsn_helper_sleep(&vital->helper, tsn_vital_pause(&sampler)) &&
         tsn_vital_round(&sampler)) {
  }
  return NULL;
}

void tsn_vital_start(tsn_channel *channel, int32_t helper) {
  tsn_vital *vital = &channel->vital;
  if (!atomic_load(&vital->board)) return;
  if (helper == TSANOM_RECORD_HELPER_THREAD) {
    tsn_storage_settle(channel, &vital->file);
    tsn_helper_start(&vital->helper, sample, channel);
  } else if (start_process(vital)) {
    vital->sampler = TSN_VITAL_BY_PROCESS;
    (void)write_header(channel, TSN_RUNNING);
  }
  tsn_file_close(&vital->memory);
  if (!channel->stays_open) tsn_storage_settle(channel, &vital->file);
}

/* Let no sampler write any more; false: one has been writing for a second. */
static bool stop_sampler(tsn_vital *vital, tsn_vital_board *board) {
  enum { MOST_WAITS = 1000, PAUSE = 1000000 };
  const struct timespec pause = {.tv_nsec = PAUSE};
  bool closed = false;
  tsn_helper_stop(&vital->helper);
  for (int i = 0; i < MOST_WAITS && !closed; i++) {
    uint32_t open = TSN_VITAL_OPEN;
    closed = atomic_compare_exchange_strong(&board->phase, &open, TSN_VITAL_CLOSED);
    if (!closed) (void)nanosleep(&pause, NULL);
  }
  tsn_file_close(&vital->life);
  return closed;
}

void tsn_vital_finish(tsn_channel *channel) {
  tsn_vital *vital = &channel->vital;
  tsn_vital_board *board = atomic_load(&vital->board);
  atomic_store(&vital->entered, NULL);
  if (!board) return;
  if (stop_sampler(vital, board) &&
      tsn_storage_use_file(channel, &vital->file, TSN_VITAL_FILE) == 0) {
    tsn_vital_sample_all(board, vital->file.descriptor, vital->exit);
    off_t end = (off_t)((1 + board->slots) * TSN_VITAL_RECORD);
    if (ftruncate(vital->file.descriptor, end) == 0) {
      (void)write_header(channel, TSN_FINISHED);
    }
  }
  tsn_file_close(&vital->file);
  atomic_store(&vital->board, NULL);
}

void tsn_vital_remove(tsn_channel *channel) {
  tsn_vital *vital = &channel->vital;
  tsn_vital_board *board = atomic_load(&vital->board);
  atomic_store(&vital->entered, NULL);
  if (!board) return;
  (void)stop_sampler(vital, board);
  tsn_file_close(&vital->memory);
  tsn_storage_remove_file(channel, &channel->vital.file, TSN_VITAL_FILE);
  atomic_store(&vital->board, NULL);
}
