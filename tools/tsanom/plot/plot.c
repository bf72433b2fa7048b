/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures by gnuplot. The script is collected in a file in memory (memfd_create(2)),
 * which becomes gnuplot's input; gnuplot is started without a shell, and texts are
 * quoted, so that no title or path is taken for a command. The picture is read from its
 * output and then written as a whole, so that a failure leaves no half picture.
 *
 * Series are thinned to what a picture can show: of each stretch the smallest and the
 * largest value are drawn, in their order, so that no peak is lost. */
#include "plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/replace_file.h"
#include "process.h"

enum {
  STRETCHES = 2000, /* about two a pixel of the picture's width */
  COMPLAINT_BYTES = 1024
};

/* The extension of a file name with its point, or "". */
static const char *extension(const char *path) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash + 1 : path, '.');
  return dot && dot[1] ? dot : "";
}

int plot_format_known(const char *path) {
  const char *end = extension(path);
  return !*end || strcasecmp(end, ".svg") == 0 || strcasecmp(end, ".png") == 0;
}

void plot_size(const plot *p, int width, int height) {
  fprintf(p->script,
          "set terminal %s size %d,%d%s enhanced background rgb 'white' font "
          "'sans-serif,12'\n",
          p->png ? "pngcairo" : "svg", width, height, p->png ? "" : " dynamic");
}

int plot_open(plot *p, const char *path, const char *title, failure *why) {
  p->path = path;
  p->png = strcasecmp(extension(path), ".png") == 0;
  int descriptor = memfd_create("script", MFD_CLOEXEC);
  p->script = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
  if (!p->script) {
    fail_errno(why, path, "draw");
    if (descriptor >= 0) close(descriptor);
    return -1;
  }
  plot_size(p, 960, 540);
  static const char *const palette[] = {PLOT_BLUE,   PLOT_VERMILION, PLOT_GREEN,
                                        PLOT_PURPLE, PLOT_ORANGE,    "#56B4E9",
                                        "#000000"};
  for (size_t i = 0; i < sizeof palette / sizeof *palette; i++) {
    fprintf(p->script, "set linetype %zu linecolor rgb '%s'\n", i + 1, palette[i]);
  }
  fprintf(p->script,
          "set linetype cycle 7\n"
          "set encoding utf8\n"
          "set border 3\nset tics nomirror\n"
          "set key outside right noenhanced\n"
          "set grid back linecolor rgb '#dddddd'\n"
          "set title \"");
  plot_text(p, title);
  fprintf(p->script, "\" noenhanced\n");
  return 0;
}

/* Text within double quotes of gnuplot: quotes, backslashes and backquotes are escaped.
 */
void plot_text(const plot *p, const char *text) {
  for (; *text; text++) {
    int special = strchr("\"\\`", *text) != NULL;
    if (special) fputc('\\', p->script);
    fputc((unsigned char)*text < 0x20 ? ' ' : *text, p->script);
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

/* The last line in the file `complaints`, in which gnuplot states why it failed. */
static const char *last_complaint(int complaints, char text[COMPLAINT_BYTES]) {
  ssize_t bytes = pread(complaints, text, COMPLAINT_BYTES - 1, 0);
  size_t length = bytes > 0 ? (size_t)bytes : 0;
  while (length && text[length - 1] == '\n') length--;
  text[length] = '\0';
  const char *line = strrchr(text, '\n');
  line = line ? line + 1 : text;
  return line + strspn(line, " ");
}

/* Whether a file has the end of its format: a chunk IEND with its checksum, or </svg>. */
static int is_complete(const plot *p, const char *picture, size_t length) {
  if (!p->png) return strstr(picture, "</svg>") != NULL;
  return length > 8 && memcmp(picture + length - 8, "IEND", 4) == 0;
}

/* The picture, whole: gnuplot does not report that it could not write it all. What it
 * says matters only if there is none: of equal samples, it warns that their range is
 * empty. */
static int draw(const plot *p, int complaints, char **picture, size_t *bytes,
                failure *why) {
  char name[] = "gnuplot", no_settings_of_users[] = "-d";
  /* Nothing of the caller's environment, so that pictures do not depend on it;
   * in a locale that is not UTF-8 gnuplot complains of its own degree sign. */
  char locale[] = "LC_ALL=C.UTF-8";
  int error =
      run_program((char *[]){name, no_settings_of_users, NULL}, (char *[]){locale, NULL},
                  fileno(p->script), complaints, picture, bytes);
  if (error == ENOENT) {
    return fail(why,
                "gnuplot is not installed: --plot needs it (on Debian, the package "
                "gnuplot-nox)");
  }
  if (error == ENOMEM) return fail(why, "%s: out of memory", p->path);
  if (error > 0) {
    errno = error;
    return fail_errno(why, name, "start");
  }
  if (error || !is_complete(p, *picture, *bytes)) {
    char text[COMPLAINT_BYTES];
    const char *complaint = last_complaint(complaints, text);
    return fail(why, "%s: gnuplot failed to draw the picture%s%s", p->path,
                *complaint ? ": " : "", complaint);
  }
  return 0;
}

int file_write(const char *path, const char *text, size_t bytes, failure *why) {
  int error;
  const char *failed = tsn_replace_file(path, text, bytes, &error);
  if (!failed) return 0;
  return error ? fail(why, "%s: %s: %s", path, failed, strerror(error))
               : fail(why, "%s: %s", path, failed);
}

int plot_close(plot *p, failure *why) {
  char *picture = NULL;
  size_t bytes = 0;
  int status, complaints = memfd_create("complaints", MFD_CLOEXEC);
  if (complaints < 0 || fflush(p->script) || ferror(p->script) ||
      fseek(p->script, 0, SEEK_SET)) {
    status = fail_errno(why, p->path, "draw");
  } else {
    status = draw(p, complaints, &picture, &bytes, why);
  }
  if (complaints >= 0) close(complaints);
  fclose(p->script);
  if (!status) status = file_write(p->path, picture, bytes, why);
  free(picture);
  return status;
}

int plot_lines(const char *path, const char *title, const char *unit, const char *member,
               const plot_line *line, size_t lines, failure *why) {
  plot p;
  if (plot_open(&p, path, title, why)) return -1;
  for (size_t i = 0; i < lines; i++) {
    char name[32];
    (void)snprintf(name, sizeof name, "t%zu", i);
    if (line[i].count) plot_series(&p, name, line[i].time, line[i].value, line[i].count);
  }
  fprintf(p.script,
          "set xlabel 'time, s'\nset ylabel '%s'\nset yrange [0:*]\n" PLOT_LABELS "plot ",
          unit);
  for (size_t i = 0; i < lines; i++) {
    if (!line[i].count) continue;
    fprintf(p.script, "$t%zu with lines title '%s %zu' at end, ", i, member,
            line[i].number);
  }
  fprintf(p.script, "\n");
  return plot_close(&p, why);
}

void plot_abandon(plot *p) {
  fclose(p->script);
}
