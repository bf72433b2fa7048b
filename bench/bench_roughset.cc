/* SPDX-License-Identifier: BSD-3-Clause */
// Rough sets: elements, all reducts, smallest reducts, regions and greedy
// reducts of generated tables, each verified against a golden count and timed
// beside a plain reference of the same run: what a user would write. CPU time
// of the thread, the best of the repeats, one thread.
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "report.h"
#include "roughset/tables.h"

namespace {

struct Table {
  std::vector<int32_t> values, decision;
  tsanom_roughset_table view;
  size_t words;
  Table(int family, size_t rows, size_t attributes)
      : values(rows * attributes), decision(rows), words((attributes + 63) / 64) {
    fill_family(family, rows, attributes, values.data(), decision.data());
    view = table_of(values.data(), decision.data(), rows, attributes);
  }
};

std::vector<uint64_t> elements_of(const Table &t) {
  size_t count = 0;
  std::vector<uint64_t> sets((size_t)1 << 20);
  check(tsanom_roughset_elements(&t.view, nullptr, nullptr, sets.data(),
                                 sets.size() / t.words, &count) == TSANOM_OK);
  sets.resize(count * t.words);
  return sets;
}

// ---- plain references, for at most 64 attributes

// All pairs, a set of distinct elements, quadratic absorption by size.
size_t plain_elements(const Table &t) {
  size_t n = t.view.rows, m = t.view.attributes;
  std::unordered_set<uint64_t> distinct;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = i + 1; j < n; j++) {
      if (t.decision[i] == t.decision[j]) continue;
      uint64_t set = 0;
      for (size_t a = 0; a < m; a++) {
        set |= (uint64_t)(t.values[i * m + a] != t.values[j * m + a]) << a;
      }
      if (set) distinct.insert(set);
    }
  }
  std::vector<uint64_t> sets(distinct.begin(), distinct.end()), kept;
  std::sort(sets.begin(), sets.end(), [](uint64_t x, uint64_t y) {
    return __builtin_popcountll(x) < __builtin_popcountll(y);
  });
  for (uint64_t set : sets) {
    if (std::none_of(kept.begin(), kept.end(),
                     [set](uint64_t k) { return (k & ~set) == 0; })) {
      kept.push_back(set);
    }
  }
  return kept.size();
}

// The search of Murakami and Uno as their paper states it, on lists.
struct PlainSearch {
  const std::vector<uint64_t> &edges;
  std::vector<std::vector<uint32_t>> of;
  std::vector<int> hits;
  std::vector<uint32_t> owner, critical;
  size_t uncovered, found = 0;
  explicit PlainSearch(const std::vector<uint64_t> &e)
      : edges(e),
        of(64),
        hits(e.size()),
        owner(e.size()),
        critical(64),
        uncovered(e.size()) {
    for (uint32_t k = 0; k < e.size(); k++) {
      for (uint64_t bits = e[k]; bits; bits &= bits - 1) {
        of[(size_t)__builtin_ctzll(bits)].push_back(k);
      }
    }
  }
  void search(uint64_t set, uint64_t candidates) {
    if (uncovered == 0) {
      found++;
      return;
    }
    uint64_t branch = 0;
    int least = 65;
    for (size_t k = 0; k < edges.size(); k++) {
      int size = __builtin_popcountll(edges[k] & candidates);
      if (hits[k] == 0 && size < least) {
        least = size;
        branch = edges[k] & candidates;
      }
    }
    candidates &= ~branch;
    for (uint64_t bits = branch; bits; bits &= bits - 1) {
      uint32_t v = (uint32_t)__builtin_ctzll(bits);
      for (uint32_t k : of[v]) {
        if (hits[k]++ == 0) {
          uncovered--;
          owner[k] = v;
          critical[v]++;
        } else if (hits[k] == 2) {
          critical[owner[k]]--;
        }
      }
      bool good = true;
      for (uint64_t s = set | (bits & -bits); s; s &= s - 1) {
        good = good && critical[(size_t)__builtin_ctzll(s)] > 0;
      }
      if (good) search(set | (bits & -bits), candidates);
      for (uint32_t k : of[v]) {
        if (--hits[k] == 0) {
          uncovered++;
          critical[v]--;
        } else if (hits[k] == 1) {
          for (uint64_t s = set & edges[k]; s; s &= s - 1) {
            owner[k] = (uint32_t)__builtin_ctzll(s);
          }
          critical[owner[k]]++;
        }
      }
      if (good) candidates |= bits & -bits;
    }
  }
};

size_t plain_reducts(const std::vector<uint64_t> &edges, size_t attributes) {
  PlainSearch plain(edges);
  plain.search(0, attributes == 64 ? ~(uint64_t)0 : ((uint64_t)1 << attributes) - 1);
  return plain.found;
}

// Rows grouped by their values in a standard map.
size_t plain_positive(const Table &t) {
  size_t n = t.view.rows, m = t.view.attributes, size = 0;
  std::unordered_map<std::string, std::pair<int32_t, bool>> groups;
  std::vector<std::pair<int32_t, bool> *> of(n);
  for (size_t i = 0; i < n; i++) {
    std::string key((const char *)&t.values[i * m], m * sizeof(int32_t));
    auto at = groups.try_emplace(std::move(key), t.decision[i], true).first;
    of[i] = &at->second;
    of[i]->second = of[i]->second && of[i]->first == t.decision[i];
  }
  for (size_t i = 0; i < n; i++) size += of[i]->second;
  return size;
}

// ---- benchmarks; arguments: family, rows, attributes, golden result, plain or
// not

Table table_of(const benchmark::State &state) {
  return Table((int)state.range(0), (size_t)state.range(1), (size_t)state.range(2));
}

// `isa_at`: the place of the argument isa, 0: there is none.
void elements(benchmark::State &state, size_t isa_at) {
  Table t = table_of(state);
  std::vector<uint64_t> sets((size_t)1 << 20);
  size_t count = 0;
  double best =
      best_call(state, exec_at(isa_of(state, isa_at)), [&](const tsanom_exec *exec) {
        return tsanom_roughset_elements(&t.view, nullptr, exec, sets.data(),
                                        sets.size() / t.words, &count);
      });
  check(count == (size_t)state.range(3));
  double plain = 0;
  if (state.range(4)) plain = best_of(1, [&] { check(plain_elements(t) == count); });
  report(state, "ms", 1e3 * best, 1e3 * plain);
}

void all_of(benchmark::State &state, const std::vector<uint64_t> &edges,
            size_t attributes, size_t golden, int64_t isa = TSANOM_ISA_AUTO) {
  size_t words = (attributes + 63) / 64, found = 0;
  auto visit = [](void *user, const uint64_t *, size_t size) {
    ++((size_t *)user)[size];
    return (int32_t)0;
  };
  double best = best_call(state, exec_at(isa), [&](const tsanom_exec *exec) {
    std::vector<size_t> sizes(attributes + 1);
    const tsanom_roughset_visitor visitor = {visit, sizes.data()};
    return tsanom_roughset_reducts(edges.data(), edges.size() / words, attributes,
                                   nullptr, exec, &visitor, &found);
  });
  check(found == golden);
  double plain = best_of(1, [&] { check(plain_reducts(edges, attributes) == found); });
  report(state, "ms", 1e3 * best, 1e3 * plain);
}

void all_reducts(benchmark::State &state, size_t isa_at) {
  Table t = table_of(state);
  all_of(state, elements_of(t), t.view.attributes, (size_t)state.range(3),
         isa_of(state, isa_at));
}

// M(n): n / 2 disjoint pairs.
void matching(benchmark::State &state) {
  size_t n = (size_t)state.range(0);
  std::vector<uint64_t> edges;
  for (size_t i = 0; i < n / 2; i++) edges.push_back((uint64_t)3 << (2 * i));
  all_of(state, edges, n, (size_t)1 << (n / 2));
}

// Arguments: family, rows, attributes, golden size, golden count (0: one is
// enough).
void minimum(benchmark::State &state) {
  Table t = table_of(state);
  std::vector<uint64_t> reduct(t.words);
  tsanom_roughset_bounds bounds;
  size_t found = 0, wanted = (size_t)state.range(4);
  auto visit = [](void *, const uint64_t *, size_t) { return (int32_t)0; };
  const tsanom_roughset_visitor visitor = {wanted ? +visit : nullptr, nullptr};
  double best = best_call(state, exec_at(TSANOM_ISA_AUTO), [&](const tsanom_exec *exec) {
    return tsanom_roughset_minimum(&t.view, nullptr, exec, &visitor, &bounds,
                                   reduct.data(), &found);
  });
  check(bounds.lower == bounds.upper && bounds.upper == (size_t)state.range(3));
  check(found == wanted);
  report(state, "ms", 1e3 * best);
}

void positive_region(benchmark::State &state) {
  Table t = table_of(state);
  size_t size = 0;
  double best = best_call(state, exec_at(TSANOM_ISA_AUTO), [&](const tsanom_exec *exec) {
    return tsanom_roughset_dependency(&t.view, nullptr, nullptr, exec, nullptr, &size,
                                      nullptr);
  });
  double plain = best_of(1, [&] { check(plain_positive(t) == size); });
  report(state, "ms", 1e3 * best, 1e3 * plain);
}

void greedy(benchmark::State &state) {
  Table t = table_of(state);
  std::vector<uint64_t> reduct(t.words);
  size_t size = 0, all = 0, kept = 0;
  double best = best_call(state, exec_at(TSANOM_ISA_AUTO), [&](const tsanom_exec *exec) {
    return tsanom_roughset_greedy(&t.view, nullptr, exec, reduct.data(), &size);
  });
  tsanom_roughset_dependency(&t.view, nullptr, nullptr, nullptr, nullptr, &all, nullptr);
  tsanom_roughset_dependency(&t.view, reduct.data(), nullptr, nullptr, nullptr, &kept,
                             nullptr);
  check(kept == all);
  report(state, "ms", 1e3 * best);
}

}  // namespace

ROWS(elements, elements, 0)
    ->ArgNames({"family", "n", "attributes", "golden", "plain"})
    ->Args({FAMILY_MIXED, 100, 20, 887, 1})
    ->Args({FAMILY_MIXED, 1000, 20, 3743, 1})
    ->Args({FAMILY_MIXED, 10000, 20, 1881, 1})
    ->Args({FAMILY_MIXED, 100, 40, 3018, 1});
ROWS(elements_large, elements, 0)
    ->ArgNames({"family", "n", "attributes", "golden", "plain"})
    ->Args({FAMILY_MIXED, 1000, 40, 184003, 0});
ROWS(all_reducts, all_reducts, 0)
    ->ArgNames({"family", "n", "attributes", "golden"})
    ->Args({FAMILY_MIXED, 100, 20, 9702})
    ->Args({FAMILY_MIXED, 1000, 20, 18102})
    ->Args({FAMILY_MIXED, 10000, 20, 3465});
ROWS(elements_levels, elements, 5)
    ->ArgNames({"family", "n", "attributes", "golden", "plain", "isa"})
    ->ArgsProduct({{FAMILY_MIXED}, {1000}, {20}, {3743}, {0}, levels()});
ROWS(all_reducts_levels, all_reducts, 4)
    ->ArgNames({"family", "n", "attributes", "golden", "isa"})
    ->ArgsProduct({{FAMILY_MIXED}, {100}, {20}, {9702}, levels()});
ROWS(all_reducts_large, all_reducts, 0)
    ->ArgNames({"family", "n", "attributes", "golden"})
    ->Args({FAMILY_MIXED, 100, 40, 2061932});
BENCHMARK(matching)->ArgName("attributes")->Arg(36);
BENCHMARK(minimum)
    ->ArgNames({"family", "n", "attributes", "size", "golden"})
    ->Args({FAMILY_MIXED, 100, 40, 4, 0})
    ->Args({FAMILY_MIXED, 100, 100, 4, 0})
    ->Args({FAMILY_BINARY, 100, 40, 8, 0})
    ->Args({FAMILY_MIXED, 1000, 40, 7, 0})
    ->Args({FAMILY_PLANTED, 10000, 100, 4, 0});
BENCHMARK(minimum)
    ->Name("minimum_large")
    ->ArgNames({"family", "n", "attributes", "size", "golden"})
    ->Args({FAMILY_MIXED, 10000, 40, 10, 0});
BENCHMARK(minimum)
    ->Name("all_minimum")
    ->ArgNames({"family", "n", "attributes", "size", "golden"})
    ->Args({FAMILY_MIXED, 100, 40, 4, 3})
    ->Args({FAMILY_MIXED, 100, 100, 4, 109})
    ->Args({FAMILY_BINARY, 100, 40, 8, 4950})
    ->Args({FAMILY_MIXED, 1000, 20, 8, 69})
    ->Args({FAMILY_MIXED, 10000, 20, 12, 150})
    ->Args({FAMILY_MIXED, 1000, 40, 7, 49});
BENCHMARK(positive_region)
    ->ArgNames({"family", "n", "attributes"})
    ->Args({FAMILY_MIXED, 1000000, 20});
BENCHMARK(greedy)
    ->ArgNames({"family", "n", "attributes"})
    ->Args({FAMILY_MIXED, 1000000, 20})
    ->Args({FAMILY_PLANTED, 1000000, 20})
    ->Args({FAMILY_PLANTED, 10000, 100});

BENCHMARK_MAIN();
