/* SPDX-License-Identifier: BSD-3-Clause */
/* The two forms of parallelism in the library. One thread never opens an OpenMP
 * region, so that such calls are safe in a forked child. The threads of a team compute
 * in the default floating-point environment; see core/environment.h. */
#ifndef TSN_CORE_PARALLEL_H
#define TSN_CORE_PARALLEL_H

#include <tsanom/base.h>

/* Run `body(context, thread, threads)` once on each thread of a team. OpenMP may give
 * fewer threads than requested; `threads` is the actual number. */
typedef void tsn_team_body(void *context, int thread, int threads);
void tsn_team_run(int threads, tsn_team_body *body, void *context);

/* Run `body(context, begin, end, thread)` on chunks that together cover
 * [0, count), handed out dynamically in order, each of at most `grain` items; with
 * several threads the last ones have fewer. The calling thread, number 0, calls exec's
 * poll between its chunks; `done` counts finished items. Returns TSANOM_OK, or
 * TSANOM_STOPPED if the poll requested it; then `*finished` (may be NULL) is the number
 * of items done, not necessarily the first ones. */
typedef void tsn_chunk_body(void *context, size_t begin, size_t end, int thread);
tsanom_status tsn_parallel_for(const tsanom_exec *exec, size_t count, size_t grain,
                               tsn_chunk_body *body, void *context, size_t *finished);

#endif
