/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "report.h"

enum { BAR = 30, SECONDS_SILENT = 2 };

/* A bar, the share, and the time left if the rest takes as long as what is done. Without
 * a total, which the end of a pipe does not have: MiB read. */
static void write_progress(char *text, size_t bytes, uint64_t done, uint64_t total,
                           double seconds) {
  static const char bar[] = "##############################";
  static const char gap[] = "..............................";
  _Static_assert(sizeof bar == BAR + 1 && sizeof gap == BAR + 1, "a bar of BAR marks");
  if (!total) {
    (void)snprintf(text, bytes, "%llu MiB read", (unsigned long long)(done >> 20));
    return;
  }
  double part = (double)done / (double)total;
  int marks = (int)(part * BAR);
  int used = snprintf(text, bytes, "[%.*s%.*s] %3.0f %%", marks, bar, BAR - marks, gap,
                      100 * part);
  if (used < 0 || (size_t)used >= bytes || !done || done == total) return;
  double left = seconds * (1 - part) / part;
  if (left < 90) {
    (void)snprintf(text + used, bytes - (size_t)used, ", %.0f s left", left);
  } else {
    (void)snprintf(text + used, bytes - (size_t)used, ", %.0f min left", left / 60);
  }
}

int32_t progress_show(void *user, uint64_t done, uint64_t total) {
  (void)user;
  static time_t start, shown;
  time_t now = time(NULL);
  if (!start) start = now;
  if (now - start < SECONDS_SILENT || now == shown) return 0;
  shown = now;
  char text[128];
  write_progress(text, sizeof text, done, total, difftime(now, start));
  print_bar(text);
  return 0;
}
