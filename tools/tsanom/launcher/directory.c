/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"
#include "ranks.h"

enum { RUNS_MOST = 100000 };

const char *default_directory(const char *program, char path[PATH_MAX]) {
  const char *slash = strrchr(program, '/');
  const char *name = slash && slash[1] ? slash + 1 : program;
  (void)snprintf(path, PATH_MAX, "%s.run", name);
  rank_identity rank;
  if (rank_from_environment(&rank)) return path;
  for (int i = 2; i < RUNS_MOST && access(path, F_OK) == 0; i++) {
    (void)snprintf(path, PATH_MAX, "%s.run-%d", name, i);
  }
  return path;
}
