/* SPDX-License-Identifier: BSD-3-Clause */
/* watch_healthy NUMBER SEED ITERATIONS: a program without an anomaly. NUMBER draws what it
 * does in an iteration, SEED what differs between its runs:
 *
 *   regions    1 to 3, each a stencil, a gather, uneven pieces given out, or a lock
 *   alone      work of one thread between the regions
 *   sleep      of a millisecond, in a fifth of the programs
 *   phases     1.5 to 3 times the work behind a point of the run, in a quarter
 *   rare       2 to 5 times the work in each 30th to 60th iteration, in a quarter
 *   heavy      one thread has 1.2 to 1.6 times the work, in a quarter
 *   memory     grows in each 20th iteration, in a fifth
 *   converges  0.7 to 1.3 times the iterations, in a fifth */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POINTS = 1 << 16, REGIONS_MOST = 3, PIECES = 64, MEBIBYTE = 1 << 20 };
enum { STENCIL, GATHER, PIECEWISE, LOCKED, KINDS };

static double values[POINTS], others[POINTS];
static uint32_t order[POINTS];

static struct {
  int regions, kind[REGIONS_MOST];
  double repeats[REGIONS_MOST], alone, later, rare, heavy, converges;
  long phase, every; /* permille of the iterations; iterations */
  int sleeps, grows, who;
} program;

static uint64_t state;

static double between(double least, double most) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return least + (most - least) * (double)(state >> 11) * 0x1p-53;
}

static int happens(double chance) {
  return between(0, 1) < chance;
}

static void draw_program(uint64_t number) {
  state = number * 2654435761U + 88172645463325252U;
  for (int i = 0; i < 10; i++) (void)between(0, 1);
  program.regions = (int)between(1, REGIONS_MOST + 1);
  for (int i = 0; i < program.regions; i++) {
    program.kind[i] = (int)between(0, KINDS);
    program.repeats[i] = between(5, 60);
  }
  program.alone = happens(0.5) ? between(0, 10) : 0;
  program.sleeps = happens(0.2);
  program.later = happens(0.25) ? between(1.5, 3) : 1;
  program.phase = (long)between(300, 800);
  program.rare = happens(0.25) ? between(2, 5) : 1;
  program.every = (long)between(30, 60);
  program.heavy = happens(0.25) ? between(1.2, 1.6) : 1;
  program.who = (int)between(0, 2);
  program.grows = happens(0.2);
  program.converges = happens(0.2) ? 0.3 : 0;
}

/* A part of the points, once; `gather`: in a random order. */
static double pass_over(size_t from, size_t until, int gather) {
  double sum = 0;
  for (size_t i = from; i < until; i++) {
    double x = gather ? values[order[i]] : values[i ? i - 1 : 0];
    others[i] = 0.5 * others[i] + 0.25 * (values[i] + x);
    sum += others[i];
  }
  return sum;
}

static void repeat(size_t from, size_t until, int gather, double times, double *sum) {
  for (int r = 0; r < (int)times; r++) *sum += pass_over(from, until, gather);
}

static double region(int kind, double times) {
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    size_t t = (size_t)omp_get_thread_num(), team = (size_t)omp_get_num_threads();
    double own = (int)t == program.who ? times * program.heavy : times;
    size_t from = t * POINTS / team, until = (t + 1) * POINTS / team;
    if (kind == STENCIL || kind == GATHER) {
      repeat(from, until, kind == GATHER, own, &sum);
    } else if (kind == LOCKED) {
      repeat(from, until, 0, 0.9 * own, &sum);
#pragma omp critical
      repeat(from, until, 0, 0.1 * own + 1, &sum);
    } else {
#pragma omp for schedule(dynamic)
      for (int piece = 0; piece < PIECES; piece++) {
        size_t length = POINTS / PIECES, first = (size_t)piece * length;
        repeat(first, first + length, 0, times * (0.5 + piece / (double)PIECES), &sum);
      }
    }
  }
  return sum;
}

static double iterate(double factor) {
  double sum = 0;
  for (int i = 0; i < program.regions; i++) {
    sum += region(program.kind[i], factor * program.repeats[i]);
  }
  repeat(0, POINTS, 0, factor * program.alone / 2, &sum);
  if (program.sleeps) (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return sum;
}

int main(int count, char **argument) {
  if (count != 4) return EXIT_FAILURE;
  double sum = 0;
  draw_program(strtoull(argument[1], NULL, 10));
  state = strtoull(argument[2], NULL, 10) * 40503 + 7;
  for (int i = 0; i < 10; i++) (void)between(0, 1);
  for (size_t i = 0; i < POINTS; i++) {
    values[i] = between(0, 1);
    order[i] = (uint32_t)between(0, POINTS);
  }
  double spread = program.converges;
  long iterations = (long)(strtod(argument[3], NULL) * between(1 - spread, 1 + spread));
  for (long i = 0; i < iterations; i++) {
    double factor = 1000 * i > program.phase * iterations ? program.later : 1;
    if (i % program.every == program.every - 1) factor *= program.rare;
    sum += iterate(factor);
    if (!program.grows || i % 20 != 19) continue;
    char *block = malloc(MEBIBYTE / 4); /* kept, as what a solver stores of each step */
    if (block) memset(block, (int)i, MEBIBYTE / 4);
  }
  printf("%g\n", sum);
  return EXIT_SUCCESS;
}
