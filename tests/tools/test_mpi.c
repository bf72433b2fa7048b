/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record and MPI: one run of all ranks, with Debian's two MPI libraries, and the
 * variables by which other launchers give the rank. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tsanom/runs.h>
#include <tsanom/spmd.h>

#include "mpi_programs.h"
#include "record/regions.h"
#include "recorded.h"
#include "support/skip.h"

TestSuite(record_mpi, .init = prepare_mpi, .fini = leave_folder, .timeout = 240);

/* The number of calls of a function of MPI in the run of a rank, and its state. */
static size_t calls_of(const char *run, int rank, const char *function, int32_t *state) {
  char path[64];
  tsanom_runs_info info;
  size_t calls = 0;
  (void)snprintf(path, sizeof path, "%s/rank.%d", run, rank);
  tsanom_runs *opened = open_run(path, &info);
  for (size_t i = 0; i < info.event_streams; i++) {
    tsanom_runs_stream stream;
    cr_assert(tsanom_runs_stream_at(opened, TSANOM_RUNS_REGIONS, i, &stream) ==
              TSANOM_OK);
    for (size_t k = 0; k < stream.count; k++) {
      tsanom_runs_place place;
      tsn_region_event event = tsn_region_decode(stream.tag[k]);
      if (event.kind != TSN_REGIONS_BEGIN) continue;
      cr_assert(tsanom_runs_place_at(opened, (size_t)event.place, &place) == TSANOM_OK);
      calls += place.call && strcmp(place.call, function) == 0;
    }
  }
  if (state) *state = info.state;
  return calls;
}

static void check_calls(const char *run, int rank, const char *function, size_t calls) {
  size_t found = calls_of(run, rank, function, NULL);
  cr_assert(found == calls, "%s, rank %d: %zu calls of %s", run, rank, found, function);
}

static void check_commands(const char *run) {
  json_t *r = tsanom_json("period %s --json", run), *rank;
  size_t i;
  cr_assert(size_of(r, "ranks") == 6);
  json_array_foreach(json_object_get(r, "ranks"), i, rank) {
    cr_assert(json_integer_value(json_object_get(rank, "rank")) == (json_int_t)i);
    json_t *found = item_of(rank, "periods", 0);
    cr_assert(json_integer_value(json_object_get(found, "period")) == 3);
  }
  CHECK_PRINTS(tsanom("rate %s", run), "rank 5: ");
  CHECK_PRINTS(tsanom("speedup %s", run), "rank 5: 20 iterations");
  tsanom_ok("learn -o model %s", run);
  r = tsanom_json("diagnose -m model %s --json", run);
  cr_assert(size_of(r, "runs") == 6);
  CHECK_REJECTED(tsanom("rate %s --plot p.svg", run), 3, "--plot", "rank.0");
}

/* Record the program, in which a rank has twice the work, as `run` until the output of `similar`
 * begins with `first` and has `text`: a machine that is busy with other things may take processor
 * time from another rank. */
static void record_until(int library, int ranks, const char *options, const char *run,
                         const char *program, const char *similar, const char *first,
                         const char *text) {
  enum { TRIES = 6 };
  outcome o = {0};
  for (int i = 0; i < TRIES; i++) {
    (void)shell("rm -rf %s", run);
    cr_assert(record_ranks(library, ranks, options, run, program) == 0, "%s", program);
    o = tsanom_ok("%s", similar);
    if (strncmp(o.out, first, strlen(first)) == 0 && strstr(o.out, text)) return;
  }
  cr_assert(false, "%s", o.out);
}

Test(record_mpi, the_slow_rank_is_named) {
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    const char *run = mpi_libraries[library];
    if (!build_mpi_program(library, "ranks.c", "ranks")) continue;
    char similar[64];
    (void)snprintf(similar, sizeof similar, "similar %s", run);
    record_until(library, 6, "", run, "ranks plain 20 400000 3", similar, "Rank 3 takes ",
                 " times as long as the others in solve");
    cr_assert(file_holds("out", "6 ranks, 20 iterations"));
    CHECK_PRINTS(tsanom("%s", similar), "parallel efficiency ");
    json_t *r = tsanom_json("similar %s --json", run);
    cr_assert(size_of(r, "ranks") == 6);
    CHECK_PRINTS(tsanom("similar %s/rank.0 %s/rank.3", run, run),
                 "/rank.3 ) are slowest in solve");
    /* What is there is not replaced, and a job does not add to another one. */
    cr_assert(record_ranks(library, 6, "", run, "ranks") != 0);
    cr_assert(file_holds("err", "contains"));
    if (library == OPENMPI) check_commands(run);
    shell_ok("rm -r %s/rank.4/regions/places.tsv", run);
    outcome o = tsanom("similar %s", run);
    cr_assert(strstr(o.err, "1 of 6 ranks recorded nothing"), "%s", o.err);
  }
}

/* All ranks on one processor, which those that wait in MPI use as well. */
/* Also before the main loop was found, and where the loop within it is found first. */
Test(record_mpi, beats_are_iterations_of_the_main_loop) {
  static const char *const how[] = {"plain", "inner"};
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "ranks.c", "ranks")) continue;
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
      char run[32], program[32], path[48];
      (void)snprintf(run, sizeof run, "%s.%s", mpi_libraries[library], how[k]);
      (void)snprintf(program, sizeof program, "ranks %s 60 1000", how[k]);
      cr_assert(record_ranks(library, 2, "", run, program) == 0);
      for (int rank = 0; rank < 2; rank++) {
        (void)snprintf(path, sizeof path, "%s/rank.%d", run, rank);
        size_t beats = analyzed_beats(path, 0);
        cr_assert(beats + 1 >= 60 && beats <= 60, "%s: %zu of 60", path, beats);
      }
    }
  }
}

Test(record_mpi, ranks_that_share_a_processor_have_no_gain) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  cr_assert(sched_setaffinity(0, sizeof one, &one) == 0);
  if (!build_mpi_program(MPICH, "ranks.c", "ranks")) return;
  record_until(MPICH, 3, "", "run", "ranks plain 20 4000000 1", "similar run",
               "Rank 1 takes ", " s without waiting for a processor.");
  json_t *r = tsanom_json("similar run --json");
  json_t *rank = item_of(r, "ranks", 1);
  cr_assert(json_number_value(json_object_get(rank, "stalled_s")) > 0);
}

/* Each computation of each rank has its bytes, however short it is; the network may be
 * missing. */
Test(record_mpi, computations_have_metrics) {
  if (!build_mpi_program(MPICH, "ranks.c", "ranks")) return;
  cr_assert(record_ranks(MPICH, 2, "--metrics network-bytes,disk-bytes", "run",
                         "ranks plain 400 1 1") == 0);
  tsanom_runs_info info;
  tsanom_runs *run = open_run("run", &info);
  tsanom_runs_spmd_data f = spmd_of(run);
  const tsanom_spmd_data *d = f.data;
  cr_assert(d->processes == 2 && d->metrics == 3 && d->regions > 2);
  cr_assert_str_eq(f.metric[1], "disk-bytes");
  cr_assert_str_eq(f.metric[2], "network-bytes");
  for (size_t k = 0; k < 2 * d->regions; k++) {
    cr_assert(d->metric[2 * d->regions + k] >= 0, "region %zu", k % d->regions);
  }
}

Test(record_mpi, calls_are_counted_from_each_language) {
  static const char *const sources[] = {"ranks.c", "ranks_mpi.F90",
                                        "ranks_mpi.F90 -DMODULE=mpi_f08"};
  for (int k = 0; k < MPI_LIBRARIES * 3; k++) {
    char run[32];
    (void)snprintf(run, sizeof run, "run%d", k);
    bool is_c = k % 3 == 0;
    if (!build_mpi_program(k / 3, sources[k % 3], "program")) continue;
    cr_assert(record_ranks(k / 3, 2, "", run, "program") == 0);
    for (int rank = 0; rank < 2; rank++) {
      check_calls(run, rank, "MPI_Allreduce", 20);
      check_calls(run, rank, "MPI_Sendrecv", is_c ? 0 : 20);
      check_calls(run, rank, "MPI_Send", is_c ? 20 : 0);
      check_calls(run, rank, "MPI_Recv", is_c ? 20 : 0);
      check_calls(run, rank, is_c ? "MPI_Init_thread" : "MPI_Init", 1);
      check_calls(run, rank, "MPI_Finalize", 1);
    }
  }
}

/* By the function that its author knows, and the line of the call where that is not in a
 * header. */
Test(record_mpi, inlined_calls_have_the_outermost_function) {
  static const char *const names[] = {
      "MPI_Allreduce in flux (inlined.c:23)", "MPI_Bcast in flux (inlined.c:19)",
      "MPI_Bcast in halo (inlined.c:19)", "MPI_Barrier in finish (inlined.c:34)",
      "MPI_Finalize in main (inlined.c:42)"};
  enum { NAMES = sizeof names / sizeof *names };
  tsanom_runs_info info;
  if (!build_mpi_program(MPICH, "inlined.c", "inlined")) {
    SKIP_TEST("needs the Debian package libmpich-dev");
  }
  cr_assert(record_ranks(MPICH, 1, "", "run", "inlined") == 0);
  tsanom_runs *run = open_run("run", &info);
  for (size_t k = 0; k < NAMES; k++) {
    bool is_there = false;
    for (size_t i = 0; i < info.places; i++) {
      const char *name;
      cr_assert(tsanom_runs_place_name(run, i, NULL, &name) == TSANOM_OK);
      is_there |= strcmp(name, names[k]) == 0;
    }
    cr_assert(is_there, "%s", names[k]);
  }
}

/* Exit status and output are those of the program; a rank that is ended loses nothing. The
 * rank that calls MPI_Abort() ends itself, by _exit(). */
Test(record_mpi, programs_end_as_they_do_unrecorded) {
  static const struct {
    int library;
    const char *what;
    int status; /* 0: any but 0 */
  } cases[] = {{OPENMPI, "status", 5}, {OPENMPI, "abort", 5}, {MPICH, "kill", 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char program[32];
    int32_t state;
    if (!build_mpi_program(cases[i].library, "ranks.c", "ranks")) continue;
    (void)snprintf(program, sizeof program, "ranks %s", cases[i].what);
    int status = record_ranks(cases[i].library, 2, "", cases[i].what, program);
    cr_assert(cases[i].status ? status == cases[i].status : status != 0, "%s: %d",
              cases[i].what, status);
    cr_assert(calls_of(cases[i].what, 1, "MPI_Allreduce", &state) == 20);
    cr_assert(state == (cases[i].status ? TSANOM_RUN_FINISHED : TSANOM_RUN_KILLED));
    tsanom_ok("similar %s", cases[i].what);
  }
}

/* The slow rank works longer in solve(), not in exchange(). */
Test(record_mpi, functions_of_ranks_are_a_tree) {
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "ranks.c -finstrument-functions", "ranks")) continue;
    static const char similar[] = "similar run --fixed --tolerance 0.2";
    record_until(library, 4, "--functions", "run", "ranks plain 20 400000 3", similar, "",
                 "\nkind 0: 0 1 2\nkind 1: 3\n");
    outcome o = tsanom("%s", similar);
    const char *tree = strstr(o.out, "CCR tree:\nmain (");
    cr_assert(tree && strstr(tree, ") (1-CCR) ---> solve ("), "%s", o.out);
    cr_assert(strstr(tree, ") (2-CCR) ---> work ("), "%s", o.out);
    cr_assert(strstr(tree, "\n  solve ("), "%s", o.out);
    cr_assert(strstr(tree, "\n  exchange ("), "%s", o.out);
    CHECK_PRINTS(tsanom("rate run --cpu --plot cpu.svg"), "\n     3  ");
    check_svg("cpu.svg");
    shell_ok("rm -r run");
  }
}

/* 60 threads, one after the other: all have the stream of the first. */
Test(record_mpi, threads_that_ended_make_space) {
  if (!build_mpi_program(MPICH, "ranks.c", "ranks")) {
    SKIP_TEST("needs the Debian package libmpich-dev");
  }
  cr_assert(record_ranks(MPICH, 2, "", "turns", "ranks turns") == 0);
  check_calls("turns", 1, "MPI_Wait", 60000);
  shell_ok("test $(ls turns/rank.1/regions | grep -c 'heartbeat.0') -le 3");
}

Test(record_mpi, other_threads_and_communicators) {
  tsanom_runs_info info;
  tsanom_runs_place place;
  if (build_mpi_program(MPICH, "ranks.c", "ranks")) {
    cr_assert(record_ranks(MPICH, 2, "", "threads", "ranks threads") == 0);
    check_calls("threads", 1, "MPI_Wait", 1000);
    check_calls("threads", 1, "MPI_Allreduce", 20);
    /* Init, 20 times Allreduce, Send and Recv, Finalize: those of the main thread. */
    cr_assert(strstr(tsanom("period threads/rank.0").out, "62 samples"));
  }
  if (!build_mpi_program(OPENMPI, "ranks.c", "ranks")) return;
  cr_assert(record_ranks(OPENMPI, 4, "", "split", "ranks split") == 0);
  tsanom_runs *run = open_run("split/rank.3", &info);
  uint64_t reduced = 0, sent = 0;
  for (size_t i = 0; i < info.places; i++) {
    cr_assert(tsanom_runs_place_at(run, i, &place) == TSANOM_OK);
    if (strcmp(place.call, "MPI_Allreduce") == 0) reduced = place.communicator;
    if (strcmp(place.call, "MPI_Send") == 0) sent = place.communicator;
  }
  cr_assert(reduced == 2 && sent == 1);
}

/* `tsanom record -- mpirun`, and processes that the program starts: they are ranks of
 * other worlds. Behind mpirun they cannot be recorded. */
Test(record_mpi, a_launcher_is_recorded_with_its_ranks) {
  if (!build_mpi_program(OPENMPI, "ranks.c", "ranks")) return;
  shell_ok("tsanom record -o run -- mpirun.openmpi -n 2 ./ranks spawn >out 2>err");
  for (int rank = 0; rank < 2; rank++) {
    check_calls("run", rank, "MPI_Allreduce", 20);
    check_calls("run/spawned.1", rank, "MPI_Allreduce", 20);
    check_calls("run/spawned.2", rank, "MPI_Allreduce", 20);
  }
  cr_assert(
      strstr(messages_of("run"), "MPI_Comm_spawn started are recorded as spawned.2"));
  cr_assert(!strstr(messages_of("run"), "nothing is recorded")); /* mpirun's own */
  shell_ok(
      "tsanom record -o script -- sh -c 'mpirun.openmpi -n 2 ./ranks >out 2>err; :'");
  check_calls("script", 1, "MPI_Allreduce", 20);
  cr_assert(!strstr(messages_of("script"), "are not recorded"));
  cr_assert(!file_holds("err", "warning") && !file_holds("err", "not recorded"));
  tsanom_ok("similar run/spawned.1");
  cr_assert(record_ranks(OPENMPI, 1, "", "behind", "ranks spawn") == 0);
  cr_assert(strstr(messages_of("behind"), "put tsanom record in front of it"));
}

/* Names of jobs as Open MPI 5 and 4 give them. The first job of another mpirun has no
 * part in the run. */
Test(record_mpi, spawned_processes_by_variables) {
  if (!build_program("gcc", "loop")) return;
  cr_assert(shell("tsanom record --force -o run -- sh -c 'export OMPI_COMM_WORLD_RANK "
                  "OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE; for PMIX_NAMESPACE in p-5@1 "
                  "p-5@2 p-5@3 p-6@1; do for OMPI_COMM_WORLD_RANK in 0 1; do ./loop 20; "
                  "done; done' >out 2>err") == 5);
  (void)info_of("run/rank.1");
  (void)info_of("run/spawned.1/rank.0");
  (void)info_of("run/spawned.2/rank.1");
  cr_assert(strstr(messages_of("run"), "not recorded: the run belongs to another"));
  cr_assert(shell("tsanom record --force -o one -- sh -c 'export OMPI_COMM_WORLD_RANK=0 "
                  "OMPI_COMM_WORLD_SIZE=1 PMIX_NAMESPACE; for PMIX_NAMESPACE in "
                  "1094451201 1094451202; do ./loop 20; done' >out 2>err") == 5);
  (void)info_of("one");
  (void)info_of("one/spawned.1");
  cr_assert(
      shell("tsanom record --force -o pmi -- sh -c 'export PMI_RANK=0 PMI_SIZE=2 "
            "PMI_SPAWNED; for PMI_SPAWNED in 0 1; do ./loop 20; done' >out 2>err") == 5);
  cr_assert(strstr(messages_of("pmi"), "not recorded: the run belongs to another"));
}

/* Whatever the functions put on the stack for their arguments. */
Test(record_mpi, calls_that_were_left_end_with_the_next_one) {
  static const char *const kinds[] = {"left 0", "left 1", "left 2"};
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "left_calls.c", "left")) continue;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
      shell_ok("rm -rf run");
      cr_assert(record_ranks(library, 2, "", "run", kinds[i]) == 0, "%s", kinds[i]);
      for (int rank = 0; rank < 2; rank++) {
        check_calls("run", rank, "MPI_Alltoallv", 20);
        check_calls("run", rank, "MPI_Allreduce", 20);
        check_calls("run", rank, "MPI_Barrier", 20);
      }
    }
  }
}

/* The return address of such a call is not in the library that knows MPI. */
Test(record_mpi, a_library_may_jump_to_mpi) {
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "ranks.c", "ranks")) continue;
    shell_ok("rm -rf run && gcc -O2 " TSANOM_TEST_PROGRAMS
             "/behind.c -o behind -ldl && mpicc.%s -O2 -fPIC -shared "
             "-DLIBRARY " TSANOM_TEST_PROGRAMS "/behind.c -o libbehind.so",
             mpi_libraries[library]);
    cr_assert(record_ranks(library, 2, "", "run", "behind") == 0);
    for (int rank = 0; rank < 2; rank++) check_calls("run", rank, "MPI_Barrier", 20);
  }
}

/* The program finds the functions that it finds alone, of a library that it is linked with or loads. */
Test(record_mpi, what_mpi_lacks_is_not_there) {
  static const char *const loaded[] = {"libmpi.so.40", "libmpich.so.12"};
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "ranks.c", "ranks")) continue;
    shell_ok("gcc -O2 -fPIC -shared -DMODULE " TSANOM_TEST_PROGRAMS
             "/asks.c -o early.so && cp early.so late.so && cp early.so linked.so");
    for (int is_loaded = 0; is_loaded < 2; is_loaded++) {
      const char *asked = is_loaded ? loaded[library] : "";
      shell_ok("rm -rf run && %s%s -O1 -Wl,--no-as-needed " TSANOM_TEST_PROGRAMS
               "/asks.c ./linked.so -o asks -ldl && ./asks %s >alone && "
               "tsanom record -o run -- ./asks %s >recorded 2>err && cmp alone recorded",
               is_loaded ? "gcc" : "mpicc.", is_loaded ? "" : mpi_libraries[library],
               asked, asked);
    }
  }
}

/* Run the program with these variables, as a launcher does. */
static int launch(const char *variables, const char *run) {
  return shell("env %s tsanom record -o %s -- ./loop 20 >out 2>err", variables, run);
}

Test(record_mpi, ranks_of_launchers) {
  static const char *const variables[] = {
      "OMPI_COMM_WORLD_RANK=%d OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=7",
      "MV2_COMM_WORLD_RANK=%d MV2_COMM_WORLD_SIZE=2",
      "PMIX_RANK=%d PMIX_NAMESPACE=slurm.1.0",
      "PMI_RANK=%d PMI_SIZE=2",
      "PALS_RANKID=%d PALS_APID=7",
      "FLUX_TASK_RANK=%d FLUX_JOB_SIZE=2 FLUX_JOB_ID=f1",
      "SLURM_PROCID=%d SLURM_STEP_NUM_TASKS=2 SLURM_JOB_ID=5 SLURM_STEP_ID=0"};
  if (!build_program("gcc", "loop")) return;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    char own[2][128], run[16];
    (void)snprintf(run, sizeof run, "run%zu", i);
    for (int rank = 0; rank < 2; rank++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      (void)snprintf(own[rank], sizeof own[rank], variables[i], rank);
#pragma GCC diagnostic pop
      cr_assert(launch(own[rank], run) == 5, "%s", own[rank]);
      cr_assert(shell("test $(grep -vc 'record: recording to' err) = 0") == 0, "%s",
                own[rank]);
    }
    int32_t ranks[3];
    size_t count, size;
    cr_assert(tsanom_runs_ranks(run, NULL, ranks, 3, &count, &size) == TSANOM_OK);
    cr_assert(count == 2 && ranks[1] == 1 && (size == 2 || size == 0), "%s", own[1]);
    cr_assert(strstr(tsanom("speedup %s", run).out, "rank 1: "));
    cr_assert(launch(own[1], run) == 3 && file_holds("err", "contains a run already"));
  }
  cr_assert(launch("PMIX_RANK=7 PMIX_NAMESPACE=other", "run2") == 3);
  cr_assert(file_holds("err", "contains the run of another job"));
  cr_assert(launch("NONE=1", "run2") == 3);
}

/* The only process of a job, and the shell of a batch script, are no ranks. */
Test(record_mpi, single_processes_have_ordinary_runs) {
  static const char *const variables[] = {"PMI_RANK=0 PMI_SIZE=1",
                                          "SLURM_PROCID=0 SLURM_JOB_ID=5 SLURM_NTASKS=4"};
  if (!build_program("gcc", "loop")) return;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
    char run[16];
    (void)snprintf(run, sizeof run, "run%zu", i);
    cr_assert(launch(variables[i], run) == 5);
    tsanom_ok("speedup %s", run);
    shell_ok("test ! -e %s/ranks.tsv", run);
    cr_assert(launch("PMI_RANK=1 PMI_SIZE=2", run) == 3);
  }
}
