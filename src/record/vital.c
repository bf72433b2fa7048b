/* SPDX-License-Identifier: BSD-3-Clause */
/* The vital signs of a channel: the board, the file, and the helper thread. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/channel.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

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
  if (helper == TSANOM_RECORD_HELPER_NONE) board = tsn_vital_map_shared(vital);
  if (board) return board;
  if (!vital->own) vital->own = tsn_channel_map(sizeof *vital->own);
  return vital->own;
}

int tsn_vital_prepare(tsn_channel *channel, const tsn_channel_options *options) {
  tsn_vital *vital = &channel->vital;
  atomic_store(&vital->board, NULL);
  atomic_store(&vital->entered, NULL);
  vital->exit = 0;
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

void tsn_vital_share(tsn_channel *channel, tsn_channel *first) {
  atomic_store(&channel->vital.entered, atomic_load(&first->vital.board));
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
  int error = tsn_storage_create_vital(channel);
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
  } else if (tsn_vital_start_process(vital)) {
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
  if (stop_sampler(vital, board) && tsn_storage_use_vital(channel) == 0) {
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
  tsn_storage_remove_vital(channel);
  atomic_store(&vital->board, NULL);
}
