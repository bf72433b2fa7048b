/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of samples, at a bounded cost. A sampler gains credit at 1/1250 of the elapsed
 * time and loses its own processor time, including the kernel's work for it:
 *
 *   credit += elapsed / 1250 - processor time
 *
 * It waits while the credit is negative. It begins with the credit of a second, so that a
 * run of half a second has some ten samples instead of three. The processor time of a
 * round may contain what the sampler did not use: interrupts, and the time that other
 * virtual machines took. A round that took 4 ms instead of 0.3 would end sampling for 5
 * s. Therefore a round counts at most twice the one before it.
 *
 * The first round is early: threads that begin later than init have their first sample there,
 * and what is before it is in no ledger.
 *
 * A round samples the process and at most 16 threads, those after the ones of the round
 * before: so with many threads each is sampled less often, but not the process. Measured
 * on a loaded virtual machine, with cold caches: a wake-up 27 us, memory and sums of the
 * process 35, a thread 10, its switches 21 more, the write 18. What a thread sleeps for
 * takes 1.2 us with warm caches, stat and schedstat 3.2, the peak of memory 8.7. So switches
 * are read in samples 0, 8, 16, ... of a thread, the peak in those of the process, and where
 * there are many threads, sums, too. A limited file keeps these longest. */
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <tsanom/hsa.h>
#include <unistd.h>

#include "record/clock.h"
#include "record/vital.h"

enum {
  ROUND = 16,          /* threads */
  RARELY = 8,          /* samples, of which one has what costs more */
  BATCH = 32,          /* records written at once */
  WAKE_UP = 27000,     /* ns, the least that a round costs */
  FIRST = 2000000,     /* ns until the first round */
  ADVANCE = 1000000000 /* ns of which it has the credit when it begins */
};

typedef struct {
  tsn_vital_board *board;
  int file;
  size_t count;
  tsn_vital_record record[BATCH];
} batch;

static uint64_t own_processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void write_batch(batch *b) {
  tsn_vital_write(b->board, b->file, b->record, b->count);
  b->count = 0;
}

/* The next record of a batch, with no value available yet. */
static tsn_vital_record *add_record(batch *b, uint32_t stream, int32_t thread,
                                    int32_t task, uint32_t *samples) {
  if (b->count == BATCH) write_batch(b);
  tsn_vital_record *record = &b->record[b->count++];
  *record = tsn_proc_record(stream, thread, task);
  record->number = (*samples)++;
  record->time = tsn_clock_ticks(b->board->clock);
  return record;
}

static tsn_vital_record *sample_process(batch *b, int directory, tsn_proc_files *kept,
                                        bool sums) {
  tsn_vital_record *record =
      add_record(b, TSN_VITAL_PROCESS, -1, b->board->process, &b->board->of_process);
  bool peak = !kept || record->number % RARELY == 0;
  tsn_proc_read_process(directory, kept, sums, peak, record);
  return record;
}

/* What a thread shows of its team. It may be on a processor while it waits. */
static void add_team(const tsn_vital_board *board, tsn_vital_record *record) {
  if (record->thread < 0 || record->thread >= TSN_TEAM_MOST) return;
  const tsn_team_thread *t = &board->team[record->thread];
  uint32_t state = atomic_load_explicit(&t->state, memory_order_relaxed);
  if (state == TSN_TEAM_UNKNOWN) return;
  record->spun = atomic_load_explicit(&t->spun, memory_order_relaxed);
  if (state == TSN_TEAM_WAITS) record->waits = TSANOM_HSA_WAITS_TEAM;
}

/* Sample the owner of a stream, if there is one. */
static void sample_thread(batch *b, uint32_t stream, int directory, tsn_proc_files *kept,
                          bool all) {
  int32_t task = atomic_load_explicit(&b->board->of[stream].task, memory_order_relaxed);
  if (!task) return;
  tsn_vital_record *record = add_record(b, stream, b->board->of[stream].thread, task,
                                        &b->board->of[stream].samples);
  tsn_proc_read_thread(directory, kept, all || record->number % RARELY == 0, record);
  add_team(b->board, record);
}

/* The others are for the files of further threads. */
static uint32_t descriptors_to_keep(void) {
  enum { OTHERS = 32, MOST = TSN_VITAL_KEPT * TSN_PROC_FILES };
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < OTHERS) return 0;
  return limit.rlim_cur - OTHERS < MOST ? (uint32_t)(limit.rlim_cur - OTHERS) : MOST;
}

void tsn_vital_begin(tsn_vital_sampler *sampler, tsn_vital_board *board, int file,
                     int directory) {
  memset(sampler, 0, sizeof *sampler);
  memset(&sampler->process, 0xFF, sizeof sampler->process);
  memset(sampler->kept, 0xFF, sizeof sampler->kept);
  sampler->board = board;
  sampler->file = file;
  sampler->directory = directory;
  sampler->handle = -1;
  sampler->keep = descriptors_to_keep() / TSN_PROC_FILES;
  sampler->credit = ADVANCE / TSN_VITAL_SHARE;
  sampler->looked = tsn_clock_monotonic();
  sampler->used = own_processor_time();
}

/* What is not used of a credit above that of two periods is lost, except for the advance.
 */
static void settle(tsn_vital_sampler *sampler) {
  uint64_t now = tsn_clock_monotonic(), used = own_processor_time();
  int64_t most = (int64_t)(2 * sampler->board->period / TSN_VITAL_SHARE);
  int64_t gain = (int64_t)((now - sampler->looked) / TSN_VITAL_SHARE);
  int64_t space = most > sampler->credit ? most - sampler->credit : 0;
  uint64_t cost = used - sampler->used, most_cost = 2 * sampler->cost;
  if (most_cost < 2 * WAKE_UP) most_cost = 2 * WAKE_UP;
  sampler->cost = cost < most_cost ? cost : most_cost;
  sampler->credit += (gain < space ? gain : space) - (int64_t)sampler->cost;
  sampler->looked = now;
  sampler->used = used;
}

int64_t tsn_vital_pause(tsn_vital_sampler *sampler) {
  settle(sampler);
  if (sampler->board->of_process == 1) return FIRST;
  int64_t period = (int64_t)sampler->board->period;
  int64_t debt = -sampler->credit * TSN_VITAL_SHARE;
  return debt > period ? debt : period;
}

static void sample_threads(tsn_vital_sampler *sampler, batch *b) {
  uint32_t streams = atomic_load_explicit(&b->board->streams, memory_order_acquire);
  for (uint32_t i = 0; i < streams && b->count <= ROUND; i++) {
    if (sampler->next >= streams) sampler->next = 0;
    uint32_t stream = sampler->next++;
    tsn_proc_files *kept = stream < sampler->keep ? &sampler->kept[stream] : NULL;
    sample_thread(b, stream, sampler->directory, kept, false);
  }
}

/* A process whose first thread has ended goes on with others. */
static bool is_alive(const tsn_vital_record *process) {
  if (process->state == TSN_UNAVAILABLE_STATE) {
    return process->resident && process->resident != TSN_UNAVAILABLE;
  }
  return (process->state != 'Z' && process->state != 'X') || process->threads > 1;
}

bool tsn_vital_round(tsn_vital_sampler *sampler) {
  tsn_vital_board *board = sampler->board;
  batch b = {.board = board, .file = sampler->file, .count = 0};
  uint32_t open = TSN_VITAL_OPEN;
  if (!atomic_compare_exchange_strong(&board->phase, &open, TSN_VITAL_WRITING)) {
    return false;
  }
  bool sums = board->streams <= ROUND || board->of_process % RARELY == 0;
  bool alive = is_alive(sample_process(&b, sampler->directory, &sampler->process, sums));
  if (alive) sample_threads(sampler, &b);
  if (alive) write_batch(&b);
  atomic_store(&board->phase, TSN_VITAL_OPEN);
  return alive;
}

/* The program does not write any more, unless it is being killed while it does. */
void tsn_vital_note_end(tsn_vital_sampler *sampler) {
  tsn_vital_board *board = sampler->board;
  int32_t code =
      tsn_proc_read_exit(sampler->directory, &sampler->process, sampler->handle);
  uint32_t open = TSN_VITAL_OPEN;
  if (!code || !atomic_compare_exchange_strong(&board->phase, &open, TSN_VITAL_WRITING)) {
    return;
  }
  batch b = {.board = board, .file = sampler->file, .count = 0};
  add_record(&b, TSN_VITAL_PROCESS, -1, board->process, &board->of_process)->exit = code;
  write_batch(&b);
  atomic_store(&board->phase, TSN_VITAL_OPEN);
}

void tsn_vital_sample_all(tsn_vital_board *board, int file, int32_t exit_code) {
  batch b = {.board = board, .file = file, .count = 0};
  uint32_t streams = atomic_load_explicit(&board->streams, memory_order_acquire);
  int directory = tsn_proc_open(0);
  sample_process(&b, directory, NULL, true)->exit = exit_code;
  for (uint32_t i = 0; i < streams; i++) sample_thread(&b, i, directory, NULL, true);
  write_batch(&b);
  tsn_proc_close(directory);
}

/* ---- the samples in heartbeat.vital
 *
 * The samples in heartbeat.vital. Without a limit, sample n is in slot n. With one, the
 * file has a fixed number of slots, and what is overwritten is chosen as a clock's hand
 * passes them:
 *
 *   slots   0 1 2 3 4 5 6 7
 *   full    0 8 2 9 4 . 6 7      s = 2: samples 1 and 3 were overwritten, 5 is the next
 *                 hand ^
 *
 * A sample stays if it is one of the latest, a quarter of the slots, or if its number
 * among those of its thread is a multiple of the stride s. When the hand has found less
 * than a quarter of the slots in a turn, s doubles. So the samples that stay cover the
 * whole run, and the intervals between them double as it gets longer.
 *
 * Of each stream the first sample always stays. Therefore the slots are four for each
 * stream at least, and the hand finds half of them when s is large.
 *
 * No sample moves, and one is written by one pwrite() within a page, which SIGKILL does
 * not cut in two. The header says that there is no order before the first sample is
 * overwritten. */

static uint64_t capacity(const tsn_vital_board *board) {
  enum { OF_A_STREAM = 4 };
  uint64_t least = OF_A_STREAM * ((uint64_t)board->streams + 1);
  if (!board->most) return UINT64_MAX;
  return board->most > least ? board->most : least;
}

static off_t offset_of(uint64_t slot) {
  return (off_t)((1 + slot) * TSN_VITAL_RECORD);
}

/* A file that something else has written to makes neither an endless loop nor s = 0. */
static bool stays(const tsn_vital_board *board, int file, uint64_t slot) {
  tsn_vital_record record;
  if (pread(file, &record, sizeof record, offset_of(slot)) != sizeof record) return false;
  return board->stride >> 62 == 0 && record.sequence < board->count &&
         (board->count - record.sequence < board->slots / 4 ||
          record.number % board->stride == 0);
}

/* Of a file whose slots are all in use: the next one that may be overwritten. */
static uint64_t advance_hand(tsn_vital_board *board, int file) {
  for (;;) {
    if (board->hand == board->slots) {
      if (board->found < board->slots / 4) board->stride *= 2;
      board->hand = board->found = 0;
    }
    uint64_t slot = board->hand++;
    if (!stays(board, file, slot)) {
      board->found++;
      return slot;
    }
  }
}

/* Note in the header that the samples have no order. */
static bool give_up_order(tsn_vital_board *board, int file) {
  tsn_vital_header header;
  const tsn_file own = {.descriptor = file};
  if (board->stride > 1) return true;
  if (pread(file, &header, sizeof header, 0) != sizeof header) return false;
  header.unordered = 1;
  header.checksum = tsn_checksum(&header, offsetof(tsn_vital_header, checksum));
  if (tsn_file_write(&own, &header, sizeof header, 0) != 0) return false;
  board->stride = 2;
  board->hand = board->found = 0;
  return true;
}

static bool write_at(tsn_vital_board *board, int file, tsn_vital_record *record,
                     size_t count, uint64_t slot) {
  const tsn_file own = {.descriptor = file};
  for (size_t i = 0; i < count; i++) {
    record[i].sequence = board->count + i;
    record[i].check = tsn_vital_check(&record[i], record[i].sequence);
  }
  return tsn_file_write(&own, record, count * sizeof *record, offset_of(slot)) == 0;
}

/* A reader takes the samples of a piece that could not be written whole, unless they are
 * removed. */
static bool append(tsn_vital_board *board, int file, tsn_vital_record *record,
                   size_t count) {
  uint64_t slot = board->slots;
  if (!write_at(board, file, record, count, slot)) {
    (void)!ftruncate(file, offset_of(slot));
    return false;
  }
  board->slots += count;
  return true;
}

void tsn_vital_write(tsn_vital_board *board, int file, tsn_vital_record *record,
                     size_t count) {
  for (size_t piece; count; record += piece, count -= piece) {
    uint64_t free = capacity(board) - board->slots;
    piece = free ? (free < count ? (size_t)free : count) : 1;
    bool written =
        free ? append(board, file, record, piece)
             : give_up_order(board, file) &&
                   write_at(board, file, record, piece, advance_hand(board, file));
    if (written) {
      board->count += piece;
    } else {
      board->lost += piece;
    }
  }
}
