/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of ends of N-grams beside a list of all of them. */
#include <tsanom/dpd.h>

#include "dpd/dpd_ends.h"
#include "support/check.h"
#include "support/isa.h"
#include "support/random.h"

enum { STEPS = 4000, BYTES = 4096 };

typedef struct {
  uint64_t number, hash;
} end;

static uint32_t naive_distance(const end *known, size_t count, uint64_t hash,
                               uint64_t now, uint32_t least, size_t max_period) {
  for (size_t k = count; k-- > 0;) {
    uint64_t age = now - known[k].number;
    if (known[k].hash == hash && age > least && age <= max_period) return (uint32_t)age;
  }
  return 0;
}

/* Every distance of the hash; those of other hashes with its bucket and tag may occur
 * between them. */
static void check_distances(const tsn_ends *ends, const end *known, size_t count,
                            uint64_t hash, uint64_t now) {
  uint32_t naive = 0, found = 0;
  for (;;) {
    naive = naive_distance(known, count, hash, now, naive, ends->max_period);
    if (naive == 0) break;
    do {
      found = tsn_ends_distance(ends, hash, now, found);
      cr_assert(found != 0, "distance %u of %zu is not found", naive, (size_t)now);
    } while (found < naive);
    cr_assert(found == naive);
  }
  do {
    uint32_t before = found;
    found = tsn_ends_distance(ends, hash, now, found);
    cr_assert(found == 0 || (found > before && found <= ends->max_period));
  } while (found);
}

/* Few buckets and few tags: most buckets are crowded. */
static uint64_t random_hash(uint64_t *seed, uint64_t spread) {
  uint64_t high = random_bits(seed) % spread << 29 << 28;
  return (high + random_bits(seed) % (40 * spread)) % ((UINT64_C(1) << 61) - 1);
}

static void follow_stream(const tsn_ends_kernels *kernels, size_t max_period,
                          uint64_t seed) {
  static _Alignas(64) unsigned char memory[BYTES];
  static end known[STEPS];
  tsn_arena arena = {.base = memory, .capacity = BYTES};
  tsn_ends ends;
  uint64_t now = random_bits(&seed) % (UINT64_C(1) << 40);
  uint64_t spread = 1 + random_bits(&seed) % 16;
  tsn_ends_layout(&arena, max_period, &ends);
  tsn_ends_clear(&ends, now, max_period);
  for (size_t count = 0; count < STEPS;) {
    uint64_t hash[TSN_ENDS_AT_ONCE];
    size_t most = 1 + random_bits(&seed) % TSN_ENDS_AT_ONCE;
    for (size_t i = 0; i < most; i++) hash[i] = random_hash(&seed, spread);
    size_t taken = kernels->insert_new(&ends, hash, most, now);
    for (size_t i = 0; i <= taken && i < most && count < STEPS; i++, now++) {
      if (i == taken) {
        check_distances(&ends, known, count, hash[i], now);
        tsn_ends_insert(&ends, hash[i], now);
      } else {
        cr_assert(!naive_distance(known, count, hash[i], now, 0, max_period),
                  "%zu of %zu events before is new", i, taken);
      }
      known[count++] = (end){now, hash[i]};
    }
    if (random_bits(&seed) % 8 == 0) now += random_bits(&seed) % (3 * max_period);
    if (random_bits(&seed) % 64 == 0) now += random_bits(&seed) % (UINT64_C(1) << 33);
  }
}

Test(dpd_ends, finds_what_a_list_contains) {
  const size_t max_period[] = {1, 2, 7, 8, 9, 30, 64, 100, 400};
  FOR_EACH_ISA (isa) {
    for (size_t k = 0; k < sizeof max_period / sizeof *max_period; k++) {
      for (uint64_t seed = 1; seed <= 10; seed++) {
        follow_stream(tsn_ends_kernels_at(isa), max_period[k], seed);
      }
    }
  }
}

/* Iterations of random length, with breaks, between random events. */
static void make_stream(uint64_t *event, size_t count, uint64_t *seed) {
  for (size_t i = 0; i < count;) {
    size_t period = 1 + random_bits(seed) % (random_bits(seed) % 2 ? 16000 : 100);
    size_t length = random_bits(seed) % 60000, from = i;
    for (size_t k = 0; k < length && i < count; k++, i++) {
      bool is_new = k < period || random_bits(seed) % 50000 == 0;
      event[i] = is_new ? random_bits(seed) % 1000 : event[i - period];
    }
    if (i == from) event[i++] = 0;
  }
}

/* Periods up to 16384 are looked up in lists, longer ones in buckets. */
Test(dpd_ends, long_windows_report_the_same_in_lists_and_buckets) {
  enum { EVENTS = 1000000, WINDOW = 17000, SHORT = 16000 };
  static uint64_t event[EVENTS];
  static size_t periods[2][EVENTS];
  uint64_t seed = 1;
  make_stream(event, EVENTS, &seed);
  FOR_EACH_ISA (isa) {
    tsanom_exec exec;
    tsanom_exec_init(&exec, sizeof exec);
    exec.isa = isa;
    for (int k = 0; k < 2; k++) {
      tsanom_dpd_event_options options;
      tsanom_dpd_event *detector = NULL;
      tsanom_dpd_event_options_init(&options, sizeof options);
      options.window = WINDOW;
      options.max_period = k ? WINDOW : SHORT;
      CHECK_STATUS(tsanom_dpd_event_create(&options, &exec, &detector), TSANOM_OK);
      size_t half = EVENTS / 2;
      tsanom_dpd_event_push_many(detector, event, half, periods[k], NULL);
      tsanom_dpd_event_resize(detector, SHORT);
      tsanom_dpd_event_push_many(detector, event + half, half, periods[k] + half, NULL);
      tsanom_dpd_event_destroy(detector);
    }
    size_t found = 0;
    for (size_t i = 0; i < EVENTS; i++) {
      size_t expected = periods[1][i] <= SHORT ? periods[1][i] : 0;
      cr_assert(periods[0][i] == expected, "event %zu: %zu, not %zu", i, periods[0][i],
                expected);
      found += expected > 100;
    }
    cr_assert(found > EVENTS / 20, "%zu", found);
  }
}
