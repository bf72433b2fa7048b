/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRETCHES = 2000 }; /* about two a pixel of the picture's width */

extern char **environ;

/* Start gnuplot reading from a pipe, its pictures going to the file. */
static int start_gnuplot(plot *p, failure *why) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return fail_errno(why, "gnuplot", "start");
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t pipe_signal;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, p->file.descriptor, STDOUT_FILENO);
  posix_spawnattr_init(&attributes);
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char name[] = "gnuplot", quick[] = "-d";
  char *arguments[] = {name, quick, NULL};
  int error = posix_spawnp(&p->gnuplot, name, &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  if (!error) {
    p->script = fdopen(ends[1], "w");
    if (p->script) return 0;
    error = errno;
    waitpid(p->gnuplot, NULL, 0);
  }
  close(ends[1]);
  if (error == ENOENT)
    return fail(why,
                "gnuplot is not installed: --plot needs it (on Debian, the package "
                "gnuplot-nox)");
  errno = error;
  return fail_errno(why, "gnuplot", "start");
}

int plot_open(plot *p, const char *path, const char *title, failure *why) {
  *p = (plot){0};
  if (output_open(&p->file, path, why)) return -1;
  /* A gnuplot that ends early is met in plot_close(), not by a signal. */
  signal(SIGPIPE, SIG_IGN);
  if (start_gnuplot(p, why)) {
    signal(SIGPIPE, SIG_DFL);
    output_discard(&p->file);
    return -1;
  }
  fprintf(p->script,
          "set terminal svg size 960,540 dynamic enhanced background rgb 'white' "
          "font 'sans-serif,12'\n"
          "set encoding utf8\n"
          "set key outside right noenhanced\n"
          "set grid back linecolor rgb '#dddddd'\n"
          "set title \"");
  plot_text(p, title);
  fprintf(p->script, "\" noenhanced\n");
  return 0;
}

void plot_text(const plot *p, const char *text) {
  for (; *text; text++) {
    if ((unsigned char)*text < 0x20) {
      fputc(' ', p->script);
    } else {
      if (strchr("\"\\`", *text)) fputc('\\', p->script);
      fputc(*text, p->script);
    }
  }
}

static void point(const plot *p, const double *x, const double *y, size_t i) {
  fprintf(p->script, "%.9g %.9g\n", x ? x[i] : (double)i, y[i]);
}

void plot_series(const plot *p, const char *name, const double *x, const double *y,
                 size_t count) {
  fprintf(p->script, "$%s << END\n", name);
  size_t stretch = count / STRETCHES;
  if (stretch < 3) stretch = 1;
  for (size_t first = 0; first < count; first += stretch) {
    size_t end = count - first < stretch ? count : first + stretch;
    size_t low = first, high = first;
    for (size_t i = first; i < end; i++) {
      if (y[i] < y[low]) low = i;
      if (y[i] > y[high]) high = i;
    }
    point(p, x, y, low < high ? low : high);
    if (low != high) point(p, x, y, low < high ? high : low);
  }
  fprintf(p->script, "END\n");
}

int plot_close(plot *p, failure *why) {
  fprintf(p->script, "\nunset output\n");
  int broken = fclose(p->script) != 0;
  int ended = 0;
  pid_t waited;
  while ((waited = waitpid(p->gnuplot, &ended, 0)) < 0 && errno == EINTR) continue;
  signal(SIGPIPE, SIG_DFL);
  if (broken || waited < 0 || ended) {
    int status = fail(why, "%s: gnuplot failed to draw the picture", p->file.path);
    output_discard(&p->file);
    return status;
  }
  return output_commit(&p->file, why);
}
