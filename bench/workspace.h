/* SPDX-License-Identifier: BSD-3-Clause */
/* The workspace that a call asks for, and how to call with it. */
#ifndef TSANOM_BENCH_WORKSPACE_H
#define TSANOM_BENCH_WORKSPACE_H

#include <cstdlib>
#include <vector>

#include "support/ask.h"

class Workspace {
 public:
  tsanom_exec exec;

  template <class Call>
  Workspace(const tsanom_exec &how, const Call &call) : exec(how) {
    size_t bytes = 0;
    const tsanom_exec ask = ask_exec(&how, &bytes);
    if (call(&ask) != TSANOM_E_WORKSPACE) std::abort();
    memory_.resize(bytes);
    exec.work = memory_.data();
    exec.work_bytes = bytes;
  }
  Workspace(Workspace &&) = default;

 private:
  std::vector<char> memory_;
};

#endif
