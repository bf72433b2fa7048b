/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record: vital signs of programs that know nothing of it. */
#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tsanom/diagnosis.h>
#include <unistd.h>

#include "recorded.h"

TestSuite(record_vital, .init = enter_folder, .fini = leave_folder, .timeout = 240);

static void build_loop(void) {
  shell_ok("gcc -O2 -fopenmp '" TSANOM_TEST_PROGRAMS "/loop.c' -o loop 2>compiler");
}

/* What is known of the end of a program. */
static int32_t exit_code_of(const char *path) {
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  const tsanom_hsa_run *beats = hsa_of(run);
  int32_t code = beats->exit_code;
  return code;
}

static void check_run(const char *path, int32_t sampler) {
  tsanom_runs_info info;
  tsanom_runs *run = open_run(path, &info);
  const tsanom_hsa_vital *sample;
  size_t count = 0;
  cr_assert(info.vital == sampler && info.state == TSANOM_RUN_FINISHED, "%d %d",
            info.vital, info.state);
  cr_assert(tsanom_runs_vitals(run, TSANOM_RUNS_PROCESS, NULL, &sample, &count) ==
            TSANOM_OK);
  cr_assert(count >= 2 && sample[0].anonymous > 0 && sample[count - 1].anonymous > 0);
  cr_assert(tsanom_runs_vitals(run, 0, NULL, &sample, &count) == TSANOM_OK);
  cr_assert(count >= 1 && sample[count - 1].cpu_s > 0 && sample[count - 1].beats > 0);
}

/* `cat` ends when the program does: nothing else has the end of the pipe. */
Test(record_vital, a_program_in_a_pipe_is_sampled) {
  build_loop();
  tsanom_ok("record --force -o run -- sh -c './loop 500 | cat'");
  check_run("run", TSANOM_RUNS_VITAL_PROCESS);
  cr_assert(exit_code_of("run") == 5);
}

/* Its parent has not waited for it: older kernels forget a process after that. */
Test(record_vital, the_signal_that_killed_a_program_is_known) {
  static char command[] = TSANOM_COMMAND, sub[] = "record", to[] = "-o", run[] = "run",
              program[] = "./loop", iterations[] = "500", killed_at[] = "200";
  char *arguments[] = {command, sub, to, run, program, iterations, killed_at, NULL};
  siginfo_t how;
  build_loop();
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    (void)execv(TSANOM_COMMAND, arguments);
    _exit(1);
  }
  cr_assert(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT) == 0);
  cr_assert(how.si_code == CLD_KILLED && how.si_status == SIGKILL);
  int32_t code = 0;
  while (!code) {
    code = exit_code_of("run");
    (void)usleep(2000);
  }
  cr_assert(code == -SIGKILL, "%d", code);
  cr_assert(waitpid(child, NULL, 0) == child);
}

/* The command was copied without its companions. */
Test(record_vital, without_the_sampler_the_ends_are_sampled) {
  build_loop();
  shell_ok(
      "mkdir -p a/tsanom a/intercept && cp \"$TSANOM_BUILT/tsanom\" a/tsanom && cp "
      "\"$TSANOM_BUILT/../intercept/libtsanom-preload.so\" a/intercept && "
      "a/tsanom/tsanom record -o run -- ./loop 500; test $? -eq 5");
  check_run("run", TSANOM_RUNS_VITAL_ENDS);
}

/* The processor time of a task from its first sample to its last. */
static double cpu_of(const tsanom_runs *run, int32_t thread) {
  const tsanom_hsa_vital *sample;
  size_t count = 0;
  cr_assert(tsanom_runs_vitals(run, thread, NULL, &sample, &count) == TSANOM_OK);
  cr_assert(count >= 2 && sample[0].task == sample[count - 1].task);
  return sample[count - 1].cpu_s - sample[0].cpu_s;
}

/* Thread 1 works for several times as long as thread 0, which waits on its processor: at the
 * ends of regions, or at barriers inside of one. The program's own times decide, as a host
 * may give two processors different speeds. Returns whether the times of work are those of
 * the program: what the threads spin is several times as much as the tolerance. */
static bool knows_waiting(int way, const char *arguments) {
  double of_program[2];
  tsanom_runs_info info;
  shell_ok("rm -rf run");
  outcome o = record(way,
                     "-o run -- env OMP_WAIT_POLICY=active GOMP_SPINCOUNT=infinity "
                     "KMP_BLOCKTIME=infinite ./uneven %s",
                     arguments);
  cr_assert(
      o.status == 0 && sscanf(o.out, "%lf %lf", &of_program[0], &of_program[1]) == 2,
      "%d %s", o.status, o.out);
  tsanom_runs *run = open_run("run", &info);
  size_t waits = 0;
  bool known = true;
  for (int32_t t = 0; t < 2; t++) {
    const tsanom_hsa_vital *sample;
    size_t count = 0;
    cr_assert(tsanom_runs_vitals(run, t, NULL, &sample, &count) == TSANOM_OK);
    cr_assert(count >= 2 && isnan(sample[0].resident));
    const tsanom_hsa_vital *last = &sample[count - 1];
    double work = last->cpu_s - sample[0].cpu_s - last->spun_s; /* without its start */
    cr_assert(last->spun_s >= 0 && work > 0, "%g of %g s", last->spun_s, last->cpu_s);
    known &= fabs(work - of_program[t]) < .2 * of_program[t] + .02 && last->spun_s > 0;
    for (size_t i = 0; i < count; i++) waits += sample[i].waits == TSANOM_HSA_WAITS_TEAM;
  }
  return known && waits > 0;
}

/* A thread that loses its processor to other programs while it spins, or just before, is
 * seen to work: one of some runs decides. */
static void check_waiting(int way, const char *arguments) {
  enum { TRIES = 20 };
  bool known = false;
  for (int i = 0; i < TRIES && !known; i++) known = knows_waiting(way, arguments);
  cr_assert(known, "way %d: %s", way, arguments);
}

Test(record_vital, waiting_on_a_processor_is_known) {
  FOR_EACH_WAY(way, "uneven") {
    check_waiting(way, "");
    check_waiting(way, "in one");
  }
}

/* The means of all intervals add up to the processor time. */
static void check_use(const json_t *line, double cpu_s) {
  const json_t *begin = json_object_get(line, "begin");
  const json_t *end = json_object_get(line, "time"), *use = json_object_get(line, "cpu");
  double sum = 0;
  cr_assert(json_array_size(use) >= 1 && json_array_size(use) == json_array_size(end));
  for (size_t i = 0; i < json_array_size(use); i++) {
    sum += json_number_value(json_array_get(use, i)) *
           (json_number_value(json_array_get(end, i)) -
            json_number_value(json_array_get(begin, i)));
  }
  cr_assert(fabs(sum - cpu_s) < 1e-9, "%g and %g s", sum, cpu_s);
}

Test(record_vital, the_use_of_processors_is_plotted) {
  tsanom_runs_info info;
  build_loop();
  check_status(tsanom("record -o run -- ./loop 20000"), 5);
  json_t *r = tsanom_json("rate run --cpu --json");
  const json_t *threads = json_object_get(r, "threads");
  cr_assert(json_array_size(threads) == 2);
  tsanom_runs *run = open_run("run", &info);
  for (int32_t t = 0; t < 2; t++) {
    const json_t *line = json_array_get(threads, (size_t)t);
    cr_assert(number_of(line, "thread") == t);
    check_use(line, cpu_of(run, t));
  }
  CHECK_PRINTS(tsanom("rate run --cpu --plot cpu.svg"), "thread   samples");
  check_svg("cpu.svg");
  outcome o = tsanom("rate run --cpu --csv");
  cr_assert(strncmp(o.out, "thread,begin,time,cpu\n0,", 24) == 0, "%s", o.out);
  check_status(tsanom("rate run --cpu --window 2"), 2);
  write_text("r.csv", "thread,time\n0,1\n0,2\n");
  CHECK_REJECTED(tsanom("rate r.csv --cpu"), 3, "r.csv", "no vital signs");
}
