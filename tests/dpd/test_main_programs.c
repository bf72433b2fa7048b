/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of streams of the shapes that programs have. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <tsanom/dpd.h>

#include "support/random.h"

enum { KINDS = 64, MOST = 20000 };

typedef struct {
  uint32_t event[MOST];
  double time[MOST + 1];
  size_t n;
} stream;

static void put(stream *s, uint32_t kind, double seconds) {
  cr_assert(s->n < MOST);
  s->event[s->n] = kind;
  s->time[s->n + 1] = s->time[s->n] + seconds;
  s->n++;
}

static void put_range(stream *s, uint32_t from, uint32_t to) {
  for (uint32_t kind = from; kind < to; kind++) put(s, kind, 1);
}

static tsanom_dpd_main find_by(const stream *s, size_t anchor, bool ended) {
  tsanom_dpd_main_options options;
  tsanom_dpd_main_options_init(&options, sizeof options);
  options.kinds = KINDS;
  options.anchor = anchor;
  options.ended = ended;
  tsanom_dpd_main found = {.struct_size = sizeof found};
  tsanom_status status =
      tsanom_dpd_main_loop(s->event, s->time, s->n, &options, NULL, &found, NULL, 0);
  cr_assert(status == TSANOM_OK || status == TSANOM_INFEASIBLE);
  for (size_t i = 0; i < found.relations; i++) {
    cr_assert(found.related[i].relation != TSANOM_DPD_AROUND ||
              found.related[i].iterations <= found.iterations + 1);
    for (size_t k = 0; k < i; k++) {
      cr_assert(found.related[i].anchor != found.related[k].anchor ||
                found.related[i].relation != found.related[k].relation);
    }
  }
  return found;
}

static tsanom_dpd_main find(const stream *s) {
  return find_by(s, TSANOM_NONE, true);
}

/* A search in a graph goes down, up and down again, a few levels each time: the loop over levels
 * that comes in two parts of a search is listed once. */
Test(dpd_main_programs, an_inner_loop_in_two_parts_of_an_iteration) {
  enum { START, DOWN, TURN, UP, BACK, END };
  uint64_t seed = 12;
  for (int trial = 0; trial < 300; trial++) {
    static stream s;
    s.n = 0;
    size_t searches = random_between(&seed, 10, 100), least = random_between(&seed, 1, 3);
    size_t most = least + random_between(&seed, 1, 3), down = 0;
    for (size_t i = 0; i < searches; i++) {
      static const uint32_t parts[] = {START, TURN, BACK};
      for (size_t part = 0; part < 3; part++) {
        put(&s, parts[part], .1);
        size_t levels = random_between(&seed, least, most);
        down += part == 1 ? 0 : levels;
        for (size_t k = 0; k < levels; k++) put(&s, part == 1 ? UP : DOWN, 1);
      }
      put(&s, END, .1);
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.anchor == START && found.iterations == searches, "%d", trial);
    cr_assert(found.related[0].relation == TSANOM_DPD_INSIDE &&
              found.related[0].anchor == DOWN && found.related[0].iterations == down);
  }
}

/* Phases, each a loop of its own, and behind some of them work without regions that takes about as long
 * as the longest: its loop is the main one. */
Test(dpd_main_programs, what_follows_a_phase_is_not_of_its_loop) {
  enum { PHASES = 3, KINDS_EACH = 4 };
  uint64_t seed = 34;
  for (int trial = 0; trial < 300; trial++) {
    static stream s;
    s.n = 0;
    size_t iterations[PHASES], longest = random_between(&seed, 0, PHASES - 1);
    for (uint32_t phase = 0; phase < PHASES; phase++) {
      size_t kinds = random_between(&seed, 1, KINDS_EACH);
      double each = (phase == longest ? 4 : 1) / (double)kinds;
      size_t count = iterations[phase] = random_between(&seed, 200, 300);
      for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < kinds; k++) {
          put(&s, phase * KINDS_EACH + k, each * (double)random_between(&seed, 8, 12));
        }
      }
      double behind = phase == longest ? 0 : 1e4 * (double)random_between(&seed, 0, 1);
      s.time[s.n] += behind;
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.anchor == longest * KINDS_EACH && found.runs == 1 &&
                  found.iterations == iterations[longest],
              "%d: %zu of %zu", trial, found.iterations, found.anchor);
  }
}

/* Each fifth of 51 steps adapts the mesh: it has twice as many kinds of regions, in an
 * order that depends on the mesh, and lacks one of the usual ones. */
Test(dpd_main_programs, a_mesh_is_adapted_in_some_steps) {
  static stream s;
  for (int step = 0; step < 51; step++) {
    put_range(&s, 0, 9);
    if (step % 5 == 4) {
      for (uint32_t k = 0; k < 19; k++) put(&s, 20 + k * (7 + (uint32_t)step) % 19, 1);
    } else {
      put(&s, 9, 1);
    }
    put_range(&s, 10, 12);
  }
  tsanom_dpd_main found = find(&s);
  cr_assert(found.anchor == 0 && found.iterations == 51 && found.runs == 1, "%zu: %zu",
            found.anchor, found.iterations);
}

/* Each fifth step adapts the mesh before it begins, and has more in its middle; a kind of the step
 * is in the setup. */
Test(dpd_main_programs, a_mesh_is_adapted_before_some_steps) {
  uint64_t seed = 13;
  for (int trial = 0; trial < 200; trial++) {
    static stream s;
    uint32_t size = (uint32_t)random_between(&seed, 6, 12);
    uint32_t middle = (uint32_t)random_between(&seed, 1, size - 2);
    s.n = 0;
    put(&s, middle, 1);
    put_range(&s, 50, 55);
    for (int step = 0; step < 60; step++) {
      for (uint64_t k = step % 5 ? 0 : random_between(&seed, 1, 6); k > 0; k--) {
        put_range(&s, 20, 30);
      }
      put_range(&s, 0, middle);
      if (step % 5 == 0) put_range(&s, 30, 34);
      put_range(&s, middle, size);
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.iterations == 60 || found.iterations == 61, "%d: %zu", trial,
              found.iterations);
  }
}

/* Each tenth to thirtieth step has something else instead of one of its three parts, the last
 * ones of which are inner loops. */
Test(dpd_main_programs, some_steps_replace_a_part) {
  uint64_t seed = 12;
  int found = 0;
  for (int trial = 0; trial < 300; trial++) {
    static stream s;
    int every = (int)random_between(&seed, 10, 30),
        trips = (int)random_between(&seed, 2, 6);
    int steps = (int)random_between(&seed, 6, 12) * every;
    uint32_t replaced = (uint32_t)random_between(&seed, 1, 2);
    s.n = 0;
    for (int step = 0; step < steps; step++) {
      bool is_other = step % every == every - 1;
      put_range(&s, 0, 2);
      for (uint32_t part = 1; part <= 2; part++) {
        bool is_replaced = is_other && part == replaced;
        if (is_replaced) put_range(&s, 40, 43);
        for (int t = 0; t < trips && !is_replaced; t++)
          put_range(&s, 10 * part, 10 * part + 3);
      }
    }
    tsanom_dpd_main m = find(&s);
    found += m.iterations + 1 >= (size_t)steps && m.iterations <= (size_t)steps;
  }
  cr_assert(found >= 295, "%d of 300", found);
}

/* The last of 50 steps prints norms between its parts; a warm-up step has run before. */
Test(dpd_main_programs, the_last_iteration_has_more_in_between) {
  static stream s;
  put_range(&s, 4, 8);
  for (int step = -1; step < 50; step++) {
    put_range(&s, 0, 4);
    if (step == 49) put_range(&s, 20, 23);
    put_range(&s, 4, 8);
    if (step == -1) put_range(&s, 20, 29);
  }
  put_range(&s, 30, 32);
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 50 && found.runs == 1, "%zu", found.iterations);
}

/* What was recorded of a solver in a loop of three and more iterations: the solver ran
 * once before the loop, and makes up most of it. */
Test(dpd_main_programs, an_outer_loop_is_found_after_three_iterations) {
  for (int iterations = 4; iterations <= 15; iterations++) {
    static stream s;
    s.n = 0;
    for (int i = -1; i < iterations; i++) {
      put_range(&s, 0, 2);
      for (int t = 0; t < 25; t++) put_range(&s, 2, 5);
      put(&s, 5, 1);
      put_range(&s, i < 0 ? 20 : 10, i < 0 ? 27 : 15);
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.iterations == (size_t)iterations, "%d: %zu", iterations,
              found.iterations);
  }
}

/* The program prepares itself for a long time, or a thread waits there for a processor:
 * the loop takes a tenth of the time. */
Test(dpd_main_programs, a_short_loop_behind_a_long_start) {
  static stream s;
  put(&s, 50, 10000);
  for (int i = 0; i < 50; i++) put_range(&s, 0, 6);
  tsanom_dpd_main found = find(&s);
  cr_assert(found.anchor == 0 && found.iterations == 50);
}

/* Three regions of a kind in each fifth step are no loop that goes on until the next
 * ones. */
Test(dpd_main_programs, a_loop_does_not_go_on_in_other_events) {
  static stream s;
  for (int i = 0; i < 10; i++) {
    for (int k = 0; k < 3; k++) put(&s, 40, 1);
    put_range(&s, 0, 12);
    put_range(&s, 20, 32);
  }
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 10 && found.places == 25, "%zu of %zu", found.iterations,
            found.places);
}

/* A multigrid cycle: down, level by level, then up; some programs set a vector to zero in
 * each level. */
static void put_cycle(stream *s, int levels, int has_zero) {
  for (int level = levels; level > 1; level--) {
    put(s, 9, 1);
    put_range(s, 3, 5);
  }
  if (has_zero) put(s, 1, 1);
  put(s, 10, 1);
  for (int level = 1; level <= levels; level++) {
    if (level > 1 && level < levels && has_zero) put(s, 1, 1);
    if (level > 1) put_range(s, level < levels ? 12 : 13, 15);
    if (level > 1) put(s, 6, 1);
    if (level > 1) put_range(s, 3, 5);
    put(s, 11, 1);
    put_range(s, 3, 5);
  }
  put(s, 6, 1);
  put_range(s, 3, 5);
}

/* What comes before the first cycle. */
static void put_start(stream *s) {
  put(s, 1, 1);
  put_range(s, 3, 5);
  put(s, 6, 1);
  put_range(s, 3, 5);
  put_range(s, 7, 9);
}

/* The cycle begins with an inner loop that has no kind of its own. A warm-up cycle has
 * run before, and has prepared the right side for longer than all cycles take: it looks like
 * one of them where iterations are counted from the coarsest level. */
Test(dpd_main_programs, cycles_that_begin_with_an_inner_loop) {
  for (int levels = 4; levels <= 9; levels++) {
    for (int cycles = 4; cycles <= 20; cycles += 4) {
      for (int has_zero = 0; has_zero < 2; has_zero++) {
        static stream s;
        s.n = 0;
        for (int i = -1; i < cycles; i++) {
          if (i <= 0) put_start(&s);
          put_cycle(&s, levels, has_zero);
        }
        put_range(&s, 7, 9);
        tsanom_dpd_main found = find(&s);
        cr_assert(
            found.iterations == (size_t)cycles || found.iterations == (size_t)cycles + 1,
            "%d levels, %d: %zu", levels, cycles, found.iterations);
      }
    }
  }
}

/* The program is interrupted for three times as long as all cycles take, anywhere in these. */
Test(dpd_main_programs, an_interruption_does_not_make_levels_iterations) {
  static stream s;
  s.n = 0;
  for (int i = 0; i < 5; i++) {
    if (i < 2) put_start(&s);
    put_cycle(&s, 5, 0);
  }
  put_range(&s, 7, 9);
  for (size_t late = s.n / 5; late < s.n; late++) {
    double seconds = 3 * (double)s.n;
    for (size_t i = late; i < s.n; i++) s.time[i + 1] += seconds;
    tsanom_dpd_main found = find(&s);
    cr_assert(found.iterations == 4 || found.iterations == 5, "%zu: %zu of %zu", late,
              found.iterations, found.anchor);
    for (size_t i = late; i < s.n; i++) s.time[i + 1] -= seconds;
  }
}

/* Each tenth step sorts the particles and builds the lists of neighbors, instead of
 * exchanging particles at the border. If the last step does, it computes the pressure
 * too, by another function. */
static void put_particles(stream *s, int steps) {
  s->n = 0;
  for (int step = 1; step <= steps; step++) {
    put_range(s, 0, 2);
    if (step % 10 == 0) {
      put_range(s, 20, 32);
      for (int k = 0; k < 3; k++) put_range(s, 32, 40);
    } else {
      for (int k = 0; k < 6; k++) put_range(s, 2, 5);
    }
    bool is_other = step == steps && step % 10 == 0;
    put_range(s, is_other ? 40 : 5, is_other ? 43 : 8);
    for (int k = 0; k < 6; k++) put_range(s, 8, 11);
    put_range(s, 11, 14);
  }
}

Test(dpd_main_programs, each_tenth_step_replaces_a_part) {
  static stream s;
  put_particles(&s, 105);
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 105 && found.anchor == 0, "%zu", found.iterations);
}

/* The last step counts if half of it is there, not if only its begin is. */
Test(dpd_main_programs, the_last_step_replaces_a_part) {
  static stream s;
  put_particles(&s, 100);
  size_t end = s.n;
  put_range(&s, 50, 54);
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 100 && found.anchor == 0, "%zu", found.iterations);
  cr_assert(found.end == end, "%zu of %zu", found.end, end);
  while (s.event[s.n - 1] != 0) s.n--;
  cr_assert(find_by(&s, TSANOM_NONE, false).iterations == 99);
  s.n = end;
  cr_assert(find_by(&s, 0, true).iterations == 100);
}

/* A solver that is left in the middle of its tenth iteration, in steps that have as many
 * kinds besides. */
Test(dpd_main_programs, a_solver_that_is_left_in_the_middle) {
  static stream s;
  s.n = 0;
  for (int step = 0; step < 50; step++) {
    put_range(&s, 20, 28);
    put_range(&s, 0, 1);
    for (int i = 0; i < 10; i++) {
      put_range(&s, 0, 6);
      for (int k = 0; k < 3; k++) put(&s, 5, 1);
      if (i < 9) put_range(&s, 6, 8);
    }
  }
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 50, "%zu from %zu", found.iterations, found.anchor);
}

/* Two kinds; the last iteration has the norm in between. */
Test(dpd_main_programs, the_last_of_short_iterations_has_more_in_between) {
  static stream s;
  s.n = 0;
  put_range(&s, 10, 15);
  for (int i = 0; i < 50; i++) {
    put(&s, 0, 1);
    if (i == 49) put(&s, 10, 1);
    put(&s, 1, 1);
  }
  put_range(&s, 10, 15);
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 50, "%zu", found.iterations);
}

/* A program that is busy for long behind its loop: the time until its end is not part of
 * the loop. */
Test(dpd_main_programs, time_behind_the_loop_is_not_in_it) {
  static stream s;
  s.n = 0;
  for (int i = 0; i < 20; i++) {
    for (int t = 0; t < 2; t++) put_range(&s, 0, 3);
    for (int t = 0; t < 3; t++) put_range(&s, 3, 6);
    put_range(&s, 6, 12);
  }
  put_range(&s, 40, 42);
  put(&s, 43, 100);
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 20 && found.covered <= (double)s.n, "%zu, %g",
            found.iterations, found.covered);
}

/* Exchanges with 3 to 8 neighbors by one function, then a computation; a step has up to three of both,
 * whose computations differ. One exchange waits for its neighbor, and of each third program everything
 * now and then for a processor. Every tenth step has a sum over all processes. */
Test(dpd_main_programs, exchanges_with_neighbors_by_one_function) {
  uint64_t seed = 21;
  for (int trial = 0; trial < 600; trial++) {
    static stream s;
    s.n = 0;
    size_t groups = 1 + (size_t)trial / 200, each = random_between(&seed, 3, 8);
    size_t steps = random_between(&seed, groups > 1 ? 20 : 12, 80);
    size_t waits = random_between(&seed, 0, each - 2);
    put_range(&s, 10, 15);
    for (size_t step = 0; step < steps; step++) {
      for (size_t k = 0; k < groups * each; k++) {
        double part = .005 + .001 * (double)random_between(&seed, 0, 10);
        double work = k + 1 == groups * each ? 2 : k + 1 == each ? .7 : 1;
        if ((k + 1) % each == 0) part = work + .01 * (double)random_between(&seed, 0, 50);
        if (k == waits) part += .01 * (double)random_between(&seed, 0, 24);
        if (trial % 3 == 2 && random_between(&seed, 0, 9) == 0) part += .2;
        put(&s, 0, part);
      }
      if (step % 10 == 9) put(&s, 1, .01);
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.anchor == 0 && found.every == groups * each, "%d: %zu of %zu", trial,
              found.every, groups * each);
    cr_assert(found.iterations + 1 >= steps && found.iterations <= steps,
              "%d: %zu of %zu", trial, found.iterations, steps);
    tsanom_dpd_related parts = found.related[found.relations - 1];
    cr_assert(parts.relation == TSANOM_DPD_INSIDE &&
              parts.iterations == steps * groups * each);
  }
}

/* A step has two or three stages, whose last computations differ; a stage begins with a list of what it
 * computes. The loop over stages has more turns than that over steps: it is in that. */
Test(dpd_main_programs, stages_of_a_step_are_in_it) {
  uint64_t seed = 41;
  for (int trial = 0; trial < 300; trial++) {
    static stream s;
    s.n = 0;
    size_t stages = 2 + (size_t)trial % 2, each = random_between(&seed, 6, 10);
    size_t steps = random_between(&seed, 20, 80), in = 0;
    put_range(&s, 10, 15);
    for (size_t step = 0; step < steps; step++) {
      for (size_t k = 0; k < stages * each; k++) {
        bool is_last = (k + 1) % each == 0, ends = k + 1 == stages * each;
        double part = .005 + .001 * (double)random_between(&seed, 0, 10);
        if (is_last) part = (ends ? 2 : 1) + .01 * (double)random_between(&seed, 0, 30);
        if (k % each == 0) put(&s, 1, .001);
        put(&s, 0, part);
      }
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.iterations + 1 >= steps && found.iterations <= steps,
              "%d: %zu of %zu", trial, found.iterations, steps);
    for (size_t i = 0; i < found.relations; i++)
      in +=
          found.related[i].anchor == 1 && found.related[i].relation == TSANOM_DPD_INSIDE;
    cr_assert(in == 1, "%d", trial);
  }
}

/* The same, with up to a third as many sums after each tenth step, one of which was in the setup. The
 * sums are no loop, though there are 7 to 20 of each. */
Test(dpd_main_programs, sums_after_some_steps_with_exchanges) {
  uint64_t seed = 29;
  size_t right = 0;
  enum { TRIALS = 300 };
  for (int trial = 0; trial < TRIALS; trial++) {
    static stream s;
    s.n = 0;
    size_t each = random_between(&seed, 4, 9), prints = random_between(&seed, 7, 20);
    uint32_t sums = (uint32_t)random_between(&seed, 1, each / 3), last = 1 + sums;
    put_range(&s, 10, 15);
    put_range(&s, 1, 2);
    for (size_t step = 0; step < 10 * prints; step++) {
      for (size_t k = 0; k < each; k++) {
        double part = .005 + .001 * (double)random_between(&seed, 0, 10);
        put(&s, 0, k + 1 < each ? part : 1 + .01 * (double)random_between(&seed, 0, 50));
      }
      if (step % 10 == 9) put_range(&s, 1, last);
    }
    tsanom_dpd_main found = find(&s);
    right += found.iterations + 1 >= 10 * prints && found.iterations <= 10 * prints;
  }
  cr_assert(100 * right >= 98 * TRIALS, "%zu of %d", right, TRIALS);
}

/* The setup waits at the barrier of the steps up to four times, with hardly anything between. */
Test(dpd_main_programs, a_setup_with_the_barrier_of_the_steps) {
  uint64_t seed = 37;
  for (int trial = 0; trial < 300; trial++) {
    static stream s;
    s.n = 0;
    size_t steps = random_between(&seed, 12, 60);
    put(&s, 50, 1);
    for (size_t k = random_between(&seed, 1, 4); k > 0; k--) {
      put(&s, 0, 1);
      put_range(&s, 51, 51 + (uint32_t)random_between(&seed, 0, 3));
    }
    for (size_t step = 0; step < steps; step++) {
      put(&s, 0, 1);
      put_range(&s, 1, 3);
      for (uint64_t k = random_between(&seed, 15, 25); k > 0; k--) {
        put_range(&s, 3, 5);
        if (random_between(&seed, 0, 2)) put(&s, 5, 1);
      }
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.iterations + 1 >= steps && found.iterations <= steps + 1,
              "%d: %zu for %zu", trial, found.iterations, steps);
  }
}

/* Cycles over 4 to 8 levels with the same exchange on each, an eighth of the time of the next finer
 * one; down, up, and twice on the finest. */
Test(dpd_main_programs, cycles_over_levels_by_one_function) {
  uint64_t seed = 22;
  for (size_t levels = 4; levels <= 8; levels++) {
    for (size_t cycles = 12; cycles <= 40; cycles += 4) {
      static stream s;
      s.n = 0;
      for (size_t i = 0; i < cycles; i++) {
        for (size_t k = 0; k < 2 * levels; k++) {
          size_t level = k < levels ? k : 2 * levels - 1 - k;
          double scatter = 1 + .01 * (double)random_between(&seed, 0, 30);
          put_range(&s, 0, 2);
          s.time[s.n] += scatter * pow(8, (double)(levels - level));
        }
      }
      tsanom_dpd_main found = find(&s);
      cr_assert(found.every == 2 * levels, "%zu levels: %zu", levels, found.every);
      cr_assert(found.iterations + 1 >= cycles && found.iterations <= cycles, "%zu",
                found.iterations);
    }
  }
}

/* Each tenth step writes a file, which takes as long as 30 steps; and times without a period. */
Test(dpd_main_programs, steps_are_not_grouped_by_their_times) {
  uint64_t seed = 23;
  static stream s;
  s.n = 0;
  for (int step = 0; step < 200; step++) {
    put(&s, 0, 1);
    put(&s, 1, step % 10 == 9 ? 30 : 1 + .01 * (double)random_between(&seed, 0, 20));
  }
  tsanom_dpd_main found = find(&s);
  cr_assert(found.every == 1 && found.iterations == 200, "%zu", found.every);
  s.n = 0;
  for (int step = 0; step < 200; step++) {
    put(&s, 0, exp(.1 * (double)random_between(&seed, 0, 80)));
  }
  found = find(&s);
  cr_assert(found.every == 1 && found.iterations == 200, "%zu", found.every);
}

/* Steps of one kind, on a busy machine: in up to a fifth of them something waits, for up to 20 steps, and
 * each 21st to 60th writes a file. */
Test(dpd_main_programs, steps_of_one_kind_that_wait) {
  enum { TRIALS = 400 };
  uint64_t seed = 43;
  size_t right = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    static stream s;
    s.n = 0;
    size_t steps = random_between(&seed, 50, 600), file = random_between(&seed, 21, 60);
    uint64_t waits = random_between(&seed, 5, 40), most = random_between(&seed, 0, 20);
    for (size_t step = 0; step < steps; step++) {
      double seconds = 1 + .01 * (double)random_between(&seed, 0, 30);
      if (!random_between(&seed, 0, waits - 1)) {
        seconds += (double)random_between(&seed, 0, most);
      }
      put(&s, 0, step % file ? seconds : 30);
    }
    tsanom_dpd_main found = find(&s);
    right += found.iterations == steps;
  }
  cr_assert(100 * right >= 98 * TRIALS, "%zu of %d", right, TRIALS);
}

/* Few steps with a loop in them, behind a start that takes longer than all: it is not known which of the two
 * is the main loop if they take less than a fifth of the time together. */
Test(dpd_main_programs, nested_loops_behind_a_long_start) {
  uint64_t seed = 47;
  for (int trial = 0; trial < 300; trial++) {
    static stream s;
    size_t steps = random_between(&seed, 5, 10), trips = random_between(&seed, 2, 6);
    for (int is_long = 0; is_long < 2; is_long++) {
      s.n = 0;
      double loop = (double)(steps * (5 + 3 * trips));
      put(&s, 50, loop * (is_long ? 4.1 : 3.9));
      for (size_t step = 0; step < steps; step++) {
        put_range(&s, 0, 5);
        for (size_t t = 0; t < trips; t++) put_range(&s, 5, 8);
      }
      tsanom_dpd_main found = find(&s);
      bool is_known = !is_long || steps >= 8;
      cr_assert(found.iterations == (is_known ? steps : 0), "%d: %zu for %zu", trial,
                found.iterations, steps);
      cr_assert(is_known || found.related[0].relation == TSANOM_DPD_CANDIDATE);
    }
  }
}

/* Down to the coarsest level and up again, which have kinds in common: both come in turn too, but each
 * cycle has one turn. */
Test(dpd_main_programs, cycles_down_and_up) {
  uint64_t seed = 71;
  static stream s;
  for (int trial = 0; trial < 300; trial++) {
    size_t cycles = random_between(&seed, 20, 100), levels = random_between(&seed, 3, 8);
    uint32_t down = (uint32_t)random_between(&seed, 1, 4);
    uint32_t up = (uint32_t)random_between(&seed, 1, 4);
    s.n = 0;
    for (size_t cycle = 0; cycle < cycles; cycle++) {
      for (size_t k = 0; k < 2 * levels; k++) {
        if (k == levels) put(&s, 30, 1);
        put_range(&s, k < levels ? 0 : 10, k < levels ? down : 10 + up);
        put_range(&s, 20, 22);
      }
    }
    size_t count = find(&s).iterations;
    cr_assert(count + 1 >= cycles && count <= cycles + 1, "%d: %zu for %zu of %zu levels",
              trial, count, cycles, levels);
  }
}

/* A solver whose setup calls the function with which its iterations begin, between others: what has no
 * inner loop is of the setup. */
Test(dpd_main_programs, a_setup_that_uses_the_first_kind) {
  enum { TRIALS = 300, SETUP = 40 };
  uint64_t seed = 67;
  static stream s;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t uses = random_between(&seed, 1, 25), steps = random_between(&seed, 100, 300);
    s.n = 0;
    for (size_t k = 0; k < uses; k++) {
      for (uint64_t i = random_between(&seed, 0, 4); i > 0; i--) put(&s, SETUP, 1);
      put(&s, 0, 1);
    }
    for (size_t step = 0; step < steps; step++) {
      put(&s, 0, 1);
      for (uint64_t k = random_between(&seed, 2, 5); k > 0; k--) put(&s, 1, 1);
    }
    size_t count = find(&s).iterations;
    cr_assert(count + 1 >= steps && count <= steps + 1, "%d: %zu for %zu behind %zu",
              trial, count, steps, uses);
  }
}

/* A step sweeps in x, then in z, and the next one the other way round; an output comes in about each
 * `every`-th, by simulated time. The output is not the main loop: that is what each sweep has, or
 * else the change of the direction. */
Test(dpd_main_programs, sweeps_in_turn) {
  enum { OUTPUT = 40, COMMON = 30, TRIALS = 300 };
  uint64_t seed = 61;
  static stream s;
  for (int trial = 0; trial < TRIALS; trial++) {
    size_t steps = random_between(&seed, 300, 600), stages = random_between(&seed, 2, 3);
    size_t every = random_between(&seed, 70, 120), next = every;
    size_t x = random_between(&seed, 1, 3), z = random_between(&seed, 1, 3), outputs = 1;
    bool has_common = trial % 2;
    s.n = 0;
    put(&s, OUTPUT, 1);
    for (size_t step = 0; step < steps; step++) {
      for (size_t sweep = 0; sweep < 2 * stages; sweep++) {
        bool is_x = (sweep < stages) == (step % 2 == 0);
        put_range(&s, is_x ? 0 : 10, is_x ? (uint32_t)x : 10 + (uint32_t)z);
        if (has_common) put(&s, COMMON, 1);
      }
      if (step != next) continue;
      put(&s, OUTPUT, 1);
      outputs++;
      next += every + random_between(&seed, 0, 1);
    }
    size_t count = find(&s).iterations, sweeps = 2 * stages * steps;
    bool is_right = has_common ? count == sweeps || count + 1 == sweeps
                               : count >= steps / 2 && count <= steps / 2 + outputs + 1;
    cr_assert(is_right, "%d: %zu for %zu steps of %zu and %zu sweeps, %zu and %zu kinds",
              trial, count, steps, stages, stages, x, z);
  }
}

/* A step consists of two inner loops, and has no kind that comes once. Each 20th replaces one of them,
 * each 50th prints. A part of a step has run before. */
Test(dpd_main_programs, steps_of_inner_loops_alone) {
  static stream s;
  s.n = 0;
  for (int step = 0; step <= 250; step++) {
    if (step % 20 == 0) put_range(&s, 20, 28);
    for (int k = 0; k < 2 && step % 20; k++) put_range(&s, 0, 3);
    for (int k = 0; k < 2; k++) put_range(&s, 3, 6);
    if (step % 50 == 0) put_range(&s, 10, 15);
  }
  tsanom_dpd_main found = find(&s);
  cr_assert(found.anchor == 3 && found.not_after == 5, "%zu, %zu", found.anchor,
            found.not_after);
  cr_assert(found.iterations == 251 || found.iterations == 250, "%zu", found.iterations);
}

/* Few cycles of a multigrid, down to the coarsest level and up again, of regions that all levels
 * share: none begins a cycle, and neither of the two inner loops is the main loop. */
Test(dpd_main_programs, a_few_cycles_of_two_inner_loops) {
  uint64_t seed = 25;
  static stream s;
  for (int trial = 0; trial < 50; trial++) {
    size_t cycles = (size_t)random_between(&seed, 3, 6);
    int levels = (int)random_between(&seed, 5, 8);
    s.n = 0;
    put_range(&s, 10, 10 + (uint32_t)random_between(&seed, 0, 9));
    for (size_t c = 0; c < cycles; c++) {
      for (int k = 0; k < levels; k++) put_range(&s, 0, 2);
      for (int k = 0; k < levels; k++) {
        put_range(&s, 1, 5);
        put(&s, 1, 1);
      }
    }
    tsanom_dpd_main found = find(&s);
    cr_assert(found.iterations <= cycles + 1, "%zu for %zu", found.iterations, cycles);
  }
}

/* A solver's setup exchanges by the same functions for a third of the time, without an order. A
 * first residual comes before the iterations. */
Test(dpd_main_programs, a_solver_behind_its_setup) {
  uint64_t seed = 24;
  static stream s;
  s.n = 0;
  for (int k = 0; k < 100; k++) {
    put_range(&s, 40, 42);
    put_range(&s, 43 + (uint32_t)random_between(&seed, 0, 19), 44);
    put_range(&s, 43 + (uint32_t)random_between(&seed, 0, 19), 44);
  }
  put_range(&s, 0, 6);
  for (int i = 0; i < 20; i++) {
    put_range(&s, 0, 6);
    for (int k = 0; k < 12; k++) {
      put_range(&s, 40, 42);
      put_range(&s, 6, 9);
    }
    put_range(&s, 9, 12);
  }
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations >= 19 && found.iterations <= 21, "%zu from %zu",
            found.iterations, found.anchor);
}

/* A part of a solver's iterations, which may be the first one, comes up to twice more in some of
 * them, to look for a breakdown; other parts come once in the setup. Each comes about as often. */
Test(dpd_main_programs, a_part_is_repeated_in_some_iterations) {
  uint64_t seed = 31;
  int right = 0;
  for (int trial = 0; trial < 300; trial++) {
    static stream s;
    uint32_t size = (uint32_t)random_between(&seed, 4, 10);
    uint32_t repeated = (uint32_t)random_between(&seed, 0, size - 1);
    uint64_t every = random_between(&seed, 25, 100);
    size_t iterations = (size_t)random_between(&seed, 50, 300);
    s.n = 0;
    put_range(&s, 40, 45);
    for (uint32_t k = 0; k < size; k++) {
      if (random_between(&seed, 0, 3) == 0) put(&s, k, 1);
    }
    for (size_t i = 0; i < iterations; i++) {
      put_range(&s, 0, repeated);
      bool is_repeated = random_between(&seed, 1, every) == 1;
      for (int k = 0; k < (is_repeated ? 3 : 1); k++) put(&s, repeated, 1);
      put_range(&s, repeated + 1, size);
    }
    tsanom_dpd_main m = find(&s);
    right += m.iterations + 1 >= iterations && m.iterations <= iterations + 1;
  }
  cr_assert(right >= 297, "%d of 300", right);
}

/* Three of its five kinds ran twice before a loop of five iterations, in another order. */
Test(dpd_main_programs, a_short_loop_whose_kinds_came_before) {
  static stream s;
  s.n = 0;
  for (int k = 0; k < 2; k++) put_range(&s, 1, 6);
  for (int i = 0; i < 5; i++) {
    put(&s, 6, 1);
    for (uint32_t k = 5; k >= 3; k--) put(&s, k, 1);
    put(&s, 7, 1);
  }
  tsanom_dpd_main found = find(&s);
  cr_assert(found.iterations == 5 && found.places == 5, "%zu", found.iterations);
}
