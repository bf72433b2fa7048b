/* SPDX-License-Identifier: BSD-3-Clause */
/* A triangle of work over the ranks of an MPI program, dealt out in equal numbers of
 * rows, then of steps.
 *
 * usage: mpiexec -n 4 example_spmd_mpi RUN
 *
 * Every rank writes what it recorded to one run folder, RUN.rows and then
 * RUN.steps; "tsanom similar RUN.rows" names the region and the metric to blame,
 * and finds all ranks alike in the other. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tsanom/compat.h>

enum { ROWS = 3000, SWEEPS = 20 };
enum { SETUP, SOLVE, TRIANGLE, REGIONS };

static const char *const region_names[REGIONS] = {"setup", "solve", "triangle"};
static const char *const metric_names[] = {"steps"};

typedef struct {
  tsanom_spmd_recorder *recorder;
  double steps[REGIONS]; /* a metric of the program's own */
} measured;

static void check(tsanom_status status) {
  if (status >= 0) return;
  (void)fprintf(stderr, "%s\n", tsanom_status_text(status));
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void prepare(measured *m) {
  tsanom_spmd_recorder_options options;
  check(tsanom_spmd_recorder_options_init(&options, sizeof options));
  options.clock = TSANOM_SPMD_CLOCK_CPU;
  check(tsanom_spmd_recorder_create(REGIONS, REGIONS, &options, NULL, &m->recorder));
}

static void write_rank(measured *m, const char *run, int rank) {
  char process[32];
  tsanom_spmd_row row;
  (void)snprintf(process, sizeof process, "rank-%d", rank);
  row = (tsanom_spmd_row){.struct_size = sizeof row};
  row.process = process;
  row.region = region_names;
  row.metrics = 1;
  row.metric = metric_names;
  row.value = m->steps;
  tsanom_fault fault;
  tsanom_exec exec;
  fault = (tsanom_fault){.struct_size = sizeof fault};
  tsanom_exec_init(&exec, sizeof exec);
  exec.fault = &fault;
  if (tsanom_spmd_recorder_write(m->recorder, run, &row, &exec) < 0) {
    (void)fprintf(stderr, "%s\n", fault.text);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  tsanom_spmd_recorder_destroy(m->recorder);
}

/* y = L x over rows [begin, end) of a triangle that is made up on the way. */
static double triangle(const double *x, double *y, int begin, int end) {
  double steps = 0;
  for (int i = begin; i < end; i++) {
    double sum = 0;
    for (int j = 0; j <= i; j++) sum += x[j] / (1 + (double)((i + j) & 7));
    y[i] = sum;
    steps += i + 1;
  }
  return steps;
}

/* All sweeps over rows [begin, end); the slowest rank's CPU time in the triangle. */
static double work(const char *run, int rank, int begin, int end) {
  static double x[ROWS], y[ROWS];
  measured m = {0};
  double norm = 0, time[REGIONS], slowest;
  prepare(&m);
  Par_begin(m.recorder, SETUP);
  for (int i = 0; i < ROWS; i++) x[i] = sin(i);
  Par_end(m.recorder, SETUP);
  Par_begin(m.recorder, SOLVE);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    Par_begin(m.recorder, TRIANGLE);
    m.steps[TRIANGLE] += triangle(x, y, begin, end);
    Par_end(m.recorder, TRIANGLE);
  }
  m.steps[SOLVE] = m.steps[TRIANGLE];
  Par_end(m.recorder, SOLVE);
  for (int i = begin; i < end; i++) norm += y[i] * y[i];
  /* Outside of all regions: MPI may wait actively, which is CPU time too. */
  MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check(tsanom_spmd_recorder_read(m.recorder, time, NULL, NULL));
  write_rank(&m, run, rank);
  MPI_Allreduce(&time[TRIANGLE], &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: norm %.6f, slowest rank %.4f s\n", run, sqrt(norm), slowest);
  return slowest;
}

int main(int argc, char **argv) {
  int rank, ranks;
  char run[2][512];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *name = argc > 1 ? argv[1] : "spmd_mpi";
  (void)snprintf(run[0], sizeof run[0], "%s.rows", name);
  (void)snprintf(run[1], sizeof run[1], "%s.steps", name);
  double before = work(run[0], rank, ROWS * rank / ranks, ROWS * (rank + 1) / ranks);
  /* Rows up to i take i (i + 1) / 2 steps. */
  int begin = (int)lround(ROWS * sqrt((double)rank / ranks));
  int end = (int)lround(ROWS * sqrt((double)(rank + 1) / ranks));
  double after = work(run[1], rank, begin, end);
  if (rank == 0) printf("%.2f times as fast\n", before / after);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
