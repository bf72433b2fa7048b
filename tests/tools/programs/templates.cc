/* SPDX-License-Identifier: BSD-3-Clause */
// 40 iterations of five regions, whose functions have names of C++: two of `longer`, of more than
// 160 bytes, and others that begin alike. The first argument is the milliseconds of solve(), the
// second one those of the others that begin alike.
#include <unistd.h>
#include <cstdlib>

static void rest(int milliseconds) {
  usleep(static_cast<useconds_t>(milliseconds) * 1000);
}

namespace {
template <class T>
__attribute__((noinline)) void assemble(T milliseconds) {
#pragma omp parallel num_threads(2)
  rest(milliseconds);
}

template <class T>
__attribute__((noinline)) void solve(T milliseconds) {
#pragma omp parallel num_threads(2)
  rest(milliseconds);
}

template <class T>
__attribute__((noinline)) void smooth(T milliseconds) {
#pragma omp parallel num_threads(2)
  rest(milliseconds);
}
}  // namespace

struct a_rather_long_name_of_a_policy_as_libraries_of_templates_have_them {};

template <class A, class B, class C>
__attribute__((noinline)) void longer() {
#pragma omp parallel num_threads(2)
  rest(1);
#pragma omp parallel num_threads(2)
  rest(1);
}

int main(int argc, char **argv) {
  using policy = a_rather_long_name_of_a_policy_as_libraries_of_templates_have_them;
  int milliseconds = argc > 1 ? atoi(argv[1]) : 1, others = argc > 2 ? atoi(argv[2]) : 1;
  for (int i = 0; i < 40; i++) {
    assemble(others);
    solve(milliseconds);
    smooth(others);
    longer<policy, policy, policy>();
  }
  return 0;
}
