/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with heartbeats: pulse RUN BEATS HOW, of two thread numbers. After half of
 * its beats it does what HOW names: "plain", nothing; "hold", thread 1 does not beat
 * until the file "resume" exists, and makes the file "holds"; "team", neither does, and thread 0 waits for thread 1;
 * "stop", it stops itself; "kill", it kills itself. With "leak" it allocates memory at
 * each beat, with "slowN" each interval is longer by N times 20 us than the one before it; with "busy" it
 * computes at each beat, and sleeps for longer. With "wide" or
 * "many" it has 64 thread numbers, of which 5 beats half as often; "many" stops itself.
 * With "late" numbers 0 and 1040 beat, then it stops itself, then all from 0 to 1040 beat.
 * It never takes longer than 30 s. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tsanom/heartbeat.h>
#include <unistd.h>

enum {
  INTERVAL_US = 2000,
  LATER_US = 400000,
  LEAK = 65536,
  SLOWER_US = 20,
  MANY = 64,
  SLOWEST = 5,
  LATE = 1040,
  LONGEST_S = 30
};

static void leak(void) {
  char *block = malloc(LEAK);
  if (!block) exit(EXIT_FAILURE);
  for (size_t i = 0; i < LEAK; i += 512) *(volatile char *)(block + i) = 1;
}

static void be_busy(void) {
  clock_t end = clock() + INTERVAL_US * (CLOCKS_PER_SEC / 1000000);
  while (clock() < end) continue;
  usleep(INTERVAL_US);
}

static void beat(int threads, int skipped) {
  for (int t = 0; t < threads; t++) {
    if (t != skipped) (void)tsanom_heartbeat_beat(t, 0);
  }
  usleep(INTERVAL_US);
}

/* Thread 0 beats before a barrier that thread 1 does not reach until "resume" exists, at
 * most a minute, and beats again a long iteration after that. */
static void meet(void) {
  beat(1, -1);
  for (int us = 0; us < 60000000 && access("resume", F_OK) != 0; us += INTERVAL_US) {
    usleep(INTERVAL_US);
  }
  (void)tsanom_heartbeat_beat(1, 0);
  usleep(LATER_US);
}

int main(int argc, char **argv) {
  if (argc != 4) return EXIT_FAILURE;
  const char *how = argv[3];
  int beats = atoi(argv[2]);
  alarm(LONGEST_S);
  int many = strcmp(how, "many") == 0, threads = many || !strcmp(how, "wide") ? MANY : 2;
  int late = strcmp(how, "late") == 0;
  if (late) threads = 1;
  if (tsanom_heartbeat_init(argv[1], threads, NULL, NULL) != TSANOM_OK)
    return EXIT_FAILURE;
  for (int i = 0; i < beats; i++) {
    beat(late && i > beats / 2 ? LATE : threads, i % 2 && !late ? SLOWEST : -1);
    if (late) (void)tsanom_heartbeat_beat(LATE, 0);
    if (strcmp(how, "leak") == 0) leak();
    if (strcmp(how, "busy") == 0) be_busy();
    if (strncmp(how, "slow", 4) == 0) usleep((useconds_t)(atoi(how + 4) * SLOWER_US * i));
    if (i != beats / 2) continue;
    if (many || late || strcmp(how, "stop") == 0) raise(SIGSTOP);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    if (strcmp(how, "team") == 0) meet();
    if (strcmp(how, "hold") != 0) continue;
    (void)close(open("holds", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    while (access("resume", F_OK) != 0) beat(1, -1);
  }
  return tsanom_heartbeat_finish() == TSANOM_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
