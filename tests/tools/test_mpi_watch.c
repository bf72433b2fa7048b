/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom watch of running ranks, with Debian's two MPI libraries. */
#include <criterion/criterion.h>
#include <string.h>

#include "mpi_programs.h"
#include "recorded.h"

TestSuite(watch_mpi, .init = prepare_mpi, .fini = leave_folder, .timeout = 240);

/* Record 4 ranks in the background; they must not outlive a test that fails. */
static void start_ranks(int library, const char *arguments) {
  shell_ok("timeout 100 mpirun.%s -n 4 tsanom record -o %s -- ./silent %s >out 2>err &",
           mpi_libraries[library], mpi_libraries[library], arguments);
}

/* The others wait for it, by using all processors. When it goes on, so do they. The signal stops
 * all of its threads; the one whose latest beat is the oldest is named. Only what is named first
 * after the stop counts: a machine may stop all ranks for longer than a second before. */
Test(watch_mpi, the_rank_that_is_stopped_is_named) {
  static const char *const arguments[] = {"60 1 stop 2 30", "60 2 stop 1 30"};
  static const char *const rank[] = {"rank.2", "rank.1"};
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "silent_ranks.c", "silent")) continue;
    start_ranks(library, arguments[library]);
    check_status(tsanom("watch --wait --every 0.1 --check --on-anomaly 'test ! -e pid || "
                        "{ echo $TSANOM_RUN $TSANOM_CAUSE >named; kill -CONT $(cat pid); "
                        "rm pid; }' %s >lines",
                        mpi_libraries[library]),
                 1);
    shell_ok(
        "{ echo '%s/%s hang' | cmp - named && grep -q '%s: thread [01]: hang recovered' "
        "lines && test $(grep -c ': finished, ' lines) = 4; } || { cat lines named >&2; "
        "false; }",
        mpi_libraries[library], rank[library], rank[library]);
  }
}

/* The launcher kills the others. It may have waited for the killed rank before the sampler
 * looked, and then the signal is not known: record_vital tests it without that race. */
Test(watch_mpi, ranks_that_are_killed_are_named) {
  for (int library = 0; library < MPI_LIBRARIES; library++) {
    if (!build_mpi_program(library, "silent_ranks.c", "silent")) continue;
    start_ranks(library, "1000000 1 kill 3 40");
    check_status(tsanom("watch --wait --every 0.1 --check --json %s >lines",
                        mpi_libraries[library]),
                 1);
    shell_ok("grep -F '\"rank\":3,\"time\"' lines | grep -qF '\"shutdown\"'");
    shell_ok("! grep -o 'signal [0-9]*' lines | grep -vx 'signal 9\\|signal 15'");
    shell_ok(
        "! grep -F '\"hang\"' lines && test $(grep -cF '\"state\":\"killed\"' lines) = "
        "4");
  }
}
