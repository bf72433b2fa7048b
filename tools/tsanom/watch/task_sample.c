/* SPDX-License-Identifier: BSD-3-Clause */
/* A vital sign of a thread, read by the watch. The recorder of a program that is stopped,
 * or that gets no processor, takes none; but whether a silent thread hangs follows from
 * what it does now. See proc(5). */
#include "task_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, PATH = 64 };

static int read_line(int64_t process, int32_t task, const char *file, char text[LINE]) {
  char path[PATH];
  (void)snprintf(path, sizeof path, "/proc/%lld/task/%d/%s", (long long)process, task,
                 file);
  FILE *in = fopen(path, "re");
  if (!in) return 0;
  int found = fgets(text, LINE, in) != NULL;
  (void)fclose(in);
  return found;
}

/* As the recorder does. */
static int32_t task_waits(int64_t process, int32_t task, int32_t state) {
  char text[LINE];
  if ((state != 'S' && state != 'D') || !read_line(process, task, "wchan", text) ||
      *text == '0') {
    return TSANOM_HSA_WAITS_UNKNOWN;
  }
  return strstr(text, "futex") ? TSANOM_HSA_WAITS_THREAD : TSANOM_HSA_WAITS_OTHER;
}

int task_sample(int64_t process, int32_t task, tsanom_hsa_vital *sample) {
  char text[LINE];
  if (!read_line(process, task, "schedstat", text)) return 0;
  char *next = text;
  double cpu = strtod(next, &next), wait = strtod(next, &next);
  if (!(strtod(next, NULL) > 0) || !read_line(process, task, "stat", text)) return 0;
  const char *name_end = strrchr(text, ')');
  if (!name_end || strlen(name_end) < sizeof ") R" - 1) return 0;
  int32_t state = (unsigned char)name_end[2];
  *sample = (tsanom_hsa_vital){.time = sample->time,
                               .cpu_s = 1e-9 * cpu,
                               .wait_s = 1e-9 * wait,
                               .voluntary = NAN,
                               .involuntary = NAN,
                               .minor_faults = NAN,
                               .major_faults = NAN,
                               .resident = NAN,
                               .anonymous = NAN,
                               .threads = NAN,
                               .spun_s = NAN,
                               .beats = sample->beats,
                               .thread = sample->thread,
                               .task = task,
                               .state = state,
                               .stream = sample->stream,
                               .waits = task_waits(process, task, state)};
  return 1;
}
