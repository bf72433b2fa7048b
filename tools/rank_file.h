/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of several ranks, as the command and the preloaded recorder (intercept)
 * write them:
 *
 *   RUN/ranks.tsv     the identity of the job, the same from every rank
 *   RUN/rank.K/       an ordinary run, of rank K only
 *   RUN/spawned.N/    the run of the processes that MPI_Comm_spawn started, of one rank
 *                     or of several
 *
 * No process writes a file that another one writes: each writes the identity under a name
 * of its own, and then gives it the name ranks.tsv, which only the first can do.
 *
 * The rank is what the launcher of the job (mpirun, srun, ...) put into the environment,
 * until MPI_Init gives it. */
#ifndef TSANOM_TOOLS_RANKS_H
#define TSANOM_TOOLS_RANKS_H

#include <stdbool.h>

typedef struct {
  int rank;
  int size;      /* 0: not known */
  int spawned;   /* number, from 1, of the job among those that the processes of the first
                  * job of a launcher started by MPI_Comm_spawn; 0: of none */
  char job[160]; /* what distinguishes jobs of one launcher; "-": nothing does */
} rank_identity;

/* The rank of this process by its environment. False: it has none, or is the only one of
 * its job: then `size` is 1, and the run is an ordinary one. */
bool rank_from_environment(rank_identity *identity);

/* What the directory has. */
enum {
  RANKS_NONE = 0, /* no ranks.tsv */
  RANKS_SAME,     /* that of this job */
  RANKS_OTHER     /* that of another one, or a file that cannot be read */
};

/* Read the identity; RANKS_SAME: it is there, and has no rank. */
int ranks_read(const char *directory, rank_identity *identity);

int ranks_compare(const char *directory, const rank_identity *identity);

/* Whether the directory contains a run: its own, not that of a rank. */
bool ranks_has_run(const char *directory);

/* Create the identity, unless it is there. RANKS_OTHER: the directory belongs to another
 * job; RANKS_NONE: it cannot be written. */
int ranks_join(const char *directory, const rank_identity *identity);

#endif
