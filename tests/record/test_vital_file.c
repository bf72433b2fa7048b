/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of vital signs with a limited number of samples, after each of thousands of
 * samples. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tsanom/hsa.h>
#include <tsanom/record.h>
#include <unistd.h>

#include "record/channel.h"
#include "support/check.h"
#include "support/random.h"
#include "support/run_directory.h"

enum { MOST = 64, STREAMS = 3, WRITES = 5000, LARGEST_BATCH = 9 };

static char path[DIRECTORY_CAPACITY + 16];
static tsn_vital_board board;
static uint32_t *const counter[] = {&board.of_process, &board.of[0].samples,
                                    &board.of[1].samples, &board.of[2].samples};

static void set_up(void) {
  make_directory();
  (void)snprintf(path, sizeof path, "%s/run", directory);
  setenv("TSANOM_RECORD_SAMPLER", "/nonexistent", 1);
}

TestSuite(vital_file, .init = set_up, .fini = remove_directory, .timeout = 120);

static int create(uint64_t most) {
  tsn_vital_header header = {.version = TSN_FORMAT_VERSION};
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
  cr_assert(file >= 0 && write(file, &header, sizeof header) == sizeof header);
  board.most = most;
  board.stride = 1;
  board.streams = STREAMS;
  return file;
}

/* A batch of samples of random streams; their sequence goes into `cpu`, too. */
static void write_samples(int file, uint64_t *seed) {
  tsn_vital_record record[LARGEST_BATCH] = {0};
  size_t count = random_between(seed, 1, LARGEST_BATCH);
  for (size_t i = 0; i < count; i++) {
    uint32_t stream = (uint32_t)random_between(seed, 0, STREAMS);
    record[i].stream = stream;
    record[i].number = (*counter[stream])++;
    record[i].cpu = board.count + i;
  }
  tsn_vital_write(&board, file, record, count);
}

/* Every slot is intact. The latest quarter is there, and of each stream all samples whose
 * number is a multiple of the stride. */
static void check_slots(int file) {
  tsn_vital_record slot[MOST];
  uint64_t multiples[STREAMS + 1] = {0}, latest = 0;
  size_t slots = board.slots;
  cr_assert(slots <= MOST);
  cr_assert(pread(file, slot, sizeof slot, TSN_VITAL_RECORD) ==
            (ssize_t)(slots * sizeof *slot));
  for (size_t i = 0; i < slots; i++) {
    cr_assert(slot[i].check == tsn_vital_check(&slot[i], slot[i].sequence));
    cr_assert(slot[i].sequence == slot[i].cpu && slot[i].sequence < board.count);
    latest += slot[i].sequence + slots / 4 >= board.count;
    multiples[slot[i].stream] += slot[i].number % board.stride == 0;
  }
  cr_assert(latest == slots / 4);
  for (size_t s = 0; s <= STREAMS; s++) {
    cr_assert(multiples[s] == (*counter[s] + board.stride - 1) / board.stride);
  }
}

Test(vital_file, a_limited_file_covers_the_whole_run_after_each_sample) {
  uint64_t seed = 6;
  int file = create(MOST);
  for (int i = 0; i < WRITES; i++) {
    tsn_vital_header header;
    write_samples(file, &seed);
    check_slots(file);
    cr_assert(pread(file, &header, sizeof header, 0) == sizeof header);
    cr_assert(header.unordered == (board.count > MOST));
  }
  cr_assert(board.lost == 0 && board.slots == MOST && board.count > 4 * WRITES);
  /* No larger than needed: a multiple of half the stride would not fit. */
  cr_assert(board.count / (board.stride / 2) > MOST / 4, "%g", (double)board.stride);
  close(file);
}

/* Each stream keeps its first sample, even if the limit is less than that. */
Test(vital_file, new_streams_raise_the_limit) {
  uint64_t seed = 7;
  int file = create(1);
  for (int i = 0; i < 200; i++) write_samples(file, &seed);
  cr_assert(board.slots == 4 * (STREAMS + 1));
  board.streams = 2 * STREAMS;
  for (int i = 0; i < 200; i++) write_samples(file, &seed);
  cr_assert(board.slots == 4 * (2 * STREAMS + 1));
  close(file);
}

/* Every slot has the number 0 and the first sequence. */
Test(vital_file, a_file_written_by_others_does_not_stop_the_program) {
  uint64_t seed = 8;
  int file = create(MOST);
  static const tsn_vital_record zeros[MOST];
  for (int i = 0; i < 100; i++) write_samples(file, &seed);
  cr_assert(pwrite(file, zeros, sizeof zeros, TSN_VITAL_RECORD) == sizeof zeros);
  for (int i = 0; i < 100; i++) write_samples(file, &seed);
  cr_assert(board.slots == MOST && board.lost == 0);
  close(file);
}

static tsn_channel *channel_with_vitals(void) {
  for (uint32_t slot = 0; slot < TSN_CHANNELS; slot++) {
    tsn_channel *channel = tsn_channel_at(slot);
    if (channel && atomic_load(&channel->vital.board)) return channel;
  }
  cr_assert(false);
  return NULL;
}

static double latest_time(const tsanom_runs *run) {
  const tsanom_hsa_vital *sample;
  size_t count;
  CHECK_STATUS(tsanom_runs_vitals(run, TSANOM_RUNS_PROCESS, NULL, &sample, &count),
               TSANOM_OK);
  cr_assert(count > 0);
  return sample[count - 1].time;
}

/* From the first tenth of the rounds, which ends at `early`, to the last hundredth. */
static size_t check_samples(const tsanom_runs *run, int32_t thread, double early,
                            double late) {
  const tsanom_hsa_vital *sample;
  size_t count;
  CHECK_STATUS(tsanom_runs_vitals(run, thread, NULL, &sample, &count), TSANOM_OK);
  cr_assert(count > 0 && sample[0].time <= early && sample[count - 1].time >= late);
  for (size_t i = 1; i < count; i++) {
    cr_assert(sample[i].time >= sample[i - 1].time);
    cr_assert(sample[i].cpu_s >= sample[i - 1].cpu_s);
    if (thread == 0) cr_assert(sample[i].beats >= sample[i - 1].beats);
  }
  return count;
}

/* The reader shows the samples of a file without order in their order; one that refreshes
 * often has more of them than one that opens at the end. */
Test(vital_file, a_long_run_is_read_while_it_is_written_and_at_its_end) {
  enum { ROUNDS = 4000, REFRESH = 10 };
  tsanom_record_options options;
  tsanom_record *record;
  tsanom_runs *open = NULL;
  double early = 0, late = 0;
  struct stat facts;
  char file[sizeof path + 32];
  CHECK_STATUS(tsanom_record_options_init(&options, sizeof options), TSANOM_OK);
  options.helper = TSANOM_RECORD_HELPER_NONE;
  options.vital_most = MOST;
  CHECK_STATUS(tsanom_record_create(path, 1, &options, NULL, &record), TSANOM_OK);
  tsn_vital *vital = &channel_with_vitals()->vital;
  for (int i = 0; i < ROUNDS; i++) {
    CHECK_STATUS(tsanom_record_beat(record, 0, 0), TSANOM_OK);
    cr_assert(tsn_storage_use_file(channel_with_vitals(),
                                   &channel_with_vitals()->vital.file,
                                   TSN_VITAL_FILE) == 0);
    tsn_vital_sample_all(atomic_load(&vital->board), vital->file.descriptor, 0);
    if (i == 0) open = open_run(path);
    if (i % REFRESH == 0) CHECK_STATUS(tsanom_runs_refresh(open, NULL, NULL), TSANOM_OK);
    if (i == ROUNDS / 10) early = latest_time(open);
    if (i == ROUNDS / 100 * 99) late = latest_time(open);
  }
  CHECK_STATUS(tsanom_record_finish(record), TSANOM_OK);
  tsanom_record_destroy(record);
  CHECK_STATUS(tsanom_runs_refresh(open, NULL, NULL), TSANOM_OK);
  (void)snprintf(file, sizeof file, "%s/heartbeat.vital", path);
  cr_assert(stat(file, &facts) == 0 && facts.st_size == (1 + MOST) * TSN_VITAL_RECORD);
  tsanom_runs *ended = open_run(path);
  for (int32_t thread = -1; thread <= 0; thread++) {
    size_t kept = check_samples(ended, thread, early, late);
    size_t seen = check_samples(open, thread, early, late);
    cr_assert(kept >= MOST / 8 && kept <= MOST && seen >= 1000, "%zu %zu", kept, seen);
  }
  cr_assert(describe(ended).vital_samples == MOST && describe(ended).vital_lost == 0);
  tsanom_runs_destroy(ended);
  tsanom_runs_destroy(open);
}
