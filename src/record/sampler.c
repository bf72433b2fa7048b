/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom-sampler: samples the vital signs of a program until it ends or finishes its run.
 * The recorder starts it: see vital.c. */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/messages.h"
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

static bool is_same_program(void) {
  char first;
  struct stat facts;
  bool is_shown = fstat(TSN_SAMPLER_WORDS, &facts) == 0 && S_ISREG(facts.st_mode);
  return !is_shown || pread(TSN_SAMPLER_WORDS, &first, 1, 0) == 1;
}

/* The page of messages is beside the samples, or in the run to which their directory belongs. */
static tsn_message_page *find_messages(void) {
  char path[PATH_MAX], link[32];
  tsn_message_page *page = NULL;
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", TSN_SAMPLER_FILE);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  for (int above = 0; above < 2 && !page; above++) {
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return NULL;
    *slash = '\0';
    page = tsn_messages_map(path);
  }
  return page;
}

/* The beginning of a file of the program in /proc: how much there is; 0: nothing. */
static size_t read_of_program(const char *name, char *text, size_t bytes) {
  int file = openat(TSN_SAMPLER_PROC, name, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : pread(file, text, bytes, 0);
  if (file >= 0) (void)close(file);
  return length < 0 ? 0 : (size_t)length;
}

/* Whether the recorder is preloaded into what was executed, whose environment is there a moment
 * later. */
static bool has_recorder(void) {
  enum { TRIES = 10 };
  static const char recorder[] = "libtsanom-preload";
  static char words[1 << 21];
  const struct timespec pause = {.tv_nsec = 10000000};
  size_t bytes = 0;
  for (int i = 0; i < TRIES && !bytes; i++) {
    if (i) (void)nanosleep(&pause, NULL);
    bytes = read_of_program("environ", words, sizeof words);
  }
  return memmem(words, bytes, recorder, sizeof recorder - 1) != NULL;
}

/* Of a program that was executed without the recorder nothing else says that it is not recorded. One
 * that has ended has no memory. */
static void report_successor(const tsn_vital_board *board) {
  char name[TSN_TASK_NAME], memory;
  if (is_same_program() || has_recorder() || !read_of_program("statm", &memory, 1) ||
      memory == '0') {
    return;
  }
  int length = (int)read_of_program("comm", name, sizeof name);
  tsn_messages_add(find_messages(), board->process, 0,
                   "the process executed %.*s, which is not recorded: LD_PRELOAD was "
                   "set anew or removed, and the recorder is not in it",
                   length ? length - 1 : 0, name);
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
  report_successor(board);
  return 0;
}
