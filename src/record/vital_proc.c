/* SPDX-License-Identifier: BSD-3-Clause */
/* See proc(5). */
#include "record/vital_proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <tsanom/hsa.h>
#include <unistd.h>

enum { TEXT = 4096, NAME = 48 };

/* System calls instead of the C library's functions: a thread sanitizer knows those, and
 * would take the descriptors of the sampler's own table for the program's. */
static int open_file(int directory, const char *name, int flags) {
  return (int)syscall(SYS_openat, directory, name, O_RDONLY | O_CLOEXEC | flags, 0);
}

/* Of a longer file the end, at least 3 KiB of it: in `status`, what is asked for stands behind the
 * groups of the user, which may be hundreds. */
static ssize_t read_file(int file, char text[TEXT]) {
  enum { STEP = TEXT / 4 };
  ssize_t count = TEXT - 1;
  for (long at = 0; count == TEXT - 1; at += STEP) {
    count = syscall(SYS_pread64, file, text, (size_t)TEXT - 1, at, 0L, 0L);
  }
  return count;
}

void tsn_proc_close(int file) {
  if (file >= 0) (void)syscall(SYS_close, file);
}

int tsn_proc_open(uint64_t process) {
  char path[NAME] = "/proc/self";
  if (process) (void)snprintf(path, sizeof path, "/proc/%" PRIu64, process);
  return open_file(AT_FDCWD, path, O_DIRECTORY);
}

/* Read a file as a string. A file that is kept open is opened again if
 * the thread it was of has ended. */
static bool read_text(int directory, const char *name, int *kept, char text[TEXT]) {
  ssize_t count = -1;
  if (kept && *kept >= 0) {
    count = read_file(*kept, text);
    if (count <= 0) {
      tsn_proc_close(*kept);
      *kept = -1;
    }
  }
  if (count <= 0) {
    int file = open_file(directory, name, 0);
    if (file < 0) return false;
    count = read_file(file, text);
    if (kept && count > 0) {
      *kept = file;
    } else {
      tsn_proc_close(file);
    }
  }
  text[count > 0 ? count : 0] = '\0';
  return count > 0;
}

/* The number at *text, which moves behind it; unavailable if there is none. */
static uint64_t take_number(const char **text) {
  const char *c = *text;
  uint64_t number = 0;
  while (*c == ' ' || *c == '\t') c++;
  const char *first = c;
  for (; *c >= '0' && *c <= '9'; c++) number = 10 * number + (uint64_t)(*c - '0');
  *text = c;
  return c == first ? TSN_UNAVAILABLE : number;
}

static uint64_t number_behind(const char *text, const char *key) {
  const char *found = strstr(text, key);
  if (!found) return TSN_UNAVAILABLE;
  found += strlen(key);
  return take_number(&found);
}

/* Fields of a `stat` file from the third on, which follows the name in parentheses. */
static const char *field_of_stat(const char *text, int number) {
  const char *c = strrchr(text, ')');
  for (int i = 2; c && i < number; i++) {
    c = strchr(c, ' ');
    if (c) c++;
  }
  return c;
}

static uint64_t number_of_stat(const char *text, int number) {
  const char *field = field_of_stat(text, number);
  return field ? take_number(&field) : TSN_UNAVAILABLE;
}

static uint64_t nanoseconds(uint64_t ticks) {
  long rate = sysconf(_SC_CLK_TCK);
  if (ticks == TSN_UNAVAILABLE || rate <= 0) return TSN_UNAVAILABLE;
  return ticks * (1000000000u / (uint64_t)rate);
}

/* What the `stat` files of processes and of threads have in common. */
static void read_stat(const char *text, tsn_vital_record *record) {
  enum { STATE = 3, MINOR = 10, MAJOR = 12, USER = 14, SYSTEM = 15 };
  const char *state = field_of_stat(text, STATE);
  if (state && *state) record->state = (unsigned char)*state;
  record->minor = number_of_stat(text, MINOR);
  record->major = number_of_stat(text, MAJOR);
  uint64_t user = nanoseconds(number_of_stat(text, USER));
  uint64_t system = nanoseconds(number_of_stat(text, SYSTEM));
  if (user != TSN_UNAVAILABLE && system != TSN_UNAVAILABLE) record->cpu = user + system;
}

double tsn_proc_age(uint64_t process) {
  enum { STATE = 3, BEGAN = 22 };
  char text[TEXT];
  struct timespec now;
  int directory = tsn_proc_open(process);
  clock_gettime(CLOCK_BOOTTIME, &now);
  bool is_read = directory >= 0 && read_text(directory, "stat", NULL, text);
  tsn_proc_close(directory);
  if (!is_read) return NAN;
  const char *state = field_of_stat(text, STATE);
  uint64_t ticks = number_of_stat(text, BEGAN);
  if (!state || *state == 'Z' || *state == 'X' || ticks == TSN_UNAVAILABLE) return NAN;
  double began = (double)ticks / (double)sysconf(_SC_CLK_TCK);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - began;
}

tsn_vital_record tsn_proc_record(uint32_t stream, int32_t thread, int32_t task) {
  tsn_vital_record record;
  memset(&record, 0xFF, sizeof record);
  record.exit = 0;
  record.processor = 0;
  record.stream = stream;
  record.thread = thread;
  record.task = task;
  return record;
}

static int *kept_file(tsn_proc_files *kept, int number) {
  return kept ? &kept->file[number] : NULL;
}

/* Processor time in nanoseconds; `stat` counts in hundredths of a second. */
static void read_process_clock(tsn_vital_record *record) {
  clockid_t clock;
  struct timespec t;
  if (clock_getcpuclockid(record->task, &clock) == 0 && clock_gettime(clock, &t) == 0) {
    record->cpu = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
  }
}

static void read_memory(const char *text, tsn_vital_record *record) {
  /* Pages in all, resident, and of those the ones of files or shared. */
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  (void)take_number(&text);
  uint64_t resident = take_number(&text), shared = take_number(&text);
  if (resident == TSN_UNAVAILABLE || shared == TSN_UNAVAILABLE) return;
  record->resident = resident * page;
  record->anonymous = resident > shared ? (resident - shared) * page : 0;
}

/* Where it is not known what is used: half of the limit. */
uint64_t tsn_proc_address_space(void) {
  struct rlimit limit;
  char text[TEXT];
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return UINT64_MAX;
  }
  int directory = tsn_proc_open(0);
  const char *next = text;
  bool is_known = directory >= 0 && read_text(directory, "statm", NULL, text);
  tsn_proc_close(directory);
  uint64_t used = is_known ? take_number(&next) * (uint64_t)sysconf(_SC_PAGESIZE)
                           : limit.rlim_cur / 2;
  return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

void tsn_proc_read_process(int directory, tsn_proc_files *kept, bool sums, bool peak,
                           tsn_vital_record *record) {
  enum { THREADS = 20, KIB = 1024 };
  char text[TEXT];
  if (read_text(directory, "statm", kept_file(kept, 0), text)) read_memory(text, record);
  /* A process that has ended has no memory. */
  sums |= !record->resident || record->resident == TSN_UNAVAILABLE;
  if (sums && read_text(directory, "stat", kept_file(kept, 1), text)) {
    read_stat(text, record);
    record->threads = number_of_stat(text, THREADS);
    read_process_clock(record);
  }
  if (!peak || !read_text(directory, "status", kept_file(kept, 2), text)) return;
  uint64_t most = number_behind(text, "VmHWM:");
  if (most != TSN_UNAVAILABLE) record->peak = most * KIB;
}

/* What ended a process of which nothing is left, from Linux 6.15 on: struct pidfd_info.
 */
static uint64_t code_behind(int handle) {
  enum { EXIT = 1 << 3 };
  struct {
    uint64_t mask, group;
    uint32_t numbers[11];
    int32_t code;
  } info = {.mask = EXIT};
  bool known = handle >= 0 && ioctl(handle, _IOWR(0xFF, 11, info), &info) == 0;
  return known && info.mask & EXIT ? (uint32_t)info.code : 0;
}

/* The kernel sets the code before it closes the files of the process. When the parent has
 * waited for the process, only the handle is left. */
int32_t tsn_proc_read_exit(int directory, tsn_proc_files *kept, int handle) {
  enum { CODE = 52, SIGNALS = 0x7F, STATUS_SHIFT = 8, STATUSES = 0xFF };
  char text[TEXT];
  bool is_there = read_text(directory, "stat", kept_file(kept, 1), text);
  uint64_t code = is_there ? number_of_stat(text, CODE) : code_behind(handle);
  if (code == TSN_UNAVAILABLE) return 0;
  int32_t signal = (int32_t)(code & SIGNALS);
  return signal ? -signal : (int32_t)(code >> STATUS_SHIFT & STATUSES);
}

static bool read_task(int directory, tsn_proc_files *kept, int number, const char *file,
                      const tsn_vital_record *record, char text[TEXT]) {
  char name[NAME];
  (void)snprintf(name, sizeof name, "task/%d/%s", record->task, file);
  return read_text(directory, name, kept_file(kept, number), text);
}

static void forget_files(tsn_proc_files *kept) {
  for (int i = 0; i < TSN_PROC_FILES; i++) {
    tsn_proc_close(kept->file[i]);
    kept->file[i] = -1;
  }
}

/* What a sleeping thread waits for: the kernel names the function in which it sleeps.
 * "0": it does not tell, or the thread has woken. */
static int32_t read_wait(int directory, tsn_proc_files *kept,
                         const tsn_vital_record *record, char text[TEXT]) {
  if (record->state != 'S' && record->state != 'D') return TSANOM_HSA_WAITS_UNKNOWN;
  if (!read_task(directory, kept, 3, "wchan", record, text) || *text == '0') {
    return TSANOM_HSA_WAITS_UNKNOWN;
  }
  return strstr(text, "futex") ? TSANOM_HSA_WAITS_THREAD : TSANOM_HSA_WAITS_OTHER;
}

/* The kernel ends a name at its 15th byte, whatever is there, and escapes nothing. */
static void read_name(const char *stat, char name[TSN_TASK_NAME]) {
  const char *begin = strchr(stat, '('), *end = strrchr(stat, ')');
  if (!begin || !end || end - begin > TSN_TASK_NAME) return;
  memset(name, 0, TSN_TASK_NAME);
  memcpy(name, begin + 1, (size_t)(end - begin - 1));
}

void tsn_proc_read_thread(int directory, tsn_proc_files *kept, bool switches,
                          tsn_vital_record *record) {
  enum { PROCESSOR = 39 };
  char text[TEXT];
  if (kept && kept->task != record->task) {
    forget_files(kept);
    kept->task = record->task;
  }
  if (read_task(directory, kept, 0, "stat", record, text)) {
    read_stat(text, record);
    read_name(text, record->name);
    /* Not known: all bits, which 1 more makes 0. */
    record->processor = (uint32_t)number_of_stat(text, PROCESSOR) + 1;
    record->waits = read_wait(directory, kept, record, text);
  }
  if (read_task(directory, kept, 1, "schedstat", record, text)) {
    const char *next = text;
    uint64_t cpu = take_number(&next), wait = take_number(&next);
    /* A kernel that does not count prints zeros; whatever runs was switched to. */
    if (take_number(&next) > 0) {
      record->cpu = cpu;
      record->wait = wait;
    }
  }
  if (switches && read_task(directory, kept, 2, "status", record, text)) {
    record->involuntary = number_behind(text, "nonvoluntary_ctxt_switches:");
    record->voluntary = number_behind(text, "\nvoluntary_ctxt_switches:");
  }
}
