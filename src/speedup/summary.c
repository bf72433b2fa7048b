/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop whose iterations are known: the statistics of loop.c, and a prediction with an
 * interval. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/chance.h"
#include "core/environment.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/size.h"
#include "core/sort.h"
#include "speedup/speedup.h"

/* The mean of the next H values of a series of n that varies as it did.
 *
 *   x[t] = mean + a[t] + w[t],   a[t+1] = phi a[t] + ...,   w white
 *
 * Each of 90 models has another phi, -0.997 to 0.987, and share of w in the variance. With
 * flat priors on the mean and on the logarithm of the deviation, the mean of the next H
 * has exactly Student's distribution with n - 1 degrees of freedom; its location and scale
 * follow from a Kalman filter (A. C. Harvey, Forecasting, Structural Time Series Models
 * and the Kalman Filter, 3.4). The interval is that of the mixture, weighted by the
 * likelihoods: the data decide how much the past is remembered, and where they cannot, it
 * is wide. A line is added to all models if that is 20 times as likely.
 *
 * Long iterations, such as those that write a file, are counted apart. Their number among
 * H more is negative binomial: Poisson of a rate with Jeffreys' prior.
 *
 * What did not happen yet is not covered: a drift that is too slow to be seen, another
 * load of the machine, and long iterations of which fewer than about 5 are known. */
enum { TSN_FORECAST_MOST = 400 /* values; more are given as means of some */ };

typedef struct {
  double value[TSN_FORECAST_MOST]; /* without long ones */
  size_t count;                    /* of values */
  double each;                     /* iterations of a value */
  double number;                   /* of iterations known */
  double longs, size, deviation;   /* long iterations: number, mean and deviation of what
                                      each adds */
  double between;                  /* deviation of the time between runs to come */
} tsn_forecast;

enum { MODELS = 90, PHIS = 30, COUNTS = 16, STEPS = 48, LEAST = 20 };

/* phi in equal steps of its inverse hyperbolic tangent: flat in phi, the interval of a
 * series of memory 0.9 was too narrow. */
static const double first_phi = -3.2, step_phi = .2;
static const double whites[] = {0, .1, .5}, odds[] = {.45, .45, .1};
/* Odds that show a line. */
static const double line_odds = 20;
/* With fewer than 100 values the memory is not known well: the scale is larger by up to
 * this over their number, without which series of memory 0.9 had 88 % at 20. */
static const double unsure_memory = 8, enough_values = 100;
/* An interval of more than this ratio is of no use. */
static const double factor_most = 2;
/* What a model weighs at least, relative to the heaviest. */
static const double weight_least = 1e-4;
/* Numbers of long iterations are summed up one by one from a chance of at least this for none, and if
 * about this many are expected at most. */
static const double term_least = 1e-250, sum_most = 1e5;

typedef struct {
  double location, scale, weight; /* the logarithm of the weight first */
  double likelihood;              /* the largest of this model, its logarithm */
} model;

typedef struct {
  model of[MODELS];
  double freedom, likelihood;
} mixture;

/* Sums over the innovations of the series (0), of 1 (1) and of t (2), and the state
 * behind the last. */
typedef struct {
  double product[3][3], state[3], variance, determinant;
} filtered;

static filtered filter(const tsn_forecast *s, double phi, double white, double mean) {
  filtered f = {.variance = 1 - white};
  double n = (double)s->count;
  for (size_t i = 0; i < s->count; i++) {
    double scale = f.variance + white, gain = phi * f.variance / scale, off[3];
    double column[] = {s->value[i] - mean, 1, ((double)i - (n - 1) / 2) / n};
    for (int c = 0; c < 3; c++) {
      off[c] = column[c] - f.state[c];
      f.state[c] = phi * f.state[c] + gain * off[c];
    }
    for (int c = 0; c < 3; c++) {
      for (int d = 0; d < 3; d++) f.product[c][d] += off[c] * off[d] / scale;
    }
    f.determinant -= log(scale) / 2;
    f.variance =
        phi * phi * f.variance * (1 - f.variance / scale) + (1 - phi * phi) * (1 - white);
  }
  return f;
}

/* What one model says of the next `ahead` values. */
static model fit(const tsn_forecast *s, double phi, double white, bool line, double ahead,
                 double mean) {
  filtered f = filter(s, phi, white, mean);
  double n = (double)s->count, h = fmax(1, round(ahead)), power = pow(phi, h - 1);
  double last = (1 - power * phi) / (1 - phi) / h, a = f.product[1][1],
         b = f.product[1][2], c = f.product[2][2], coefficient[2], inverse[3];
  double determinant = line ? a * c - b * b : a;
  inverse[0] = line ? c / determinant : 1 / a;
  inverse[1] = line ? -b / determinant : 0;
  inverse[2] = line ? a / determinant : 0;
  coefficient[0] = inverse[0] * f.product[0][1] + inverse[1] * f.product[0][2];
  coefficient[1] = inverse[1] * f.product[0][1] + inverse[2] * f.product[0][2];
  double rss = f.product[0][0] - coefficient[0] * f.product[0][1] -
               coefficient[1] * f.product[0][2];
  rss = fmax(rss, 1e-28 * mean * mean * n);
  double g0 = 1 - last * f.state[1], g1 = line ? .5 + h / 2 / n - last * f.state[2] : 0;
  double steps = (h - 1 - 2 * phi * (1 - power) / (1 - phi) +
                  phi * phi * (1 - power * power) / (1 - phi * phi)) /
                 ((1 - phi) * (1 - phi));
  double future = f.variance * last * last +
                  steps * (1 - phi * phi) * (1 - white) / (h * h) + white / ahead;
  double unsure = g0 * g0 * inverse[0] + 2 * g0 * g1 * inverse[1] + g1 * g1 * inverse[2];
  double freedom = n - (line ? 2 : 1);
  double wider = fmax(1, 1 + unsure_memory * (1 / n - 1 / enough_values));
  return (model){
      .location = mean + coefficient[0] * g0 + coefficient[1] * g1 + last * f.state[0],
      .scale = wider * sqrt(rss / freedom * (future + unsure)),
      .weight = f.determinant - log(determinant) / 2 - freedom / 2 * log(rss),
      .likelihood = f.determinant - n / 2 * log(rss)};
}

static mixture mix(const tsn_forecast *s, bool line, double ahead) {
  mixture m = {.freedom = (double)s->count - (line ? 2 : 1), .likelihood = -INFINITY};
  double mean = 0, heaviest = -INFINITY, sum = 0;
  for (size_t i = 0; i < s->count; i++) mean += s->value[i] / (double)s->count;
  for (int k = 0; k < MODELS; k++) {
    double phi = tanh(first_phi + step_phi * (k % PHIS));
    m.of[k] = fit(s, phi, whites[k / PHIS], line, ahead, mean);
    m.of[k].weight += log(odds[k / PHIS]);
    heaviest = fmax(heaviest, m.of[k].weight);
    m.likelihood = fmax(m.likelihood, m.of[k].likelihood);
  }
  for (int k = 0; k < MODELS; k++) {
    double weight = exp(m.of[k].weight - heaviest);
    m.of[k].weight = weight < weight_least ? 0 : weight;
    sum += m.of[k].weight;
  }
  for (int k = 0; k < MODELS; k++) m.of[k].weight /= sum;
  return m;
}

/* P(T <= t); the normal approximation is exact to 1e-4 above 30 degrees of freedom. */
static double student_below(double t, double freedom) {
  if (freedom <= 30) return 1 - tsn_student_tail(t, freedom);
  double z = t * (1 - 1 / (4 * freedom)) / sqrt(1 + t * t / (2 * freedom));
  return erfc(-z * M_SQRT1_2) / 2;
}

/* The quantile of the number of long iterations to come where these are many: it is a gamma variate
 * then, the cube of a normal one (Wilson and Hilferty). */
static double many_longs(double size, double chance, double share) {
  double mean = size * (1 - chance) / chance, variance = 1 / (size * (1 - chance)) / 9;
  double far = tsn_student_quantile(fmin(share, 1 - share), 1e9);
  double root = 1 - variance + (share < .5 ? -far : far) * sqrt(variance);
  return mean * pow(fmax(0, root), 3);
}

/* Numbers of long iterations to come, COUNTS of equal chance. */
static int count_longs(const tsn_forecast *s, double left, double count[COUNTS]) {
  count[0] = 0;
  if (!(s->longs > 0)) return 1;
  double size = s->longs + .5, chance = s->number / (s->number + left);
  double term = pow(chance, size), sum = term, k = 0;
  bool are_many = term < term_least || size * (1 - chance) > sum_most * chance;
  for (int i = 0; i < COUNTS; i++) {
    double share = (i + .5) / COUNTS;
    while (!are_many && sum < share) {
      term *= (1 - chance) * (size + k) / (k + 1);
      sum += term;
      k++;
    }
    count[i] = are_many ? many_longs(size, chance, share) : k;
  }
  return COUNTS;
}

/* Chance that the mean is at most q. */
static double below(const tsn_forecast *s, const mixture *m, const double *count,
                    int counts, double left, double q) {
  double sum = 0;
  for (int k = 0; k < MODELS; k++) {
    const model *own = &m->of[k];
    if (!(own->weight > 0)) continue;
    for (int i = 0; i < counts; i++) {
      double extra = count[i] * s->size / left, spread = 0;
      if (count[i] > 0) {
        spread = s->deviation * sqrt(count[i] + count[i] * count[i] / s->longs) / left;
      }
      double apart = s->between / left;
      double scale = sqrt(own->scale * own->scale + spread * spread + apart * apart);
      double t = (q - own->location - extra) / fmax(scale, 1e-300);
      sum += own->weight / counts * student_below(t, m->freedom);
    }
  }
  return sum;
}

/* Limits, with 95 %, of the mean of the next `left` iterations. Returns false for fewer
 * than 20 values. */
__attribute__((noinline)) static bool forecast_limits(const tsn_forecast *s, double left,
                                                      double *low, double *high) {
  if (s->count < LEAST) return false;
  double ahead = left / s->each, count[COUNTS], limit[2];
  mixture m = mix(s, false, ahead);
  mixture line = mix(s, true, ahead);
  double shown = line.likelihood - m.likelihood - log((double)s->count) / 2;
  if (shown > log(line_odds)) m = line;
  int counts = count_longs(s, left, count);
  double least = INFINITY, most = -INFINITY;
  for (int k = 0; k < MODELS; k++) {
    double reach = 400 * (m.of[k].scale + s->between / left);
    if (!(m.of[k].weight > 0)) continue;
    least = fmin(least, m.of[k].location - reach);
    most = fmax(most, m.of[k].location + reach + count[counts - 1] * 40 * s->size / left);
  }
  for (int side = 0; side < 2; side++) {
    double from = least, to = most;
    for (int step = 0; step < STEPS; step++) {
      double middle = (from + to) / 2;
      if (below(s, &m, count, counts, left, middle) < (side ? .975 : .025)) {
        from = middle;
      } else {
        to = middle;
      }
    }
    limit[side] = (from + to) / 2;
  }
  *low = limit[0];
  *high = limit[1];
  return true;
}

/* What a prediction needs of an iteration. */
typedef struct {
  double seconds;
  float behind; /* of these, those behind the last event */
  int32_t threads;
} measure;

/* Events, in one array or in pieces that are read once, in order. */
typedef struct {
  tsanom_exec exec;
  const tsanom_speedup_event *event; /* number `first` and on */
  size_t first, end, count;
  double latest; /* the end of the event before `end` */
  size_t (*next)(void *user, const tsanom_speedup_event **events);
  void *user;
  tsanom_status status; /* of the first failure */
} source;

/* Iterations of an array are measured again whenever they are needed; those of pieces are
 * kept. */
typedef struct {
  source *in;
  const tsanom_dpd_iteration *iteration;
  size_t iterations;
  measure *kept; /* NULL: they are measured again */
  tsanom_speedup_options options;
  tsn_loop loop;
  double between_squares; /* of the times between runs */
} summary;

static tsanom_status take_piece(source *in) {
  const tsanom_speedup_event *piece = NULL;
  size_t more = in->next ? in->next(in->user, &piece) : 0, left = in->count - in->end;
  if (!more || !piece) {
    return tsn_reject_is(&in->exec, TSANOM_E_COUNT, "count", TSANOM_NONE,
                         "%zu; options.next has %zu events", in->count, in->end);
  }
  if (more > left) more = left;
  tsanom_status status =
      tsn_speedup_check_all(&in->exec, piece, in->end, more, in->latest);
  if (status < 0) return status;
  in->event = piece;
  in->first = in->end;
  in->end += more;
  in->latest = piece[more - 1].end;
  return TSANOM_OK;
}

/* An event that is not before the piece of the latest call; NULL: after a failure. */
static const tsanom_speedup_event *event_at(source *in, size_t index) {
  while (index >= in->end && in->status == TSANOM_OK) in->status = take_piece(in);
  return in->status == TSANOM_OK ? &in->event[index - in->first] : NULL;
}

static size_t events_of(const tsanom_dpd_iteration *iteration) {
  return iteration->end - iteration->first;
}

/* Iteration i, when it ends, and the seconds behind its last event. False: events are
 * missing, or one is invalid. */
static bool read_iteration(const summary *s, size_t i, tsanom_speedup_iteration *made,
                           double *ended, double *behind) {
  const tsanom_dpd_iteration *place = &s->iteration[i];
  bool goes_on = i + 1 < s->iterations && s->iteration[i + 1].first == place->end;
  *made = (tsanom_speedup_iteration){
      .start = s->loop.start, .period = events_of(place), .number = i, .threads = 1};
  for (size_t e = place->first; e < place->end + goes_on; e++) {
    const tsanom_speedup_event *event = event_at(s->in, e);
    if (!event) return false;
    if (e == place->first) made->begin = event->begin;
    *behind = e < place->end ? 0 : event->begin - *ended;
    *ended = e < place->end ? event->end : event->begin;
    if (e == place->end) break;
    made->parallel += event->end - event->begin;
    if (event->threads > made->threads) made->threads = event->threads;
  }
  made->seconds = *ended - made->begin;
  return true;
}

static measure measure_of(const summary *s, size_t i) {
  if (s->kept) return s->kept[i];
  tsanom_speedup_iteration made;
  double ended, behind;
  (void)read_iteration(s, i, &made, &ended, &behind);
  return (measure){made.seconds, (float)behind, made.threads};
}

/* What the missing iterations of a loop are expected to take, with an interval.
 *
 *   iteration  |warm-up      |1    |2    |3    | ... |n    |      N - n to come
 *   seconds    ..............x_1   x_2   x_3         x_n          forecast_limits(): mean
 *
 * The interval is that of stationary iterations, which may depend on earlier ones, and
 * among which long ones are rare events of their own (forecast_limits()). It is "unknown" if its
 * longest remaining time is more than twice the shortest. If a line explains 4/5 of the
 * variance of the means of 8 parts, and changes by a tenth, iterations drift: no constant
 * describes them, and the end is not known.
 *
 * The mean limits outliers, because an interruption at the start need not come again; the
 * interval does not, because it may. But three kinds of outliers do come again:
 *
 * - The program's own work. An iteration that has c times the usual number of regions may
 *   take c times as long as another one before it is limited.
 * - A cycle: each K-th iteration is an outlier, and there are three such without an
 *   exception. They are not limited, and what each adds is expected as often as its turn
 *   comes before the end (by_cycles()).
 * - What at least half of the parts have: short iterations on a machine that others use
 *   are interrupted all the time. Then what the limit took away is added, of each part at
 *   most three times the median. For six workloads on such a machine, the predictions
 *   after a quarter were off by 26 % in the mean, nearly all too early, and by 9 % with
 *   this addition. */

enum { PARTS_MOST = 8, PARTS_LEAST = 4, PARTS_OF_LINE = 5 };

/* A drift: the line explains this share of the variance, and changes by this part of the
 * mean. */
static const double line_least = 0.8, drift_least = 0.1;

/* Of what outliers add, a part counts at most this multiple of the median. */
static const double excess_most = 3;

/* A long iteration takes this multiple of the median, and as many robust deviations
 * more, which normal iterations exceed by 1e-9. */
static const double long_medians = 3, long_deviations = 6;

/* The deviation of normal iterations is this multiple of the median of theirs. */
static const double normal_deviation = 1.4826;

/* The limits need many iterations: of the first, one in this number is left out. */
enum { WARM_UP = 10 };

/* A cycle is at least this many outliers; it is looked for in the gaps before that many
 * of the latest. */
enum { CYCLE_LEAST = 3, CYCLE_TRIALS = 8 };

/* The iterations on which a prediction is based: the typical ones of [first, end). */
typedef struct {
  const summary *summary;
  double most; /* longer ones are outliers */
  size_t first, end;
  uint64_t typical, used;
  size_t cycle, phase; /* those of number phase modulo cycle are; 0: no cycle */
} basis;

/* The means of parts of the iterations, with outliers limited and as they are. */
typedef struct {
  size_t count;
  double limited[PARTS_MOST], whole[PARTS_MOST];
} part_means;

/* Whether an iteration shows what the missing ones will take: it ran with the current
 * threads, and the serial code behind its last region is in it. */
static bool is_typical(const summary *s, size_t i, double *seconds) {
  measure iteration = measure_of(s, i);
  *seconds = iteration.seconds;
  return iteration.threads == s->loop.current_threads && i + 1 < s->iterations &&
         s->iteration[i + 1].first == s->iteration[i].end;
}

static bool is_outlier(const basis *b, size_t i) {
  double seconds;
  return is_typical(b->summary, i, &seconds) && seconds > b->most;
}

/* Whether iteration i and all that are a multiple of `cycle` from it are outliers. */
static bool recurs(const basis *b, size_t i, size_t cycle) {
  size_t count = 0, at = b->first + (i - b->first) % cycle;
  for (; at < b->end && is_outlier(b, at); at += cycle) count++;
  return at >= b->end && count >= CYCLE_LEAST;
}

static void find_cycle(basis *b) {
  size_t later = 0, trials = 0; /* `later`: the outlier behind, 0: none */
  for (size_t i = b->end; i > b->first && trials < CYCLE_TRIALS && !b->cycle; i--) {
    if (!is_outlier(b, i - 1)) continue;
    if (later && recurs(b, i - 1, later - (i - 1))) {
      b->cycle = later - (i - 1);
      b->phase = (i - 1) % b->cycle;
    }
    trials += later != 0;
    later = i - 1;
  }
}

/* Exclude the first typical ones. */
static void exclude(basis *b, uint64_t typical, uint64_t excluded) {
  double seconds;
  b->used = typical - excluded;
  for (b->first = 0; excluded; b->first++) {
    excluded -= is_typical(b->summary, b->first, &seconds);
  }
}

/* False: there is no typical iteration. */
static bool find_basis(const summary *s, basis *b) {
  double seconds;
  uint64_t typical = 0;
  *b = (basis){.summary = s};
  for (size_t i = 0; i < s->iterations; i++) {
    if (!is_typical(s, i, &seconds)) continue;
    typical++;
    b->end = i + 1;
  }
  if (typical == 0) return false;
  b->most = TSN_OUTLIER * tsn_times_median(tsn_loop_current(&s->loop));
  exclude(b, typical, tsn_excluded(typical));
  b->typical = typical;
  find_cycle(b);
  return true;
}

static bool in_cycle(const basis *b, size_t i) {
  return b->cycle && i % b->cycle == b->phase;
}

/* What an iteration counts in the mean. */
static double counted(const basis *b, size_t i, double seconds) {
  const tsanom_dpd_iteration *place = &b->summary->iteration[i];
  double events = (double)(place->end - place->first),
         usual = (double)b->summary->loop.period;
  if (in_cycle(b, i)) return seconds;
  return fmin(seconds, b->most * fmax(1, events / usual));
}

/* What an iteration of the cycle takes more than others. */
static double cycle_adds(const basis *b) {
  double number[2] = {0}, sum[2] = {0}, seconds;
  if (!b->cycle) return 0;
  for (size_t i = b->first; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    number[in_cycle(b, i)]++;
    sum[in_cycle(b, i)] += counted(b, i, seconds);
  }
  return number[0] > 0 ? sum[1] / number[1] - sum[0] / number[0] : 0;
}

/* Seconds from the end of the last event of iteration i - 1 to that of iteration i, as
 * they are counted. What an iteration of the cycle does may be behind its last event. */
static double between_ends(const basis *b, size_t i) {
  measure own = measure_of(b->summary, i);
  double before = i ? (double)measure_of(b->summary, i - 1).behind : 0;
  double seconds = own.seconds - (double)own.behind + before;
  return in_cycle(b, i) || (i && in_cycle(b, i - 1)) ? seconds : counted(b, i, seconds);
}

/* What the `left` iterations to come take by the latest whole cycles, each as those at the
 * same place of the cycle. *mean: that of all places. */
static double by_cycles(const basis *b, uint64_t left, double *mean) {
  size_t cycle = b->cycle, whole = (b->end - b->first) / cycle * cycle;
  size_t over = left % cycle;
  double number[2] = {0}, sum[2] = {0}, seconds; /* 1: at the next `over` places */
  for (size_t i = b->end - whole; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    size_t back = (b->summary->iterations - i) % cycle, place = back ? cycle - back : 0;
    number[place < over]++;
    sum[place < over] += between_ends(b, i);
  }
  *mean = (sum[0] + sum[1]) / (number[0] + number[1]);
  double rest = number[1] > 0 ? sum[1] / number[1] : *mean;
  return (double)(left - over) * *mean + (double)over * rest;
}

/* What outliers of the program's own work, and of a cycle, add to what the `left`
 * iterations to come are expected to take. */
static double own_work(const basis *b, uint64_t left) {
  double sum = 0, seconds, mean, count = (double)left;
  if (b->cycle) {
    return by_cycles(b, left, &mean) - count * tsn_loop_expected(&b->summary->loop);
  }
  for (size_t i = b->first; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    sum += counted(b, i, seconds) - fmin(seconds, b->most);
  }
  return sum / (double)b->used * count;
}

/* The mean times of up to 8 parts of the typical iterations behind the warm-up; no parts
 * if these are fewer than four. Limited, an iteration counts at most TSN_OUTLIER medians,
 * as in tsn_loop_expected(), but for the program's own work. */
static void take_parts(const basis *b, part_means *parts) {
  double seconds;
  uint64_t number = 0, in_part[PARTS_MOST] = {0};
  *parts = (part_means){.count = 0};
  if (b->used < PARTS_LEAST) return;
  size_t k = b->used < PARTS_MOST ? (size_t)b->used : PARTS_MOST;
  for (size_t i = b->first; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    size_t part = (size_t)(number++ * k / b->used);
    parts->limited[part] += counted(b, i, seconds);
    parts->whole[part] += seconds;
    in_part[part]++;
  }
  for (size_t i = 0; i < k; i++) {
    parts->limited[i] /= (double)in_part[i];
    parts->whole[i] /= (double)in_part[i];
  }
  parts->count = k;
}

static double mean_of(const double *mean, size_t k) {
  double sum = 0;
  for (size_t i = 0; i < k; i++) sum += mean[i];
  return sum / (double)k;
}

static double variance_of(const double *mean, size_t k) {
  double center = mean_of(mean, k), squares = 0;
  for (size_t i = 0; i < k; i++) squares += (mean[i] - center) * (mean[i] - center);
  return squares / (double)(k - 1);
}

/* What outliers add to the mean where they recur: 0 if less than half of the parts have
 * some. */
static double recurring(const part_means *parts) {
  size_t k = parts->count;
  double excess[PARTS_MOST], sorted[PARTS_MOST];
  for (size_t i = 0; i < k; i++) {
    sorted[i] = excess[i] = parts->whole[i] - parts->limited[i];
  }
  double most = excess_most * tsn_median(sorted, k);
  for (size_t i = 0; i < k; i++) excess[i] = fmin(excess[i], most);
  return mean_of(excess, k);
}

/* The slope of the line through k means, per part, and which share of the variance it
 * explains. */
static double slope_of(const double *mean, size_t k, double *share) {
  double product = 0, squares = 0, center = mean_of(mean, k);
  for (size_t i = 0; i < k; i++) {
    double x = (double)i - (double)(k - 1) / 2;
    product += x * (mean[i] - center);
    squares += x * x;
  }
  double all = variance_of(mean, k) * (double)(k - 1);
  *share = all > 0 ? product * product / squares / all : 0;
  return product / squares;
}

/* Whether a line through the means explains most of their variance, and changes. */
static bool drift(const part_means *parts) {
  double share, slope = slope_of(parts->limited, parts->count, &share);
  double change = fabs(slope) * (double)(parts->count - 1);
  return parts->count >= PARTS_OF_LINE && share >= line_least &&
         change > drift_least * mean_of(parts->limited, parts->count);
}

/* The median, and the time from which an iteration is long, of up to TSN_FORECAST_MOST
 * iterations at equal distances; `x` is overwritten. */
static double long_from(const basis *b, double *x, double *median) {
  size_t stride = b->used / TSN_FORECAST_MOST + 1, number = 0, count = 0;
  double seconds;
  for (size_t i = b->first; i < b->end; i++) {
    if (is_typical(b->summary, i, &seconds) && number++ % stride == 0)
      x[count++] = seconds;
  }
  *median = tsn_median(x, count);
  for (size_t i = 0; i < count; i++) x[i] = fabs(x[i] - *median);
  double deviation = normal_deviation * tsn_median(x, count);
  return fmax(long_medians * *median, *median + long_deviations * deviation);
}

/* The typical iterations as values: means of `each` of them, without long ones and what
 * those of the cycle add. */
static void take_values(const basis *b, double cycle, tsn_forecast *f) {
  double seconds, median, sum = 0, squares = 0;
  double most = long_from(b, f->value, &median);
  size_t each = (b->used + TSN_FORECAST_MOST - 1) / TSN_FORECAST_MOST, number = 0;
  size_t count = b->used / each, dropped = b->used - count * each;
  f->count = count;
  f->each = (double)each;
  f->number = (double)b->used;
  f->longs = 0;
  for (size_t k = 0; k < count; k++) f->value[k] = 0;
  for (size_t i = b->first; i < b->end; i++) {
    if (!is_typical(b->summary, i, &seconds)) continue;
    double more = fmax(0, seconds - median);
    if (in_cycle(b, i)) {
      seconds -= cycle;
    } else if (seconds > most) {
      f->longs++;
      sum += more;
      squares += more * more;
      seconds = median;
    }
    if (number++ >= dropped) f->value[(number - 1 - dropped) / each] += seconds / f->each;
  }
  f->size = f->longs > 0 ? sum / f->longs : 0;
  double off = squares - sum * f->size;
  f->deviation = f->longs > 1 ? sqrt(fmax(0, off) / (f->longs - 1)) : f->size;
}

/* The deviation of `between` seconds between runs to come: larger where few are known, as
 * in Student's distribution. Of one such time, it is that time. */
static double between_deviation(const summary *s, double between) {
  double known = (double)s->loop.runs - 1, mean = s->loop.between / known;
  if (!(between > 0)) return 0;
  double off = s->between_squares - known * mean * mean;
  double deviation = mean, more = between / mean;
  if (known > 1) {
    deviation = sqrt(fmax(0, off) / (known - 1)) * tsn_student_quantile(.025, known - 1) /
                tsn_student_quantile(.025, 1e9);
  }
  return deviation * sqrt(more + more * more / known);
}

/* The interval, which contains the expected end. `between`: the seconds between runs that
 * are in it. */
static void set_limits(const basis *b, uint64_t left, double between,
                       tsanom_speedup_prediction *p) {
  tsn_forecast known;
  basis all = *b;
  exclude(&all, b->typical, b->typical / WARM_UP);
  if (!all.used) return;
  double low, high, mean, count = (double)left, adds = cycle_adds(&all), more = between;
  if (all.cycle) {
    more += by_cycles(&all, left, &mean) + count * (adds / (double)all.cycle - mean);
  }
  take_values(&all, adds, &known);
  known.between = between_deviation(b->summary, between);
  if (!forecast_limits(&known, count, &low, &high)) return;
  low = count * low + more;
  high = count * high + more;
  if (high > factor_most * low) return;
  p->low_s = fmin(b->summary->loop.last + low, p->total_s);
  p->high_s = fmax(b->summary->loop.last + high, p->total_s);
}

/* A loop that has more iterations than the caller expects is another one than meant: its
 * end is not known. */
__attribute__((noinline)) static void complete_prediction(const summary *s,
                                                          uint64_t wanted,
                                                          tsanom_speedup_prediction *p) {
  uint64_t left = p->expected - p->iterations;
  basis known;
  part_means parts;
  if (left == 0 && wanted && wanted < p->iterations) return;
  if (left == 0) p->low_s = p->high_s = p->total_s;
  if (left == 0) return;
  if (!find_basis(s, &known)) return;
  take_parts(&known, &parts);
  if (parts.count == 0) return;
  p->drifts = drift(&parts);
  if (p->drifts) {
    p->remaining_s = p->total_s = NAN;
    return;
  }
  double each = tsn_loop_expected(&s->loop);
  double between = p->total_s - s->loop.last - (double)left * each;
  p->total_s += own_work(&known, left) + (double)left * recurring(&parts);
  set_limits(&known, left, s->loop.runs > 1 ? between : 0, p);
}

/* Add up the iterations and runs. *now are the iterations of the latest run if it may be
 * going on: no more events have followed than the longest iteration has. */
static tsanom_status add_up(summary *s, uint64_t *now) {
  tsn_loop *loop = &s->loop;
  size_t events = 0, longest = 0;
  *now = 0;
  for (size_t i = 0; i < s->iterations; i++) {
    tsanom_speedup_iteration iteration;
    double ended, behind;
    const tsanom_speedup_event *first = event_at(s->in, s->iteration[i].first);
    if (first && i == 0) loop->start = first->region;
    if (!first || !read_iteration(s, i, &iteration, &ended, &behind)) {
      return s->in->status;
    }
    bool goes_on = i && s->iteration[i - 1].end == s->iteration[i].first;
    if (!goes_on && loop->runs++) {
      loop->last_run = *now;
      double gap = iteration.begin - loop->last;
      loop->between += gap;
      s->between_squares += gap * gap;
    }
    *now = goes_on ? *now + 1 : 1;
    tsn_loop_add(loop, &iteration, ended);
    if (s->kept) {
      s->kept[i] = (measure){iteration.seconds, (float)behind, iteration.threads};
    }
    if (s->options.visit) s->options.visit(s->options.visit_user, &iteration);
    events += iteration.period;
    longest = tsn_larger(longest, iteration.period);
  }
  (void)event_at(s->in, s->in->count - 1);
  size_t n = tsn_larger(s->iterations, 1);
  loop->period = (events + n / 2) / n;
  if (s->in->count - s->iteration[s->iterations - 1].end <= longest) return s->in->status;
  loop->last_run = *now;
  *now = 0;
  return s->in->status;
}

/* One call: its arguments, and what is made of them. */
typedef struct {
  source in;
  summary s;
  uint64_t expected;
  tsanom_speedup_loop *loop;
  tsanom_speedup_prediction *prediction;
} call;

static void layout(tsn_arena *arena, void *context) {
  call *c = context;
  if (c->in.next) c->s.kept = tsn_arena_take(arena, c->s.iterations, sizeof *c->s.kept);
}

static tsanom_status check(void *context) {
  const call *c = context;
  const source *in = &c->in;
  tsanom_status status =
      tsn_require_array(&in->exec, c->s.iteration, c->s.iterations, "iterations");
  if (status < 0) return status;
  if ((status = tsn_require(&in->exec, c->loop, "loop")) < 0) return status;
  if (c->prediction && (status = tsn_struct_check(&in->exec, &tsn_prediction_type,
                                                  c->prediction, "prediction")) < 0) {
    return status;
  }
  if (!in->next) {
    status = tsn_speedup_check_all(&in->exec, in->event, 0, in->count, -INFINITY);
    if (status < 0) return status;
  }
  size_t end = 0;
  for (size_t i = 0; i < c->s.iterations; i++) {
    const tsanom_dpd_iteration *place = &c->s.iteration[i];
    if (place->first < end || place->end <= place->first || place->end > in->count) {
      return tsn_reject_is(&in->exec, TSANOM_E_INDEX, "iterations", i,
                           "[%zu, %zu); a part, not empty, of [%zu, %zu) is expected",
                           place->first, place->end, end, in->count);
    }
    end = place->end;
  }
  return TSANOM_OK;
}

static tsanom_status predict(const summary *s, uint64_t now, uint64_t expected,
                             tsanom_speedup_prediction *p) {
  double latest = s->in->event[s->in->count - 1 - s->in->first].end;
  tsanom_status status = tsn_loop_predict(&s->loop, now, expected, latest, p);
  if (status != TSANOM_OK) return status;
  complete_prediction(s, expected, p);
  if (!p->drifts) p->remaining_s = fmax(0, p->total_s - latest);
  return TSANOM_OK;
}

static tsanom_status summarize(void *context) {
  call *c = context;
  uint64_t now;
  tsanom_speedup_prediction p;
  tsanom_status status = add_up(&c->s, &now);
  if (status < 0) return status;
  tsn_loop_describe(&c->s.loop, c->s.options.baseline, c->loop);
  if (!c->prediction) return TSANOM_OK;
  status = predict(&c->s, now, c->expected, &p);
  if (status == TSANOM_OK) tsn_versioned_write(&tsn_prediction_type, c->prediction, &p);
  return status;
}

/* An option that a function does not use must be at its default. */
static tsanom_status reject_used(const tsanom_exec *exec, const char *name, size_t value,
                                 size_t usual) {
  if (value == usual) return TSANOM_OK;
  return tsn_reject_is(exec, TSANOM_E_OPTION, name, TSANOM_NONE,
                       "%zu; %zu is expected, since this function does not use it", value,
                       usual);
}

static tsanom_status read_call(call *c, const tsanom_speedup_options *options) {
  source *in = &c->in;
  tsanom_speedup_options *own = &c->s.options, usual;
  tsanom_status status = tsn_speedup_options_read(own, options, &in->exec);
  if (status < 0) return status;
  (void)tsn_speedup_options_read(&usual, NULL, &in->exec);
  in->next = in->event ? NULL : own->next;
  in->user = own->next_user;
  in->end = in->next ? 0 : in->count;
  in->latest = -INFINITY;
  if ((status = reject_used(&in->exec, "options.max_period", own->max_period,
                            usual.max_period)) < 0 ||
      (status = reject_used(&in->exec, "options.capacity", own->capacity,
                            usual.capacity)) < 0 ||
      (!in->next &&
       (status = tsn_require_array(&in->exec, in->event, in->count, "events")) < 0) ||
      (status = tsn_require_size(&in->exec, TSANOM_E_COUNT, "iteration_count",
                                 c->s.iterations, 1, SIZE_MAX)) < 0 ||
      (status = tsn_require_size(&in->exec, TSANOM_E_OVERFLOW, "count", in->count, 0,
                                 PTRDIFF_MAX / sizeof *in->event)) < 0) {
    return status;
  }
  return tsn_require_size(&in->exec, TSANOM_E_OVERFLOW, "iteration_count",
                          c->s.iterations, 0, PTRDIFF_MAX / sizeof *c->s.iteration);
}

tsanom_status tsanom_speedup_summarize(const tsanom_speedup_event *events, size_t count,
                                       const tsanom_dpd_iteration *iterations,
                                       size_t iteration_count,
                                       const tsanom_speedup_options *options,
                                       uint64_t expected, const tsanom_exec *exec,
                                       tsanom_speedup_loop *loop,
                                       tsanom_speedup_prediction *prediction) {
  call c = {.in = {.event = events, .count = count},
            .s = {.iteration = iterations, .iterations = iteration_count},
            .expected = expected,
            .loop = loop,
            .prediction = prediction};
  c.s.in = &c.in;
  tsanom_status status = tsn_exec_read(&c.in.exec, exec);
  if (status == TSANOM_OK) status = read_call(&c, options);
  if (status < 0) return status;
  if (c.in.next) return tsn_workspace_run(&c.in.exec, layout, check, summarize, &c);
  if ((status = check(&c)) < 0) return status;
  tsn_environment before = tsn_environment_enter();
  status = summarize(&c);
  tsn_environment_leave(before);
  return status;
}
