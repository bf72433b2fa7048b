/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom-sampler: samples the vital signs of a program until it ends or finishes its run.
 * The recorder starts it: see vital.c. */
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/vital.h"

/* Wait; false: the program has ended. A handle of the process becomes readable then. */
static bool wait_for_round(int handle, int64_t nanoseconds) {
  enum { SECOND = 1000000000 };
  struct stat facts;
  bool is_pipe = fstat(TSN_SAMPLER_LIFE, &facts) == 0 && S_ISFIFO(facts.st_mode);
  struct pollfd life = {.fd = is_pipe ? TSN_SAMPLER_LIFE : handle,
                        .events = is_pipe ? 0 : POLLIN};
  struct timespec pause = {.tv_sec = nanoseconds / SECOND,
                           .tv_nsec = nanoseconds % SECOND};
  return ppoll(&life, 1, &pause, NULL) <= 0;
}

/* The environment is empty when the process has executed another program, or ended. */
static bool is_same_program(void) {
  char first;
  struct stat facts;
  bool is_shown = fstat(TSN_SAMPLER_WORDS, &facts) == 0 && S_ISREG(facts.st_mode);
  return !is_shown || pread(TSN_SAMPLER_WORDS, &first, 1, 0) == 1;
}

int main(int count, char **words) {
  static tsn_vital_sampler sampler;
  struct stat facts;
  tsn_vital_board *board;
  if (count != 2 || strcmp(words[1], TSN_SAMPLER_VERSION) != 0) return 1;
  if (fstat(TSN_SAMPLER_BOARD, &facts) != 0 || facts.st_size != sizeof *board) return 1;
  board =
      mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, TSN_SAMPLER_BOARD, 0);
  if (board == MAP_FAILED || board->bytes != sizeof *board) return 1;
  /* Out of the reach of the terminal, and a group of its own for a scheduler with autogroups: beside
   * two busy threads and 12 busy sessions on two processors, a sleep of 20 ms ended 4 ms late in
   * the median, and 36 ms late in the program's session. And no file system is kept in use. */
  if (setsid() < 0 || chdir("/") != 0) return 1;
  tsn_vital_begin(&sampler, board, TSN_SAMPLER_FILE, TSN_SAMPLER_PROC);
  sampler.handle = (int)syscall(SYS_pidfd_open, board->process, 0);
  while (wait_for_round(sampler.handle, tsn_vital_pause(&sampler)) && is_same_program() &&
         tsn_vital_round(&sampler)) {
  }
  tsn_vital_note_end(&sampler);
  return 0;
}
