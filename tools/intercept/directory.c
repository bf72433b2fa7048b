/* SPDX-License-Identifier: BSD-3-Clause */
/* Which directory of the run is that of this process, and what is reported if it has
 * none. */
#include "directory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asked.h"
#include "intercept.h"
#include "ranks.h"
#include "record/inside.h"

/* The rank by MPI_Init; -1: not known. The rank that the run is of; -1: it has none. */
static int mpi_rank = -1, mpi_size, recorded_rank = -1;

bool icp_report_failure(int error, const char *why) {
  ICP_REPORT(error, "nothing is recorded: %s", why);
  return false;
}

bool icp_report_other_process(void) {
  ICP_REPORT(
      0,
      "this process is not recorded: the run belongs to another process or program; "
      "give each a run directory of its own");
  return false;
}

/* Whether the run is of another job than this one, which has these ranks or only one. */
static bool is_of_other_job(const char *run, const rank_identity *own, bool has_rank) {
  int there = ranks_compare(run, own);
  return there == RANKS_OTHER || (there == RANKS_SAME && !has_rank) || ranks_has_run(run);
}

/* A link in its place would lead elsewhere. */
static bool make_directory(const char *path) {
  struct stat facts;
  if (mkdir(path, 0777) != 0 && errno != EEXIST) return false;
  if (lstat(path, &facts) != 0) return false;
  errno = ENOTDIR;
  return S_ISDIR(facts.st_mode);
}

/* The run of processes that a program spawned lies in that of the program, since they are
 * ranks of another world. False: there is none, or it cannot be created. */
static bool choose_spawned(const char *run, const rank_identity *own,
                           char spawned[PATH_MAX]) {
  int length = snprintf(spawned, PATH_MAX, "%s/spawned.%d", run, own->spawned);
  if (!own->spawned || length < 0 || length >= PATH_MAX || !make_directory(spawned)) {
    return false;
  }
  if (own->rank == 0) {
    ICP_REPORT(0, "processes that MPI_Comm_spawn started are recorded as spawned.%d",
               own->spawned);
  }
  return true;
}

/* The directory of this process in the run, which is not of another job. */
static bool join(const char *run, const rank_identity *own, bool has_rank,
                 char directory[PATH_MAX]) {
  int length = has_rank ? snprintf(directory, PATH_MAX, "%s/rank.%d", run, own->rank)
                        : snprintf(directory, PATH_MAX, "%s", run);
  if (length < 0 || length >= PATH_MAX)
    return icp_report_failure(ENAMETOOLONG, "path of the run");
  if (!has_rank) return true;
  int joined = ranks_join(run, own);
  if (joined == RANKS_OTHER) return icp_report_other_process();
  if (joined == RANKS_NONE || !make_directory(directory)) {
    return icp_report_failure(errno, "the directory of a rank cannot be created");
  }
  recorded_rank = own->rank;
  return true;
}

/* MPI's word on the rank is better than the environment's. */
bool icp_choose_directory(const char *run, char directory[PATH_MAX]) {
  rank_identity own = icp_asked.rank;
  static char spawned[PATH_MAX];
  bool has_rank = icp_asked.has_rank;
  if (mpi_rank >= 0) {
    own.rank = mpi_rank;
    own.size = mpi_size;
    has_rank = mpi_size > 1;
  }
  if (is_of_other_job(run, &own, has_rank)) {
    if (!choose_spawned(run, &own, spawned)) return icp_report_other_process();
    if (is_of_other_job(spawned, &own, has_rank)) return icp_report_other_process();
    run = spawned;
  }
  return join(run, &own, has_rank, directory);
}

void icp_mark_time_beats(void) {
  tsn_file file;
  if (tsn_record_create_file(icp_set.record, &file, "time-beats") == 0) {
    tsn_file_close(&file);
  }
}

void icp_write_labels(void) {
  tsn_file file;
  size_t bytes = strlen(icp_asked.labels);
  if (!bytes) return;
  int error = tsn_record_create_file(icp_set.record, &file, "labels");
  if (error == 0) {
    error = tsn_file_write(&file, icp_asked.labels, bytes, 0);
    tsn_file_close(&file);
  }
  if (error) ICP_REPORT(error, "the labels cannot be written");
}

void icp_rank_is(int rank, int size) {
  mpi_rank = rank;
  mpi_size = size;
  if (atomic_load(&icp_set.phase) != ICP_RECORDING || recorded_rank == rank) return;
  if (recorded_rank < 0 && size == 1) return;
  ICP_REPORT(0,
             "this is rank %d of %d by MPI_Init, but it was recorded as %s%d since a "
             "parallel region before MPI_Init",
             rank, size, recorded_rank < 0 ? "process " : "rank ",
             recorded_rank < 0 ? (int)getpid() : recorded_rank);
}

/* All ranks come here; one of them is enough. */
void icp_report_spawn(void) {
  if (mpi_rank > 0 || !icp_asked.is_rank) return;
  ICP_REPORT(
      0,
      "mpirun starts the processes of MPI_Comm_spawn without a recorder; to record "
      "them, put tsanom record in front of it: tsanom record -o RUN -- mpirun ...");
}
