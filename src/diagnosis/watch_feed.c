/* SPDX-License-Identifier: BSD-3-Clause */
/* What a watch keeps of beats and vital signs, whose number has no bound.
 *
 *   beats     the latest ones; and how many intervals are of each length, in bins of
 *             equal width in the logarithm, from 2^-30 s on
 *   samples   each stride-th, and the latest. When all places are taken, each second one
 *             is dropped, and the stride doubles:
 *
 *                 0 1 2 3 4 5 6 7     ->     0 2 4 6  then  0 2 4 6 8
 *
 *             Numbers of samples add up, so that dropping one loses no amount. A number
 *             that is not known in the sample behind a dropped one is taken from that. */
#include <math.h>
#include <string.h>

#include "core/size.h"
#include "diagnosis/watch.h"

enum { PARTS_BITS = 5, MANTISSA_BITS = 52, LEAST_EXPONENT = -30, EXPONENT_BIAS = 1023 };

static const uint64_t first_bin = (uint64_t)(LEAST_EXPONENT + EXPONENT_BIAS)
                                  << PARTS_BITS;

/* The bits of an interval begin with its exponent and the first bits of its mantissa. */
static size_t bin_of(double interval) {
  uint64_t bits;
  memcpy(&bits, &interval, sizeof bits);
  uint64_t bin = bits >> (MANTISSA_BITS - PARTS_BITS);
  if (bin < first_bin) return 0;
  return tsn_smaller((size_t)(bin - first_bin), TSN_WATCH_BINS - 1);
}

double tsn_watch_quartile(const tsn_watch_thread *t) {
  uint64_t rank = (t->pulse.beats - 2) / 4, bits;
  size_t bin = t->first_bin;
  while (rank >= t->bins[bin]) rank -= t->bins[bin++];
  bits = (first_bin + bin) << (MANTISSA_BITS - PARTS_BITS);
  double low;
  memcpy(&low, &bits, sizeof low);
  bits += UINT64_C(1) << (MANTISSA_BITS - PARTS_BITS);
  double high;
  memcpy(&high, &bits, sizeof high);
  return low + (high - low) / 2;
}

/* ---- samples */

static void take(double *number, double earlier) {
  if (isnan(*number)) *number = earlier;
}

static void merge(tsanom_hsa_vital *v, const tsanom_hsa_vital *dropped) {
  if (v->task != dropped->task) return;
  take(&v->cpu_s, dropped->cpu_s);
  take(&v->wait_s, dropped->wait_s);
  take(&v->minor_faults, dropped->minor_faults);
  take(&v->major_faults, dropped->major_faults);
  take(&v->anonymous, dropped->anonymous);
}

static void thin(tsn_watch_samples *s) {
  for (size_t i = 1; 2 * i < s->count; i++) {
    tsanom_hsa_vital kept = s->kept[2 * i];
    merge(&kept, &s->kept[2 * i - 1]);
    s->kept[i] = kept;
  }
  s->count /= 2;
  s->stride *= 2;
}

static void add_sample(tsn_watch_samples *s, const tsanom_hsa_vital *sample) {
  tsanom_hsa_vital v = *sample;
  if (s->seen && (s->seen - 1) % s->stride) {
    merge(&v, &s->kept[--s->count]);
  } else if (s->count == TSANOM_HSA_WATCH_SAMPLES) {
    merge(&v, &s->kept[s->count - 1]);
    thin(s);
  }
  s->kept[s->count++] = v;
  s->seen++;
}

/* ---- beats */

size_t tsn_watch_busiest(const tsanom_hsa_watch *w) {
  size_t busiest = 0;
  for (size_t t = 1; t < w->threads; t++) {
    if (w->thread[t].pulse.beats > w->thread[busiest].pulse.beats) busiest = t;
  }
  return busiest;
}

static void add_interval(tsn_watch_thread *t, double interval) {
  size_t bin = bin_of(interval);
  t->bins[bin]++;
  t->first_bin = tsn_smaller(t->first_bin, bin);
}

/* A clock that was measured again may set a beat before the last one. */
static void add_beats(tsn_watch_thread *t, const tsanom_hsa_series *s) {
  double last = t->pulse.last;
  for (size_t i = 0; i < s->beats; i++) {
    double time = fmax(s->time[i], last);
    if (t->pulse.beats) add_interval(t, time - last);
    t->ring[t->pulse.beats++ % TSN_WATCH_RING] = time;
    last = time;
  }
  t->pulse.last = last;
}

static void set_rate(tsn_watch_thread *t) {
  size_t window = TSANOM_HSA_WATCH_RATE_BEATS;
  if (t->pulse.beats <= window) window = (size_t)t->pulse.beats - 1;
  double taken = t->pulse.last - tsn_watch_beat(t, window);
  t->pulse.rate = taken > 0 ? (double)window / taken : NAN;
}

/* Beats of the busiest thread until a time that is not before this piece. */
static uint64_t beats_until(const tsanom_hsa_watch *w, const tsanom_hsa_run *news,
                            size_t busiest, double time) {
  uint64_t beats = w->thread[busiest].pulse.beats;
  if (busiest >= news->thread_count) return beats;
  const tsanom_hsa_series *s = &news->threads[busiest];
  return beats - s->beats + tsn_hsa_beats_until(s, time);
}

void tsn_watch_feed(tsanom_hsa_watch *w, const tsanom_hsa_run *news) {
  w->threads = tsn_larger(w->threads, news->thread_count);
  w->start = news->start;
  for (size_t t = 0; t < news->thread_count; t++) {
    const tsanom_hsa_series *s = &news->threads[t];
    for (size_t i = 0; i < s->vital_count; i++) {
      add_sample(&w->thread[t].vital, &s->vital[i]);
    }
    tsn_watch_add_costs(&w->thread[t].cost, s);
    if (!s->beats) continue;
    w->first = fmin(w->first, s->time[0]);
    w->last = fmax(w->last, s->time[s->beats - 1]);
    add_beats(&w->thread[t], s);
    set_rate(&w->thread[t]);
  }
  size_t busiest = tsn_watch_busiest(w);
  for (size_t t = 0; t < news->thread_count; t++) {
    if (!news->threads[t].beats) continue;
    w->thread[t].behind = beats_until(w, news, busiest, w->thread[t].pulse.last);
  }
  for (size_t i = 0; i < news->vital_count; i++) {
    tsanom_hsa_vital v = news->vital[i];
    v.beats = beats_until(w, news, busiest, v.time);
    add_sample(&w->vital, &v);
  }
  w->now = news->end > 0 ? news->end : fmax(w->now, w->last);
}
