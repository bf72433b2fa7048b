/* SPDX-License-Identifier: BSD-3-Clause */
/* A usual call with few samples skips the preparation of other calls. With an
 * allocator no call is a usual one: status, distance and fault must be the same. */
#include <math.h>
#include <stdalign.h>
#include <string.h>
#include <tsanom/dtw.h>

#include "support/allocator.h"
#include "support/check.h"
#include "support/random.h"

enum { LONGEST = 44, MOST = 3 * LONGEST, MEMORY = 1 << 17, TRIALS = CASES(200000) };

/* The arguments of a call; y may be NULL. */
typedef struct {
  double x[MOST], y[MOST];
  float x32[MOST], y32[MOST];
  size_t n, m;
  tsanom_dtw_options options;
  tsanom_exec exec;
  bool no_options, no_y;
} few;

static alignas(64) char memory[MEMORY];
static const double *const no_tails[1] = {NULL};

static void draw_samples(few *c, uint64_t *seed) {
  uint64_t kind = random_bits(seed) % 3;
  for (int i = 0; i < MOST; i++) {
    double u = random_unit(seed), v = random_unit(seed);
    c->x[i] = kind == 0 ? u * 10 - 5 : kind == 1 ? floor(u * 4) : 1;
    c->y[i] = kind == 0 ? v * 10 - 5 : kind == 1 ? floor(v * 4) : 1;
    c->x32[i] = (float)c->x[i];
    c->y32[i] = (float)c->y[i];
  }
}

static void spoil_sample(few *c, uint64_t *seed) {
  static const double bad[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308};
  size_t at = random_between(seed, 0, LONGEST - 1);
  double value = bad[random_between(seed, 0, 4)];
  bool in_x = random_bits(seed) % 2;
  (in_x ? c->x : c->y)[at] = value;
  (in_x ? c->x32 : c->y32)[at] =
      fabs(value) < INFINITY ? copysignf(3e38F, (float)value) : (float)value;
}

/* One unusual option, valid or not. */
static void change_options(few *c, uint64_t *seed) {
  tsanom_dtw_options *o = &c->options;
  switch (random_between(seed, 0, 15)) {
    case 0:
      o->struct_size = random_between(seed, 0, sizeof *o);
      break;
    case 1:
      o->cutoff = random_unit(seed) * 20 - 1;
      break;
    case 2:
      o->cutoff = NAN;
      break;
    case 3:
      o->tails = no_tails;
      break;
    case 4:
      o->penalty = random_unit(seed) - 0.2;
      break;
    case 5:
      o->open_begin_x = random_between(seed, 1, 4);
      break;
    case 6:
      o->open_begin_y = random_between(seed, 1, 4);
      break;
    case 7:
      o->open_end_x = random_between(seed, 1, 4);
      break;
    case 8:
      o->open_end_y = SIZE_MAX;
      break;
    case 9:
      o->dimensions = random_between(seed, 0, 3);
      break;
    case 10:
      o->stride = random_between(seed, 1, 2);
      break;
    case 11:
      o->cost = (int32_t)random_between(seed, 0, 4) - 1;
      break;
    case 12:
      o->window = (int32_t)random_between(seed, 0, 2);
      break;
    case 13:
      o->path_memory = (int32_t)random_between(seed, 0, 2);
      break;
    case 14:
      o->reserved0 = 1;
      break;
    default:
      o->cutoff = 0;
      break;
  }
}

static void change_exec(few *c, uint64_t *seed) {
  tsanom_exec *e = &c->exec;
  switch (random_between(seed, 0, 4)) {
    case 0:
      e->struct_size = random_between(seed, 0, sizeof *e);
      break;
    case 1:
      e->threads = (int32_t)random_between(seed, 0, 3) - 1;
      break;
    case 2:
      e->work_bytes = random_between(seed, 0, 300);
      break;
    case 3:
      e->work = e->work ? NULL : memory;
      break;
    default:
      e->work = e->work ? (char *)e->work + random_between(seed, 1, 63) : NULL;
  }
}

static few draw(uint64_t *seed) {
  few c = {.n = random_between(seed, 1, LONGEST), .m = random_between(seed, 1, LONGEST)};
  draw_samples(&c, seed);
  tsanom_dtw_options_init(&c.options, sizeof c.options);
  tsanom_exec_init(&c.exec, sizeof c.exec);
  c.options.cost = (int32_t)(random_bits(seed) % 2);
  c.no_options = random_bits(seed) % 8 == 0;
  if (random_bits(seed) % 2) c.options.radius = random_between(seed, 0, LONGEST);
  if (random_bits(seed) % 2) {
    c.exec.work = memory;
    c.exec.work_bytes = MEMORY - 64;
  }
  if (random_bits(seed) % 8 == 0) spoil_sample(&c, seed);
  if (random_bits(seed) % 16 == 0) c.n = 0;
  if (random_bits(seed) % 16 == 0) c.no_y = true;
  for (uint64_t k = random_bits(seed) % 4; k < 3; k++) change_options(&c, seed);
  if (random_bits(seed) % 4 == 0) change_exec(&c, seed);
  return c;
}

/* What a call returns. */
typedef struct {
  tsanom_status status, status32;
  double distance;
  float distance32;
  tsanom_fault fault;
} answer;

static answer answer_of(const few *c, test_allocator *allocator) {
  answer a;
  memset(&a, 0x40, sizeof a);
  a.fault = (tsanom_fault){.struct_size = sizeof a.fault};
  tsanom_exec e = c->exec;
  if (allocator) {
    const tsanom_exec counted = test_exec(allocator);
    e.alloc = counted.alloc;
    e.dealloc = counted.dealloc;
    e.alloc_user = counted.alloc_user;
  }
  e.fault = &a.fault;
  const tsanom_dtw_options *o = c->no_options ? NULL : &c->options;
  a.status32 = tsanom_dtw_distance_f32(c->x32, c->n, c->no_y ? NULL : c->y32, c->m, o, &e,
                                       &a.distance32);
  a.status =
      tsanom_dtw_distance(c->x, c->n, c->no_y ? NULL : c->y, c->m, o, &e, &a.distance);
  return a;
}

Test(dtw_few, a_usual_call_returns_what_any_other_call_returns) {
  uint64_t seed = 71;
  size_t accepted = 0;
  test_allocator allocator = {0};
  for (int trial = 0; trial < TRIALS; trial++) {
    few c = draw(&seed);
    answer usual = answer_of(&c, NULL), other = answer_of(&c, &allocator);
    cr_assert(usual.status == other.status && usual.status32 == other.status32,
              "trial %d: %s, not %s", trial, tsanom_status_name(usual.status),
              tsanom_status_name(other.status));
    cr_assert(usual.distance == other.distance && usual.distance32 == other.distance32,
              "trial %d: %.17g, not %.17g", trial, usual.distance, other.distance);
    cr_assert(memcmp(&usual.fault, &other.fault, sizeof usual.fault) == 0,
              "trial %d: %s, not %s", trial, usual.fault.text, other.fault.text);
    accepted += usual.status == TSANOM_OK;
  }
  cr_assert(allocator.calls > TRIALS / 4 && allocator.live == 0);
  cr_assert(accepted > TRIALS / 4 && accepted < TRIALS - TRIALS / 4, "%zu", accepted);
}
