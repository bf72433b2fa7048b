/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the sampler of vital signs waits: the processor time of a round is set as if
 * it had been used, and the elapsed time is negligible beside it. And what it leaves on a
 * disk that is full, and knows of a user with many groups. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/vital.h"
#include "record/vital_proc.h"
#include "support/random.h"
#include "support/skip.h"

enum { MS = 1000000 };

static tsn_vital_board board;
static tsn_vital_sampler sampler;

/* Bytes that the file may have. */
static off_t space = LONG_MAX;

ssize_t __real_pwrite(int file, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t offset);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t count, off_t offset) {
  if (offset >= space) {
    errno = ENOSPC;
    return -1;
  }
  if ((off_t)count > space - offset) count = (size_t)(space - offset);
  return __real_pwrite(file, bytes, count, offset);
}

static void begin(void) {
  board.period = 50 * MS;
  tsn_vital_begin(&sampler, &board, -1, -1);
}

/* The pause after a round of that cost, in ms, beside what the rounds before it cost. */
static double pause_after(uint64_t cost) {
  sampler.used -= cost;
  sampler.credit = 0;
  return (double)tsn_vital_pause(&sampler) / MS;
}

static void check(double pause, double expected) {
  cr_assert(pause > 0.9 * expected && pause < 1.5 * expected, "%g ms, not %g", pause,
            expected);
}

Test(sampler, pauses_bound_its_share_of_a_processor, .init = begin) {
  for (int i = 0; i < 20; i++) (void)pause_after(MS);
  check(pause_after(MS), TSN_VITAL_SHARE);
  check(pause_after(MS / 2), TSN_VITAL_SHARE / 2.);
}

/* It took a second because the machine did something else. */
Test(sampler, one_long_round_counts_twice_the_one_before_it, .init = begin) {
  for (int i = 0; i < 20; i++) (void)pause_after(MS);
  check(pause_after(1000 * MS), 2 * TSN_VITAL_SHARE);
  check(pause_after(MS), TSN_VITAL_SHARE);
}

Test(sampler, rounds_that_stay_long_count_in_full, .init = begin) {
  for (int i = 0; i < 20; i++) (void)pause_after(100 * MS);
  check(pause_after(100 * MS), 100. * TSN_VITAL_SHARE);
}

Test(sampler, the_first_round_counts_two_wake_ups_at_most, .init = begin) {
  double first = pause_after(1000 * MS);
  cr_assert(first >= 50 && first < 0.1 * TSN_VITAL_SHARE, "%g ms", first);
}

static off_t size_of(int file) {
  struct stat about;
  cr_assert(fstat(file, &about) == 0);
  return about.st_size;
}

/* The disk has place for a part of a round: a reader, which takes whole records, must not
 * see what the next round writes over. */
Test(sampler, a_round_is_written_as_a_whole_or_not_at_all) {
  enum { STREAMS = 2, RECORDS = 1 + STREAMS };
  FILE *stream = tmpfile();
  int file = fileno(stream), directory = open("/proc/self", O_RDONLY | O_DIRECTORY);
  for (uint32_t i = 0; i < STREAMS; i++) board.of[i].task = getpid();
  board.streams = STREAMS;
  board.process = getpid();
  board.phase = TSN_VITAL_OPEN;
  tsn_vital_begin(&sampler, &board, file, directory);
  cr_assert(tsn_vital_round(&sampler) && board.count == RECORDS);
  off_t full = (1 + RECORDS) * TSN_VITAL_RECORD;
  cr_assert(size_of(file) == full);
  space = full + TSN_VITAL_RECORD + TSN_VITAL_RECORD / 2;
  cr_assert(tsn_vital_round(&sampler) && board.count == RECORDS);
  cr_assert(board.lost == RECORDS && size_of(file) == full, "%lld",
            (long long)size_of(file));
  space = LONG_MAX;
  cr_assert(tsn_vital_round(&sampler) && board.count == 2 * RECORDS);
  cr_assert(size_of(file) == (1 + 2 * RECORDS) * TSN_VITAL_RECORD);
  (void)fclose(stream);
  (void)close(directory);
}

/* The kernel lists the groups in front of what is asked for. */
Test(sampler, a_user_may_be_in_many_groups) {
  enum { LEAST = 1000000000, MOST_GROUPS = 5000 };
  gid_t group[MOST_GROUPS];
  uint64_t seed = 3;
  for (int i = 0; i < MOST_GROUPS; i++) group[i] = (gid_t)(LEAST + i);
  int directory_of_process = tsn_proc_open(0);
  for (int trial = 0; trial < 40; trial++) {
    size_t groups = (size_t)random_between(&seed, 0, trial < 20 ? 500 : MOST_GROUPS);
    if (setgroups(groups, group) != 0) SKIP_TEST("needs the right to change groups");
    tsn_vital_record record = tsn_proc_record(0, 0, (int32_t)gettid());
    tsn_vital_record of_thread = record;
    tsn_proc_read_process(directory_of_process, NULL, true, true, &record);
    tsn_proc_read_thread(directory_of_process, NULL, true, &of_thread);
    cr_assert(record.peak != TSN_UNAVAILABLE && record.peak > 0, "%zu groups", groups);
    cr_assert(of_thread.voluntary != TSN_UNAVAILABLE, "%zu groups", groups);
  }
  tsn_proc_close(directory_of_process);
}
