/* SPDX-License-Identifier: BSD-3-Clause */
/* Periods of whole series: tsanom_dpd_find() beside the two methods that are usually
 * tried first, autocorrelation and the periodogram, on series whose period is known and
 * on series that have none.
 *
 * Autocorrelation: the delay of the largest autocorrelation after its first zero;
 * reported if it is above 3 / sqrt(n). Periodogram: n over the frequency of its largest
 * line; reported if the line holds more than log(n / 0.01) times the mean of all lines (1
 * % in white noise). */
#include <tsanom/dpd.h>

#include <cmath>
#include <complex>
#include <functional>

#include "support/random.h"
#include "table.h"

namespace {

enum { SAMPLES = 2000, REPEATS = 10, TRIALS = 300, LONG_TRIALS = 50, CYCLE = 44 };

using Series = std::vector<double>;

double normal(uint64_t *seed) {
  double u = 1 - random_unit(seed), v = random_unit(seed);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

Series centered(const Series &x) {
  double mean = 0;
  for (double value : x) mean += value / (double)x.size();
  Series y(x);
  for (double &value : y) value -= mean;
  return y;
}

size_t by_dips(const Series &x) {
  tsanom_dpd_found found{};
  found.struct_size = sizeof found;
  if (tsanom_dpd_find(x.data(), x.size(), nullptr, nullptr, &found) != TSANOM_OK) {
    std::abort();
  }
  return found.period > 1 ? found.period : 0; /* 1: a constant series */
}

size_t by_autocorrelation(const Series &x) {
  Series y = centered(x);
  size_t n = y.size();
  std::vector<double> r(n / 2);
  for (size_t m = 0; m < n / 2; m++) {
    for (size_t t = m; t < n; t++) r[m] += y[t] * y[t - m];
  }
  size_t m = 0;
  while (m < n / 2 && r[m] > 0) m++;
  if (m == n / 2) return 0;
  double most = *std::max_element(r.begin() + (ptrdiff_t)m, r.end());
  if (most <= 3 / std::sqrt((double)n) * r[0]) return 0;
  while (r[m] < .85 * most || r[m] < r[m - 1] || (m + 1 < n / 2 && r[m] < r[m + 1])) m++;
  return m;
}

size_t by_periodogram(const Series &x) {
  Series y = centered(x);
  size_t n = y.size(), best = 0;
  double most = 0, sum = 0;
  for (size_t k = 1; k <= n / 2; k++) {
    std::complex<double> line = 0,
                         turn = std::polar(1.0, 2 * M_PI * (double)k / (double)n);
    std::complex<double> at = 1;
    for (size_t t = 0; t < n; t++, at *= turn) line += y[t] * at;
    sum += std::norm(line);
    if (std::norm(line) <= most) continue;
    most = std::norm(line);
    best = k;
  }
  bool stands_out = most > std::log((double)n / 0.01) * sum / (double)(n / 2);
  return stands_out ? (size_t)std::lround((double)n / (double)best) : 0;
}

struct Method {
  const char *name;
  size_t (*find)(const Series &);
};
const Method methods[] = {{"tsanom_dpd_find", by_dips},
                          {"autocorrelation", by_autocorrelation},
                          {"periodogram", by_periodogram}};

enum Kind { SINE, SAWTOOTH, PULSE, PATTERN, SQUARE, STEPS, TRIANGLE, DECAY, KINDS };
const char *const kind_name[] = {"sine",   "sawtooth", "pulse",    "random pattern",
                                 "square", "steps",    "triangle", "decay"};

double value_of(Kind kind, double phase, uint64_t *seed) {
  const double level[] = {16, 2, 12, 1, 6};
  switch (kind) {
    case SINE:
      return std::sin(2 * M_PI * phase);
    case SAWTOOTH:
      return phase;
    case PULSE:
      return phase == 0;
    case SQUARE:
      return phase < .5;
    case STEPS:
      return level[(int)(5 * phase)];
    case TRIANGLE:
      return std::abs(phase - .5);
    case DECAY:
      return std::exp(-5 * phase);
    default:
      return normal(seed);
  }
}

/* Of mean 0 and variance 1. */
Series shape(size_t period, Kind kind, uint64_t *seed) {
  Series s(period);
  for (size_t t = 0; t < period; t++) {
    s[t] = value_of(kind, (double)t / (double)period, seed);
  }
  s = centered(s);
  double square = 0;
  for (double value : s) square += value * value / (double)period;
  for (double &value : s) value /= std::sqrt(square);
  return s;
}

void print_noise(bool json) {
  Table table({"method", "noise 0", "0.25", "0.5", "1", "2"});
  for (const Method &method : methods) {
    std::vector<Cell> row = {method.name};
    for (double noise : {0., .25, .5, 1., 2.}) {
      uint64_t seed = 11;
      size_t right = 0, all = 0;
      for (int repeat = 0; repeat < REPEATS; repeat++) {
        for (size_t period : {7, 37, 61}) {
          for (int kind = 0; kind < KINDS; kind++, all++) {
            Series s = shape(period, (Kind)kind, &seed), x(SAMPLES);
            for (size_t t = 0; t < SAMPLES; t++) {
              x[t] = s[t % period] + noise * normal(&seed);
            }
            right += method.find(x) == period;
          }
        }
      }
      row.push_back(percent(right, all));
    }
    table.add(row);
  }
  std::printf("Right periods, %%: noise relative to the signal's standard deviation\n\n");
  table.print(json);
}

/* Long periods, of which a series contains few; right within 2 %. */
void print_long(bool json) {
  Table table({"shape, 2000 samples", "method", "5 periods", "8", "20", "60"});
  for (int kind = 0; kind < KINDS; kind++) {
    for (const Method &method : methods) {
      std::vector<Cell> row = {kind_name[kind], method.name};
      for (size_t periods : {5, 8, 20, 60}) {
        uint64_t seed = 14;
        size_t right = 0;
        for (int trial = 0; trial < LONG_TRIALS; trial++) {
          size_t period = SAMPLES / periods + random_between(&seed, 0, 4) - 2;
          Series s = shape(period, (Kind)kind, &seed), x(SAMPLES);
          for (size_t t = 0; t < SAMPLES; t++) x[t] = s[t % period] + .5 * normal(&seed);
          size_t found = method.find(x);
          right += 50 * found >= 49 * period && 50 * found <= 51 * period;
        }
        row.push_back(percent(right, LONG_TRIALS));
      }
      table.add(row);
    }
  }
  std::printf("\nFew periods, noise 0.5: right within 2 %%, in %%\n\n");
  table.print(json);
}

/* Numbers of active processors as in figures 3 and 4 of the periodicity paper. */
Series processors(size_t n, uint64_t *seed) {
  const double level[] = {16, 2, 12, 1, 16, 4};
  const size_t end[] = {8, 15, 22, 30, 37};
  Series x;
  while (x.size() < n) {
    size_t t = 0;
    for (size_t k = 0; k < 6; k++) {
      size_t stop = k == 5 ? (size_t)CYCLE : end[k] + random_between(seed, 0, 4) - 2;
      for (; t < stop; t++) {
        x.push_back(level[k] + (double)random_between(seed, 0, 2) - 1);
      }
    }
  }
  x.resize(n);
  return x;
}

void print_processors(bool json) {
  Table table({"method", "400 samples", "1000", "2000"});
  for (const Method &method : methods) {
    std::vector<Cell> row = {method.name};
    for (size_t n : {400, 1000, 2000}) {
      uint64_t seed = 12;
      size_t right = 0;
      for (int trial = 0; trial < TRIALS; trial++) {
        right += method.find(processors(n, &seed)) == CYCLE;
      }
      row.push_back(percent(right, TRIALS));
    }
    table.add(row);
  }
  std::printf("\nActive processors, period 44: right periods, %%\n\n");
  table.print(json);
}

/* Periods of 40 samples on average, each longer or shorter by itself: after k of them the
 * beat is off by `deviation` * sqrt(k) periods. Right within 2 %. */
void print_drift(bool json) {
  enum { PERIOD = 40 };
  Table table({"method", "deviation 0 %", "0.5 %", "1 %", "2 %", "3 %", "5 %"});
  for (const Method &method : methods) {
    std::vector<Cell> row = {method.name};
    for (double deviation : {0., .005, .01, .02, .03, .05}) {
      uint64_t seed = 15;
      size_t right = 0;
      for (int trial = 0; trial < TRIALS; trial++) {
        Series s = shape(PERIOD, (Kind)(trial % KINDS), &seed), x(SAMPLES);
        double phase = 0, length = 1;
        for (double &value : x) {
          value = s[(size_t)(PERIOD * phase)] + .5 * normal(&seed);
          phase += 1 / (PERIOD * length);
          if (phase < 1) continue;
          phase -= 1;
          length = std::max(.1, 1 + deviation * normal(&seed));
        }
        size_t found = method.find(x);
        right += 50 * found >= 49 * PERIOD && 50 * found <= 51 * PERIOD;
      }
      row.push_back(percent(right, TRIALS));
    }
    table.add(row);
  }
  std::printf(
      "\nLengths that vary by themselves, period 40, noise 0.5: right within 2 %%, in "
      "%%\n\n");
  table.print(json);
}

struct Noise {
  const char *name;
  std::function<double(double *state, size_t t, uint64_t *seed)> next;
};
const Noise noises[] = {
    {"white", [](double *, size_t, uint64_t *seed) { return normal(seed); }},
    {"random walk",
     [](double *state, size_t, uint64_t *seed) { return *state += normal(seed); }},
    {"AR(1), 0.9", [](double *state, size_t,
                      uint64_t *seed) { return *state = .9 * *state + normal(seed); }},
    {"walk and white",
     [](double *state, size_t, uint64_t *seed) {
       *state += normal(seed);
       return *state + 3 * normal(seed);
     }},
    {"trend and white",
     [](double *, size_t t, uint64_t *seed) { return .01 * (double)t + normal(seed); }},
    {"pulses, 1 in 20",
     [](double *, size_t, uint64_t *seed) {
       return (double)(random_between(seed, 0, 19) == 0);
     }},
    {"pulses, 1 in 200",
     [](double *, size_t, uint64_t *seed) {
       return (double)(random_between(seed, 0, 199) == 0);
     }},
    {"Cauchy",
     [](double *, size_t, uint64_t *seed) { return normal(seed) / normal(seed); }},
    {"resonance (AR(2), pole 0.975)", nullptr},
};

Series make(const Noise &noise, size_t n, uint64_t *seed) {
  Series x(n);
  double state = 0;
  for (size_t t = 0; t < n; t++) {
    if (noise.next) {
      x[t] = noise.next(&state, t, seed);
    } else {
      x[t] = normal(seed) + (t > 0 ? 1.8 * x[t - 1] : 0) - (t > 1 ? .95 * x[t - 2] : 0);
    }
  }
  return x;
}

void print_false(bool json) {
  Table table({"series without a period", "method", "200 samples", "1000"});
  for (const Noise &noise : noises) {
    for (const Method &method : methods) {
      std::vector<Cell> row = {noise.name, method.name};
      for (size_t n : {200, 1000}) {
        uint64_t seed = 13;
        size_t found = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
          found += method.find(make(noise, n, &seed)) != 0;
        }
        row.push_back(percent(found, TRIALS));
      }
      table.add(row);
    }
  }
  std::printf("\nFalse periods, %% of series\n\n");
  table.print(json);
}

}  // namespace

int main(int argc, char **argv) {
  bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
  print_noise(json);
  print_long(json);
  print_processors(json);
  print_drift(json);
  print_false(json);
  return 0;
}
