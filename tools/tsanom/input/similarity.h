/* SPDX-License-Identifier: BSD-3-Clause */
/* The similarity analysis of a run: made and drawn. */
#ifndef TSANOM_COMMAND_SIMILARITY_H
#define TSANOM_COMMAND_SIMILARITY_H

#include <tsanom/diagnosis.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>

#include "failure.h"

/* Zero it before use. */
typedef struct {
  tsanom_runs *run;
  int is_lent;                /* 1: the caller closes the run */
  tsanom_runs_spmd_data file; /* of the run */
  tsanom_spmd_report report;  /* its arrays are those below */
  int32_t *class_of, *code;
  tsanom_spmd_region *region;
  tsanom_spmd_decision *decision;
  size_t *member;
  uint64_t *core, *reduct;
  size_t words;     /* of a set of metrics */
  double tolerance; /* of the options */
  int32_t cut;      /* of these, too */
  /* Regions in the order of the tree: those nested in a region follow it. */
  size_t *order;
  int threads;       /* 1: the processes are threads of one program */
  int ranks;         /* 1: they are ranks of one program */
  int no_iterations; /* 1: as in `beats` */
} similarity;

/* Read a region file or run directories, and analyze them. */
int similarity_make(char *const *paths, size_t count, const tsanom_spmd_options *options,
                    const tsanom_exec *exec, int salvage, similarity *s, failure *why);

/* Of the threads of an open run, which the caller closes later. */
int similarity_make_open(tsanom_runs *run, const char *path,
                         const tsanom_spmd_options *options, const tsanom_exec *exec,
                         similarity *s, failure *why);

/* Adds which threads or ranks differ to a summary that knows the run; `region` is its name, to be
 * freed. */
int similarity_summarize(const similarity *s, tsanom_diagnosis_summary *about,
                         char **region);

void similarity_free(similarity *s);

/* A heat map of regions and processes, and bars of the metric of the verdict in its
 * region. */
int similarity_draw(const similarity *s, const char *path, failure *why);

/* The name of a process; `number` holds it if it has none but that. */
const char *process_name(const similarity *s, size_t i, char number[32]);

/* "thread" or "process", or several of them. */
const char *similarity_member(const similarity *s, size_t count);

/* The name of a region within the one around it: names of runs are paths, which begin
 * with the name of that. */
const char *similarity_label(const similarity *s, size_t region);

#endif
