/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit statuses, the name in front of messages, and the standard descriptors: what both
 * programs of the command have in common. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char name[64] = "tsanom";
static const char clear_line[] = "\r\033[K";
static bool bar_is_shown;

/* If a standard descriptor is closed, the next file that is opened would take its place
 * and receive our messages. Occupy it by /dev/null, opened for the wrong direction so
 * that reads and writes still fail. A program that replaces this one sees the descriptor
 * closed, as without tsanom. */
static void hold_standard_descriptors(void) {
  for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++) {
    if (fcntl(d, F_GETFD) != -1) continue;
    int mode = d == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode | O_CLOEXEC) < 0) _exit(EXIT_INPUT);
  }
}

/* Write bytes as they are; errno says why fewer were written. */
static size_t write_all(int descriptor, const char *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    ssize_t put = write(descriptor, bytes + done, count - done);
    if (put < 0 && errno != EINTR) break;
    if (put > 0) done += (size_t)put;
  }
  return done;
}

static void remove_bar(void) {
  if (bar_is_shown) (void)write_all(STDERR_FILENO, clear_line, sizeof clear_line - 1);
  bar_is_shown = false;
}

void print_bar(const char *text) {
  remove_bar();
  (void)write_all(STDERR_FILENO, text, strlen(text));
  bar_is_shown = true;
}

/* A full disk is detected when the buffer is flushed; exit() would ignore the error. */
static void check_standard_output(void) {
  int failed_before = ferror(stdout);
  const char *reason = NULL;
  remove_bar();
  if (fflush(stdout)) {
    reason = strerror(errno);
  } else if (failed_before) {
    reason = "a write failed";
  }
  if (!reason) return;
  fprintf(stderr, "%s: cannot write the standard output: %s\n", name, reason);
  _exit(EXIT_INPUT);
}

/* A stream whose reader is a terminal. */
typedef struct {
  int descriptor;
  unsigned char last; /* byte that was printed */
} guarded_stream;

/* Its printer. A file can contain names that are commands to a terminal (ESC ] 0 ; sets its title):
 * each such byte is printed as a question mark. So are U+0080 to U+009F, which are C2 80 to C2 9F
 * in UTF-8, as the one that is turned over: C2 BF. */
static ssize_t print_harmless(void *stream, const char *text, size_t length) {
  enum { PIECE = 1024, TURNED = 0xbf };
  guarded_stream *s = stream;
  char piece[PIECE];
  size_t done = 0;
  remove_bar();
  while (done < length) {
    size_t count = length - done < PIECE ? length - done : PIECE;
    for (size_t i = 0; i < count; i++) {
      unsigned char c = (unsigned char)text[done + i];
      bool is_control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
      bool is_second = s->last == 0xc2 && c >= 0x80 && c < 0xa0;
      piece[i] = (char)(is_control ? '?' : is_second ? TURNED : c);
      s->last = c;
    }
    size_t put = write_all(s->descriptor, piece, count);
    done += put;
    if (put < count) break;
  }
  return done ? (ssize_t)done : -1;
}

static void guard_terminal(FILE **stream, guarded_stream *own, int mode) {
  if (!isatty(own->descriptor)) return;
  FILE *guarded = fopencookie(own, "w", (cookie_io_functions_t){.write = print_harmless});
  if (!guarded) return;
  (void)setvbuf(guarded, NULL, mode, BUFSIZ);
  *stream = guarded;
}

void print_terminal_code(const char *code) {
  fflush(stdout);
  remove_bar();
  (void)write_all(STDOUT_FILENO, code, strlen(code));
}

void prepare_output(void) {
  static guarded_stream output = {STDOUT_FILENO, 0}, messages = {STDERR_FILENO, 0};
  hold_standard_descriptors();
  guard_terminal(&stdout, &output, _IOLBF);
  guard_terminal(&stderr, &messages, _IOLBF);
  atexit(check_standard_output);
}

char *set_subcommand(const char *subcommand) {
  (void)snprintf(name, sizeof name, "tsanom %s", subcommand);
  return name;
}

int report_failure(const failure *why) {
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", name, why->text);
  return EXIT_INPUT;
}

void warn(const char *format, ...) {
  va_list arguments;
  failure why;
  va_start(arguments, format);
  (void)vsnprintf(why.text, sizeof why.text, format, arguments);
  va_end(arguments);
  fflush(stdout);
  fprintf(stderr, "%s: warning: %s\n", name, why.text);
}
