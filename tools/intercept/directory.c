/* SPDX-License-Identifier: BSD-3-Clause */
/* Which directory of the run is that of this process, and what is reported if it has
 * none. */
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "intercept.h"
#include "ranks.h"

/* The rank by MPI_Init; -1: not known. The rank that the run is of; -1: it has none. */
static int mpi_rank = -1, mpi_size, recorded_rank = -1;

bool icp_report_failure(const char *directory, const char *why) {
  (void)dprintf(STDERR_FILENO, "tsanom record: %s: nothing is recorded: %s\n", directory,
                why);
  return false;
}

bool icp_report_other_process(const char *directory) {
  (void)dprintf(
      STDERR_FILENO,
      "tsanom record: %s: process %ld is not recorded: this run belongs to another "
      "process or program; give each a run directory of its own\n",
      directory, (long)getpid());
  return false;
}

/* MPI's word on the rank is better than the environment's. */
bool icp_choose_directory(const char *run, char directory[PATH_MAX]) {
  rank_identity own;
  bool has_rank = rank_from_environment(&own);
  if (mpi_rank >= 0) {
    own.rank = mpi_rank;
    own.size = mpi_size;
    has_rank = mpi_size > 1;
  }
  int length = has_rank ? snprintf(directory, PATH_MAX, "%s/rank.%d", run, own.rank)
                        : snprintf(directory, PATH_MAX, "%s", run);
  if (length < 0 || length >= PATH_MAX)
    return icp_report_failure(run, "the path is too long");
  if (!has_rank) {
    return ranks_compare(run, &own) == RANKS_NONE || icp_report_other_process(run);
  }
  int joined = ranks_has_run(run) ? RANKS_OTHER : ranks_join(run, &own);
  if (joined == RANKS_OTHER) return icp_report_other_process(run);
  if (joined == RANKS_NONE || (mkdir(directory, 0777) != 0 && errno != EEXIST)) {
    return icp_report_failure(run, "cannot create the directory of a rank");
  }
  recorded_rank = own.rank;
  return true;
}

void icp_mark_time_beats(const char *directory) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/time-beats", directory);
  if (length < 0 || (size_t)length >= sizeof path) return;
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) (void)close(file);
}

void icp_rank_is(int rank, int size) {
  mpi_rank = rank;
  mpi_size = size;
  if (atomic_load(&icp_set.phase) != ICP_RECORDING || recorded_rank == rank) return;
  if (recorded_rank < 0 && size == 1) return;
  (void)dprintf(STDERR_FILENO,
                "tsanom record: warning: this is rank %d of %d by MPI_Init, but it was "
                "recorded as %s%d since a parallel region before MPI_Init\n",
                rank, size, recorded_rank < 0 ? "process " : "rank ",
                recorded_rank < 0 ? (int)getpid() : recorded_rank);
}

/* All ranks come here; one of them is enough. */
void icp_report_spawn(void) {
  if (mpi_rank > 0) return;
  (void)dprintf(STDERR_FILENO,
                "tsanom record: warning: processes that MPI_Comm_spawn starts are not "
                "recorded in this run\n");
}
