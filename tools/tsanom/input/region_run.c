/* SPDX-License-Identifier: BSD-3-Clause */
#include "region_run.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int run_is_folder(const char *path) {
  struct stat about;
  return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* The program is the only region without a parent. */
static int check_program(const char *folder, const region_file *f, failure *why) {
  size_t root = f->data.regions;
  for (size_t k = 0; k < f->data.regions; k++) {
    if (f->parent[k] >= 0) continue;
    if (root < f->data.regions) {
      return fail(why,
                  "%s: with --program only one region, the program, is without a parent, "
                  "but %s and %s are",
                  folder, f->region[root], f->region[k]);
    }
    root = k;
  }
  return 0;
}

int region_run_read(const char *folder, const tsanom_exec *exec, int32_t tree,
                    region_file *f, failure *why) {
  char inner[PATH_MAX];
  int length = snprintf(inner, sizeof inner, "%s/spmd", folder);
  if (length < 0 || length >= PATH_MAX) return fail(why, "the path is too long");
  int failed = run_is_folder(inner) ? region_merge_read(inner, f, why)
                                    : region_events_read(folder, exec, f, why);
  if (failed) return -1;
  f->data.parent = f->parent;
  f->data.time = f->time;
  f->data.metric = f->value;
  if (tree != TSANOM_SPMD_PROGRAM || !check_program(folder, f, why)) return 0;
  region_file_free(f);
  return -1;
}
