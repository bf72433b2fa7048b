/* SPDX-License-Identifier: BSD-3-Clause */
/* Which variables a launcher sets is in its manual; a process has those of several if one
 * launcher starts another, and then those of MPI's own are right: they come first.
 *
 *   ranks.tsv    tsanom ranks 1 LF size TAB 4 LF job TAB 1094451201 LF
 *
 * Two ranks that create it at once write the same, so that it does not matter which of
 * them succeeds. link() fails if the name is there, also on network file systems; a file
 * system without links gets the file by rename(), which replaces it by an equal one. */
#include "rank_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "tsanom ranks 1\nsize\t%d\njob\t%s\n"

/* `needs_size`: without the size the rank is not one. The shell of a batch
 * script has SLURM_PROCID too, but no step. */
typedef struct {
  const char *rank, *size, *job;
  bool needs_size;
} launcher_variables;

static const launcher_variables launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", false},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", NULL, false},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "PMIX_NAMESPACE", false},
    {"PMI_RANK", "PMI_SIZE", "PMI_JOBID", false},
    {"PALS_RANKID", "PMI_SIZE", "PALS_APID", false},
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_JOB_ID", false},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", true}};

/* A number in the environment; -1: there is none. */
static int number_of(const char *name) {
  const char *text = getenv(name);
  char *end;
  if (!text || *text < '0' || *text > '9') return -1;
  unsigned long value = strtoul(text, &end, 10);
  return *end || value > INT_MAX ? -1 : (int)value;
}

/* The name of a job; one of Slurm has steps. No character ends the line. Processes that
 * a program starts by MPI_Comm_spawn are another job, with ranks from 0. */
static void print_job(const char *variable, char *job, size_t bytes) {
  const char *name = variable ? getenv(variable) : NULL;
  const char *spawned = getenv("PMI_SPAWNED"), *step = NULL;
  if (variable && strcmp(variable, "SLURM_JOB_ID") == 0) step = getenv("SLURM_STEP_ID");
  (void)snprintf(job, bytes, "%s%s%s%s", name && *name ? name : "-", step ? "." : "",
                 step ? step : "",
                 spawned && strcmp(spawned, "0") != 0 ? " spawned" : "");
  for (; *job; job++) {
    if (*job < ' ') *job = '?';
  }
}

/* Open MPI numbers the jobs of one mpirun from 1 on, in the lower 16 bits of the name;
 * from version 5 on, behind an @. A job that a program spawned is not the first one. */
static int number_spawned(const char *job) {
  const char *at = strrchr(job, '@'), *digits = at ? at + 1 : job;
  if (!*digits || digits[strspn(digits, "0123456789")]) return 0;
  unsigned long number = strtoul(digits, NULL, 10);
  if (!at) number &= UINT16_MAX;
  return number > 1 && number <= INT_MAX ? (int)number - 1 : 0;
}

bool rank_from_environment(rank_identity *identity) {
  *identity = (rank_identity){.rank = -1, .job = "-"};
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    const launcher_variables *l = &launchers[i];
    int rank = number_of(l->rank), size = number_of(l->size);
    if (rank < 0 || (l->needs_size && size < 0)) continue;
    identity->rank = rank;
    identity->size = size > rank ? size : 0;
    print_job(l->job, identity->job, sizeof identity->job);
    if (l == launchers) identity->spawned = number_spawned(identity->job);
    return identity->size != 1;
  }
  return false;
}

int ranks_read(const char *directory, rank_identity *identity) {
  static const char head[] = "tsanom ranks 1\nsize\t", job[] = "\njob\t";
  char path[PATH_MAX], text[256] = "", *end = text;
  *identity = (rank_identity){.rank = -1, .job = "-"};
  int path_length = snprintf(path, sizeof path, "%s/ranks.tsv", directory);
  if (path_length >= (int)sizeof path) return RANKS_NONE;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (file < 0) return errno == ENOENT ? RANKS_NONE : RANKS_OTHER;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0 || text[length - 1] != '\n') return RANKS_OTHER;
  text[length - 1] = '\0';
  if (strncmp(text, head, sizeof head - 1) != 0) return RANKS_OTHER;
  long size = strtol(text + sizeof head - 1, &end, 10);
  bool is_whole = size >= 0 && size <= INT_MAX &&
                  strncmp(end, job, sizeof job - 1) == 0 &&
                  strlen(end + sizeof job - 1) < sizeof identity->job;
  if (!is_whole) return RANKS_OTHER;
  identity->size = (int)size;
  memcpy(identity->job, end + sizeof job - 1, strlen(end + sizeof job - 1) + 1);
  return RANKS_SAME;
}

/* Sizes of 0 are not known and agree with all. */
int ranks_compare(const char *directory, const rank_identity *identity) {
  rank_identity there;
  int found = ranks_read(directory, &there);
  if (found != RANKS_SAME) return found;
  bool same = (!there.size || !identity->size || there.size == identity->size) &&
              strcmp(there.job, identity->job) == 0;
  return same ? RANKS_SAME : RANKS_OTHER;
}

bool ranks_has_run(const char *directory) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/heartbeat.run", directory);
  return length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

int ranks_join(const char *directory, const rank_identity *identity) {
  char path[PATH_MAX], own[PATH_MAX], text[256];
  int there = ranks_compare(directory, identity);
  if (there != RANKS_NONE) return there;
  int length = snprintf(path, sizeof path, "%s/ranks.tsv", directory);
  int own_length = snprintf(own, sizeof own, "%s/.ranks.%d.%ld", directory,
                            identity->rank, (long)getpid());
  if (length >= (int)sizeof path || own_length >= (int)sizeof own) return RANKS_NONE;
  length = snprintf(text, sizeof text, FORMAT, identity->size, identity->job);
  int file = open(own, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return RANKS_NONE;
  bool written = write(file, text, (size_t)length) == length;
  close(file);
  if (written && link(own, path) != 0 && errno != EEXIST) (void)rename(own, path);
  (void)unlink(own);
  return ranks_compare(directory, identity);
}
