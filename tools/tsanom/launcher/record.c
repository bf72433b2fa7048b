/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record: executes a program with the interception library preloaded. The program
 * replaces this process, so that its output, its exit status and the signals it receives
 * are its own:
 *
 *   tsanom record -o RUN -- PROGRAM ARG...
 *     check    program, its linkage, the library, the directory      exit 2 or 3
 *     set      LD_PRELOAD, and what tools/environment.h lists
 *     execvp   PROGRAM ARG...                                        its own exit status
 *
 * The run itself is created by the program, when it is loaded or at its first parallel region. What
 * can go wrong there is found here, while the user still reads messages. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "environment.h"
#include "launcher.h"
#include "linkage.h"
#include "metrics.h"
#include "options.h"
#include "process.h"
#include "rank_file.h"
#include "record/identity.h"
#include "record/messages.h"
#include "record/regions.h"
#include "reserve.h"

/* The run directory: its default name, and whether a run can be created in it. */

enum { RUNS_MOST = 100000 };

/* Makes the run directory of a program for which none was given: "PROGRAM.run", with "-2",
 * "-3", ... if that exists. All ranks of an MPI program get the first name, and the
 * recorder chooses which of them is recorded. */
static const char *default_directory(const char *program) {
  static char path[PATH_MAX];
  const char *slash = strrchr(program, '/');
  const char *name = slash && slash[1] ? slash + 1 : program;
  (void)snprintf(path, sizeof path, "%s.run", name);
  rank_identity rank;
  if (rank_from_environment(&rank)) return path;
  for (int i = 2; i < RUNS_MOST && mkdir(path, 0777) != 0 && errno == EEXIST; i++) {
    (void)snprintf(path, sizeof path, "%s.run-%d", name, i);
  }
  return path;
}

/* Whether a launcher of ranks started this process, also as the only one. */
static int is_rank(void) {
  rank_identity own;
  (void)rank_from_environment(&own);
  return own.rank >= 0;
}

/* Whether the run is being written by another process of this machine. Then this one may
 * be one of several that share it, and must run: the recorder reports that it is not
 * recorded. */
static int is_being_written(const char *directory) {
  tsn_run_header run, here;
  char path[PATH_MAX + sizeof "/" TSN_RUN_FILE];
  (void)snprintf(path, sizeof path, "%s/" TSN_RUN_FILE, directory);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int is_read = file >= 0 && pread(file, &run, sizeof run, 0) == sizeof run;
  if (file >= 0) close(file);
  if (!is_read || run.version != TSN_FORMAT_VERSION || run.state != TSN_RUNNING ||
      !run.pid || run.pid > INT_MAX) {
    return 0;
  }
  tsn_identify(&here);
  if (!tsn_is_same_process_space(&run, &here)) return 1;
  return kill((pid_t)run.pid, 0) == 0 || errno == EPERM;
}

static int has_run_below(const char *directory, const char *name) {
  char path[PATH_MAX + NAME_MAX];
  (void)snprintf(path, sizeof path, "%s/%s", directory, name);
  return ranks_has_run(path);
}

/* A run that is there already is not written again. A rank has a directory of its own in
 * the run, which must be that of this job. */
static int check_free(const char *directory, failure *why) {
  char file[PATH_MAX];
  rank_identity own;
  int has_rank = rank_from_environment(&own);
  int ranks = ranks_compare(directory, &own);
  if (ranks == RANKS_OTHER || (ranks == RANKS_SAME && !has_rank)) {
    return fail(
        why, "%s: contains the run of another job; remove it or give another directory",
        directory);
  }
  int length = has_rank ? snprintf(file, sizeof file, "%s/rank.%d", directory, own.rank)
                        : snprintf(file, sizeof file, "%s", directory);
  if (length < 0 || (size_t)length + sizeof "/regions/heartbeat.run" > sizeof file) {
    return fail(why, "%s: path too long; give a shorter one", directory);
  }
  char of_program[PATH_MAX + sizeof ENVIRONMENT_PLAIN_DIRECTORY];
  (void)snprintf(of_program, sizeof of_program, "%s/" ENVIRONMENT_PLAIN_DIRECTORY,
                 directory);
  if (!ranks_has_run(file) && !has_run_below(file, TSN_REGIONS_DIRECTORY) &&
      (!has_rank || !ranks_has_run(directory)) && !ranks_has_run(of_program)) {
    return 0;
  }
  if (!has_rank && (is_being_written(file) || is_being_written(of_program))) return 0;
  return fail(why, "%s: contains a run already; remove it or give another directory",
              directory);
}

/* A pipe without a reader would end this process, and a full one stop it, where the
 * program does not write at all. */
static void print_line(const char *directory, int begins) {
  static const char regions[] =
      "parallel regions, calls of MPI, heartbeats and vital signs";
  static const char *const what[] = {
      [0] = regions,
      [ENVIRONMENT_LOADED] = regions,
      [ENVIRONMENT_LOADED_FOR_NOW] = regions,
      [ENVIRONMENT_PLAIN] =
          "vital signs, threads and beats of processor time, without regions and "
          "calls, as the program uses neither OpenMP nor MPI",
      [ENVIRONMENT_PLAIN_FOR_NOW] =
          "vital signs, threads and beats of processor time of this process alone; as "
          "soon as it, or one that it starts, comes to a parallel region or a call of "
          "MPI, those of that process instead, with heartbeats"};
  struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&out, 1, 0) != 1 || out.revents & (POLLERR | POLLNVAL)) return;
  void (*before)(int) = signal(SIGPIPE, SIG_IGN);
  (void)dprintf(STDERR_FILENO,
                "tsanom record: recording to %s: %s; afterwards: tsanom summary %s\n",
                directory, what[begins], directory);
  (void)signal(SIGPIPE, before);
}

/* Creates the page of messages in a directory that was checked, and prints what will be
 * recorded: the program's own output must not be mixed with ours later. */
static void announce(const char *directory, int begins) {
  rank_identity own;
  int has_rank = rank_from_environment(&own);
  int is_new = !has_rank && !ranks_has_run(directory) &&
               !has_run_below(directory, ENVIRONMENT_PLAIN_DIRECTORY);
  int error = tsn_messages_create(directory, is_new);
  if (error) {
    warn("%s: no page for messages of the recorder: %s", directory, strerror(error));
  }
  if (has_rank && own.rank > 0) return;
  print_line(directory, begins);
}

/* Checks that a run can be created in the directory, which is created if necessary.
 * `path` receives its absolute path, because the program may change its directory. The
 * program creates the run, too late to report that it cannot be; so check now. */
static int check_directory(const char *directory, char path[PATH_MAX], failure *why) {
  struct stat about;
  if (stat(directory, &about) != 0) {
    if (errno != ENOENT) return fail_errno(why, directory, "use");
    if (mkdir(directory, 0777) && errno != EEXIST)
      return fail_errno(why, directory, "create");
  } else if (!S_ISDIR(about.st_mode)) {
    return fail(why, "%s: not a directory; give the path of a run directory to create",
                directory);
  }
  if (!realpath(directory, path)) return fail_errno(why, directory, "use");
  if (access(path, W_OK | X_OK)) return fail_errno(why, directory, "write into");
  return check_free(path, why);
}

/* What is known about the program to record before it runs: where it is, how it is
 * linked, and whether the loader will accept LD_PRELOAD for it (see ld.so(8),
 * "secure-execution mode").
 *
 * A program for which the loader ignores LD_PRELOAD runs as usual and records nothing,
 * without a message from anyone. So this is recognized beforehand and reported as a
 * warning: the program is started nevertheless, because it may start another one that
 * can be recorded. */

int find_companion(const char *const *relative, size_t count, const char *name,
                   char path[PATH_MAX], failure *why) {
  char self[PATH_MAX], candidate[2 * PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return fail_errno(why, "/proc/self/exe", "read");
  self[length] = '\0';
  char *slash = strrchr(self, '/');
  if (slash) *slash = '\0';
  for (size_t i = 0; i < count; i++) {
    (void)snprintf(candidate, sizeof candidate, "%s/%s/%s", self, relative[i], name);
    if (realpath(candidate, path)) return 0;
  }
  return fail(why, "%s/%s/%s: not found; install tsanom again", self, relative[0], name);
}

static int is_program(const char *path) {
  struct stat about;
  errno = EACCES;
  return access(path, X_OK) == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* As execvp(3) does: an empty element of PATH is the current directory; a name with a slash is not
 * searched for. */
static int find_program(const char *name, char path[PATH_MAX], failure *why) {
  const char *search = getenv("PATH");
  if (strchr(name, '/')) {
    (void)snprintf(path, PATH_MAX, "%s", name);
    return is_program(path) ? 0 : fail_errno(why, name, "run");
  }
  if (!search) search = "/bin:/usr/bin";
  for (const char *end = search; *end; search = end + 1) {
    end = search + strcspn(search, ":");
    (void)snprintf(path, PATH_MAX, "%.*s/%s", end > search ? (int)(end - search) : 1,
                   end > search ? search : ".", name);
    if (is_program(path)) return 0;
  }
  if (access(name, X_OK) == 0) {
    return fail(why, "%s: not found in PATH; for the program in this directory, use ./%s",
                name, name);
  }
  return fail(why, "%s: program not found in PATH", name);
}

/* What makes the loader ignore LD_PRELOAD, as words for a message; NULL: nothing does.
 * Set-ID bits have no effect on file systems that are mounted nosuid, nor if the
 * program's owner or group is that of the user. */
static const char *privilege_of(const char *path) {
  struct stat about;
  struct statvfs mounted;
  if (stat(path, &about) != 0) return NULL;
  if (statvfs(path, &mounted) == 0 && (mounted.f_flag & ST_NOSUID)) return NULL;
  if ((about.st_mode & S_ISUID) && about.st_uid != getuid()) return "set-user-ID program";
  if ((about.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
      about.st_gid != getgid()) {
    return "set-group-ID program";
  }
  if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0) {
    return "program with file capabilities";
  }
  return NULL;
}

/* Warns if the loader will ignore LD_PRELOAD for this program: set-user-ID, set-group-ID
 * or file capabilities. */
static void warn_if_privileged(const char *path) {
  const char *privilege = privilege_of(path);
  if (!privilege) return;
  warn(
      "%s: %s: the loader ignores LD_PRELOAD, so nothing will be recorded; record a copy "
      "of the program without this privilege",
      path, privilege);
}

/* Warns if the program is env(1) with -i or LD_PRELOAD=. Options of env(1) in front of variables
 * and the command: -, -i and --ignore-environment clear the environment; the rest
 * of a cluster after u, C or S is an argument. */
static void warn_if_environment_is_cleared(char *const *program) {
  const char *slash = strrchr(program[0], '/');
  if (strcmp(slash ? slash + 1 : program[0], "env") != 0) return;
  for (char *const *word = program + 1; *word && (**word == '-' || strchr(*word, '='));
       word++) {
    const char *option = **word == '-' ? *word + 1 : "-";
    int cleared = !*option || strcmp(option, "-ignore-environment") == 0 ||
                  (*option != '-' && option[strcspn(option, "iuCS")] == 'i') ||
                  strncmp(*word, "LD_PRELOAD=", strlen("LD_PRELOAD=")) == 0;
    if (!cleared) {
      if (*option && strchr("uCS", option[strlen(option) - 1]) && *option != '-') word++;
      if (!*word) return;
      continue;
    }
    warn(
        "env %s: removes the recorder from LD_PRELOAD, so nothing will be recorded; put "
        "env in front of tsanom: env %s tsanom record ...",
        *word, *word);
    return;
  }
}

/* What a program prints; NULL: it fails, or prints nothing. */
static char *output_of(char *const arguments[]) {
  char *text;
  size_t length;
  if (!run_program(arguments, environ, -1, -1, &text, &length) && length) return text;
  free(text);
  return NULL;
}

/* ---- the place of its iterations
 *
 * The place that `tsanom record --loop` names: MODULE+0xADDRESS, or a function of the
 * program by its name, as nm(1) of the GNU binary utilities lists it. */

enum { LOOP_BYTES = 512 };

static int is_place(const char *text) {
  const char *plus = strrchr(text, '+');
  char *end = NULL;
  if (!plus || plus == text || strncmp(plus, "+0x", 3) != 0) return 0;
  (void)strtoull(plus + 1, &end, 16);
  return end > plus + 3 && *end == '\0';
}

/* The length of a name without " (FILE:LINE)", which tsanom speedup adds to it. */
static size_t name_length(const char *text) {
  size_t length = strlen(text);
  const char *site = NULL;
  for (const char *at = strstr(text, " ("); at; at = strstr(at + 1, " (")) site = at;
  int is_site = site && text[length - 1] == ')' && strchr(site, ':');
  return is_site ? (size_t)(site - text) : length;
}

/* Whether a line "ADDRESS KIND NAME" is that of the function; *address receives it. */
static int is_function(const char *line, size_t line_length, const char *name,
                       size_t length, unsigned long long *address) {
  char *end = NULL;
  *address = strtoull(line, &end, 16);
  int is_code = strncmp(end, " t ", 3) == 0 || strncmp(end, " T ", 3) == 0;
  if (end == line || !is_code) return 0;
  size_t before = (size_t)(end - line) + 3;
  return line_length == before + length && memcmp(line + before, name, length) == 0;
}

/* How many functions have the name; *first and *last are their addresses. */
static size_t count_functions(const char *lines, const char *name, size_t length,
                              unsigned long long *first, unsigned long long *last) {
  size_t count = 0;
  while (*lines) {
    size_t line = strcspn(lines, "\n");
    if (is_function(lines, line, name, length, last) && !count++) *first = *last;
    lines += line + (lines[line] == '\n');
  }
  return count;
}

static int find_loop(const char *program, const char *text, char place[LOOP_BYTES],
                     failure *why) {
  char tool[] = "nm", demangled[] = "-C", defined[] = "--defined-only", *file;
  char shown[QUOTED_BYTES];
  unsigned long long address = 0, other = 0;
  const char *name = strrchr(program, '/');
  name = name ? name + 1 : program;
  if (is_place(text)) {
    if (snprintf(place, LOOP_BYTES, "%s", text) < LOOP_BYTES) return 0;
    return fail(why, "--loop: %s: too long", quoted(shown, text));
  }
  file = make_text("%s", program);
  char *lines = output_of((char *[]){tool, demangled, defined, file, NULL});
  free(file);
  if (!lines) {
    return fail(why,
                "--loop: nm (binutils) is not installed, or %s has no symbols; "
                "MODULE+0xADDRESS, as tsanom speedup prints it, is expected",
                program);
  }
  size_t count = count_functions(lines, text, name_length(text), &address, &other);
  free(lines);
  if (count == 1) {
    if (snprintf(place, LOOP_BYTES, "%s+0x%llx", name, address) < LOOP_BYTES) return 0;
    return fail(why, "%s: the name is too long for --loop", program);
  }
  if (count) {
    return fail(
        why,
        "--loop: %s has %zu functions %s, such as %s+0x%llx; expected one of their "
        "addresses",
        program, count, quoted(shown, text), name, address);
  }
  return fail(
      why,
      "--loop: nm lists no function %s of %s; expected a name or MODULE+0xADDRESS, "
      "as tsanom speedup prints them",
      quoted(shown, text), program);
}

/* Warns of the metrics, given by bits, that this machine does not count. */
static void warn_of_metrics(uint32_t metrics) {
  const char *before = "tsanom record: warning: not counted on this machine: ";
  for (int m = 0; m < TSN_REGIONS_METRICS; m++) {
    size_t length;
    const char *name = metrics_name(m, &length);
    int error = metrics >> m & 1 ? metrics_check(m) : 0;
    if (!error) continue;
    (void)fprintf(stderr, "%s%.*s (%s)", before, (int)length, name, strerror(error));
    before = ", ";
  }
  if (*before == ',') (void)fprintf(stderr, "\n");
}

enum { BASELINE_ITERATIONS = 5 };

typedef struct {
  shared_options shared;
  const char *directory, *loop; /* NULL: none is named */
  size_t every;
  int cpu_time, force, functions, ompt, by_time;
  uint32_t metrics;                      /* bits; 0: none */
  size_t baseline, baseline_iterations;  /* 0: none */
  size_t max_size;                       /* bytes; 0: any */
  size_t events;                         /* bytes until totals; 0: any */
  char labels[ENVIRONMENT_LABELS_BYTES]; /* lines KEY=VALUE */
} request;

static void take_every(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  r->every = count_argument(state, "--heartbeat-every", text);
  if (!r->every || r->every > INT_MAX) {
    argp_error(state, "--heartbeat-every: at least 1 region is expected");
  }
}

static void take_loop(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  (void)state;
  r->loop = text;
  r->by_time = 0;
}

static void take_loop_or_time(struct argp_state *state, char *text, void *request_) {
  take_loop(state, text, request_);
  ((request *)request_)->by_time = strcmp(text, ENVIRONMENT_LOOP_TIME) == 0;
}

static void take_baseline(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  char *colon = strchr(text, ':');
  r->baseline_iterations = BASELINE_ITERATIONS;
  if (colon) {
    *colon = '\0';
    r->baseline_iterations = count_argument(state, "--baseline", colon + 1);
  }
  r->baseline = count_argument(state, "--baseline", text);
  if (!r->baseline || !r->baseline_iterations || r->baseline > 4096 ||
      r->baseline_iterations > INT_MAX) {
    argp_error(state, "--baseline: 1 to 4096 threads, and at least 1 iteration");
  }
}

/* At least what a process needs to record some iterations. */
static size_t parse_size(const char *option, const char *text, struct argp_state *state) {
  enum { LEAST = 1 << 16 };
  static const char suffixes[] = "KMG";
  char digits[32] = "";
  size_t length = strspn(text, "0123456789"), size = 0;
  const char *suffix = text[length] ? strchr(suffixes, text[length]) : NULL;
  int is_whole = !text[length] || (suffix && !text[length + 1]);
  if (length < sizeof digits) memcpy(digits, text, length);
  if (is_whole && *digits) size = count_argument(state, option, digits);
  for (int i = suffix ? (int)(suffix - suffixes) + 1 : 0; i > 0; i--) {
    if (__builtin_mul_overflow(size, (size_t)1024, &size)) size = 0;
  }
  if (size < LEAST) {
    argp_error(state, "%s: at least 64K are expected, such as 500M or 2G", option);
  }
  return size;
}

static void take_max_size(struct argp_state *state, char *text, void *request_) {
  ((request *)request_)->max_size = parse_size("--max-size", text, state);
}

static void take_profile(struct argp_state *state, char *text, void *request_) {
  ((request *)request_)->events =
      text ? parse_size("--profile", text, state) : ENVIRONMENT_EVENTS_PROFILE;
}

static void take_events(struct argp_state *state, char *text, void *request_) {
  (void)state;
  (void)text;
  ((request *)request_)->events = 0;
}

static void add_label(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  size_t used = strlen(r->labels), key = strcspn(text, "=");
  if (!key || !text[key] || strchr(text, '\n')) {
    argp_error(state, "--label: KEY=VALUE is expected, in one line");
  }
  int length = snprintf(r->labels + used, sizeof r->labels - used, "%s\n", text);
  if ((size_t)length >= sizeof r->labels - used) {
    argp_error(state, "--label: at most %zu bytes of all labels are expected",
               sizeof r->labels - 1);
  }
}

static void take_metrics(struct argp_state *state, char *text, void *request_) {
  request *r = request_;
  r->metrics = metrics_of_list(text);
  if (r->metrics) return;
  argp_error(state, "--metrics: \"%s\"; auto or some of %s are expected", text,
             TSN_REGIONS_METRIC_NAMES);
}

/* Functions and metrics are of all events: totals are of times of regions only. */
static void check_line(struct argp_state *state, void *request_) {
  request *r = request_;
  if (!r->functions && !r->metrics) return;
  r->cpu_time = 1;
  if (r->events && r->events != ENVIRONMENT_EVENTS_DEFAULT) {
    argp_error(state,
               "--profile: with %s all events are kept; expected --max-size to limit "
               "them",
               r->functions ? "--functions" : "--metrics");
  }
  r->events = 0;
}

static const option_row options[] = {
    {"output", 'o', "RUN",
     "Run directory to create (default: PROGRAM.run, PROGRAM.run-2, ...)",
     TEXT(directory)},
    {"label", 0, "KEY=VALUE",
     "Note what the run is of, such as commit=1f3a or nodes=4, for tsanom compare; may "
     "be "
     "given several times",
     CALL(add_label)},
    {"heartbeat-every", 0, "N",
     "Beat every N parallel regions (default: once per iteration of the main loop, which "
     "is detected)",
     CALL(take_every)},
    {"loop", 0, "L",
     "Beat at each region L, the first of an iteration of the main loop: its name or "
     "MODULE+0xADDRESS, as tsanom speedup prints them (default: the loop is found)",
     CALL(take_loop)},
    {"beat-at", 0, "L|time",
     "The same as --loop; time: each thread beats for every 50 ms of its processor time "
     "instead (default for a program that has ended without beats)",
     CALL(take_loop_or_time)},
    {"cpu-time", 0, NULL,
     "Also record the CPU time of the parts of regions between barriers, and of all "
     "visits however short (default: of visits that it takes less than 0.3 % of, and of "
     "some of the others)",
     FLAG(cpu_time)},
    {"functions", 0, NULL,
     "Also record the functions of a program that was compiled with "
     "-finstrument-functions, for tsanom similar; implies --cpu-time and --events",
     FLAG(functions)},
    {"metrics", 0, "LIST",
     "Also count, for each thread and region, what LIST names: instructions, L1-misses, "
     "L2-misses, disk-bytes, network-bytes, separated by commas; \"auto\": all. For "
     "tsanom similar; implies --cpu-time and --events",
     CALL(take_metrics)},
    {"baseline", 0, "P[:K]",
     "Run the first K detected iterations with P threads, as the baseline for the others "
     "(default K: 5)",
     CALL(take_baseline)},
    {"max-size", 0, "SIZE",
     "End the recording of a process when its records take SIZE bytes; K, M and G stand "
     "for powers of 1024 (default: no limit)",
     CALL(take_max_size)},
    {"profile", 0, "SIZE",
     "Keep the events of a process until its records take SIZE bytes (default: 32K, less "
     "for several threads), and from then on totals of each region and thread, in "
     "constant space (default: from "
     "256M on)",
     CALL(take_profile), .flags = ARGUMENT_OPTIONAL},
    {"events", 0, NULL, "Keep all events, whatever space they take", CALL(take_events)},
    {"force", 0, NULL,
     "Do not look at how the program is linked: as soon as it, or one that it starts, "
     "comes "
     "to a parallel region or a call of MPI, the run is of that",
     FLAG(force)},
    {"ompt", 0, NULL,
     "Use the tools interface (OMPT) of LLVM's runtime. Needed if the runtime is linked "
     "statically into the program, where its functions cannot be intercepted",
     FLAG(ompt)},
};

static const syntax command_line = {
    ROWS(options),
    .arguments = "-- PROGRAM [ARGUMENT...]",
    .help =
        "Run an unmodified OpenMP or MPI program, and record its parallel regions, its "
        "calls of MPI and one heartbeat per iteration.\v"
        "The exit status is that of the program, or 2 or 3 if it could not be started. "
        "The run begins with the program; if this starts another one that comes to a "
        "region or MPI_Init first, with that. All ranks of an MPI program are recorded, "
        "as one run: mpirun -n N tsanom record -o RUN -- PROGRAM.",
    .expected = "a program is",
    .least = 1,
    .in_order = 1,
    .check = check_line,
};

/* Runtimes that a program is linked with; part of the name of a library is enough, since versions
 * differ. */
enum { OPENMP = 1, MPI = 2 };

/* Whether a file in a list of paths has a name that begins here. That of libmpir, a relative of
 * GMP, begins as those of MPI do. */
static int is_file(const char *list, const char *name) {
  int begins = name == list || strchr("/\n\t", name[-1]);
  return begins && name[strcspn(name, "/ \n")] != '/' && strncmp(name, "libmpir", 7) != 0;
}

static int runtimes_in(const char *libraries) {
  static const struct {
    const char *name;
    int runtime;
  } known[] = {{"libgomp.so", OPENMP},
               {"libomp.so", OPENMP},
               {"libomp-", OPENMP},
               {"libiomp5.so", OPENMP},
               {"libmpi", MPI}};
  int found = 0;
  for (size_t i = 0; libraries && i < sizeof known / sizeof *known; i++) {
    const char *name = strstr(libraries, known[i].name);
    for (; name; name = strstr(name + 1, known[i].name)) {
      if (is_file(libraries, name)) found |= known[i].runtime;
    }
  }
  return found;
}

/* The loader lists all that it would load, one "NAME => PATH (ADDRESS)" per line, without running
 * the program; this takes about 1 ms. NULL: it cannot. */
static char *list_libraries(const char *path, program_link *link) {
  char list[] = "--list", *file = make_text("%s", path);
  char *libraries = output_of((char *[]){link->loader, list, file, NULL});
  free(file);
  return libraries;
}

/* If the program does not name a runtime itself, its libraries may. */
static int runtimes_of(const char *path, program_link *link) {
  int found = runtimes_in(link->needed);
  if (found) return found;
  char *libraries = list_libraries(path, link);
  /* A loader that cannot list: any. */
  found = libraries ? runtimes_in(libraries) : OPENMP | MPI;
  free(libraries);
  return found;
}

/* Whether a program starts the ranks of another one. */
static int is_mpi_launcher(const char *path) {
  static const char *const launchers[] = {"mpirun", "mpiexec", "orterun", "prterun",
                                          "prun",   "srun",    "aprun",   "jsrun",
                                          "flux",   "ibrun"};
  const char *name = strrchr(path, '/');
  name = name ? name + 1 : path;
  for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
    size_t length = strlen(launchers[i]);
    if (strncmp(name, launchers[i], length) == 0 && strchr("._", name[length])) return 1;
  }
  return 0;
}

/* What begins when the program is loaded. One that starts programs, or loads libraries while it
 * runs, may be without regions and calls of MPI for now, and then start the program that comes to
 * some, or come to them itself: Python, R, env(1). What its libraries start is not asked: one in
 * eight libraries can start programs, and hardly any program with OpenMP would have its beginning.
 * A rank is of a program that uses MPI. Where none is known, those of an unknown launcher cannot
 * begin the same run before MPI_Init. A program that names a runtime itself uses it, also if it
 * starts others: its run goes on at its first region, unless one of these was there before. */
static int what_begins(const char *path, program_link *link) {
  int waits = is_rank() ? 0 : ENVIRONMENT_PLAIN_FOR_NOW;
  if (is_mpi_launcher(path)) return 0;
  if (link->linkage != LINKAGE_DYNAMIC) return waits;
  int runtimes = link->may_start ? runtimes_in(link->needed) : runtimes_of(path, link);
  if (!runtimes) return link->may_start || link->may_load ? waits : ENVIRONMENT_PLAIN;
  int may_give_way = !is_rank() && (link->may_start || runtimes & MPI);
  return may_give_way ? ENVIRONMENT_LOADED_FOR_NOW : ENVIRONMENT_LOADED;
}

/* Rejects a program into which nothing can be preloaded. */
static int check_linkage(const char *path, const program_link *link, failure *why) {
  if (link->linkage == LINKAGE_STATIC) {
    return fail(
        why,
        "%s: statically linked, so nothing can be preloaded; link the program and "
        "its OpenMP runtime or MPI dynamically",
        path);
  }
  if (link->linkage == LINKAGE_32_BIT) {
    return fail(why,
                "%s: a program of 32 bits, into which the recorder of 64 bits cannot be "
                "preloaded; build it for 64 bits",
                path);
  }
  return 0;
}

/* The preloaded library beside this program, in the installed or the build tree. */
static int find_library(int ompt, char path[PATH_MAX], failure *why) {
  static const char *const places[] = {TSANOM_PRELOAD_INSTALLED, TSANOM_PRELOAD_BUILT};
  const char *name = ompt ? "libtsanom-preload-ompt.so" : "libtsanom-preload.so";
  if (find_companion(places, 2, name, path, why)) return -1;
  if (!strpbrk(path, " :")) return 0;
  return fail(
      why,
      "%s: the path contains a space or a colon, which LD_PRELOAD cannot express; "
      "install tsanom in a directory without them",
      path);
}

static void set_count(const char *name, size_t value) {
  char text[32];
  (void)snprintf(text, sizeof text, "%zu", value);
  setenv(name, text, 1);
}

/* Sets variable NAME to "VALUE:OTHERS" or "OTHERS:VALUE", where OTHERS is what it is set
 * to already. */
static void join_variable(const char *name, const char *value, int at_end) {
  const char *others = getenv(name);
  char *joined = !others || !*others ? make_text("%s", value)
                                     : make_text("%s:%s", at_end ? others : value,
                                                 at_end ? value : others);
  setenv(name, joined, 1);
  free(joined);
}

/* AddressSanitizer's runtime ends the program if it is not the first library, and
 * preloaded libraries come first. The order does not matter for a library that replaces
 * none of the functions that the runtime intercepts, so switch off the check. The
 * alternative, to preload the runtime too, would load it into every program that this one
 * starts. */
static void allow_sanitizer(const char *libraries) {
  if (!libraries) return;
  if (strstr(libraries, "libasan.so") || strstr(libraries, "libclang_rt.asan")) {
    join_variable("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
  }
}

static void warn_of_mpi(const char *path, const char *functions) {
  warn(
      "%s: uses functions of MPI that are not recorded: %s; the time in them counts as "
      "computation",
      path, functions);
}

/* --force and --ompt are for programs whose linkage does not show the runtime, and functions need
 * none: such a run is of the program alone until it comes to what begins another. */
static int prepare_program(const request *r, const char *path, int *begins,
                           failure *why) {
  program_link link;
  int is_forced = r->force || r->functions || r->ompt;
  read_link(path, &link);
  int status = is_forced ? 0 : check_linkage(path, &link, why);
  link.may_start |= is_forced;
  *begins = status ? 0 : what_begins(path, &link);
  if (!status) allow_sanitizer(link.needed);
  if (!status && *link.unknown_mpi) warn_of_mpi(path, link.unknown_mpi);
  free(link.needed);
  return status;
}

/* Without it the recorder samples the vital signs only at the beginning and the end. */
static void find_sampler(void) {
  static const char *const places[] = {TSANOM_ANALYZE_INSTALLED, TSANOM_SAMPLER_BUILT};
  char path[PATH_MAX];
  failure why;
  if (find_companion(places, 2, "tsanom-sampler", path, &why) == 0) {
    setenv("TSANOM_RECORD_SAMPLER", path, 1);
  }
}

/* The variables of the run are set last, when everything is checked. */
static int prepare(request *r, int *begins, failure *why) {
  char program[PATH_MAX], library[PATH_MAX], directory[PATH_MAX], loop[LOOP_BYTES];
  if (find_program(r->shared.argument[0], program, why) ||
      find_library(r->ompt, library, why) || prepare_program(r, program, begins, why) ||
      (r->loop && !r->by_time && find_loop(program, r->loop, loop, why))) {
    return -1;
  }
  if (!r->directory) r->directory = default_directory(r->shared.argument[0]);
  if (check_directory(r->directory, directory, why)) return -1;
  join_variable("LD_PRELOAD", library, 0);
  warn_if_privileged(program);
  warn_if_environment_is_cleared(r->shared.argument);
  warn_of_metrics(r->metrics);
  find_sampler();
  setenv(ENVIRONMENT_RUN, directory, 1);
  unsetenv(ENVIRONMENT_LOOP);
  unsetenv(ENVIRONMENT_LABELS);
  if (r->by_time || (*begins == ENVIRONMENT_PLAIN && !r->loop)) {
    setenv(ENVIRONMENT_LOOP, ENVIRONMENT_LOOP_TIME, 1);
  } else if (r->loop) {
    setenv(ENVIRONMENT_LOOP, loop, 1);
  }
  if (*r->labels) setenv(ENVIRONMENT_LABELS, r->labels, 1);
  set_count(ENVIRONMENT_HEARTBEAT_EVERY, r->every);
  set_count(ENVIRONMENT_CPU_TIME, (size_t)r->cpu_time);
  set_count(ENVIRONMENT_FUNCTIONS, (size_t)r->functions);
  set_count(ENVIRONMENT_METRICS, r->metrics);
  set_count(ENVIRONMENT_MAX_SIZE, r->max_size);
  set_count(ENVIRONMENT_EVENTS, r->events);
  set_count(ENVIRONMENT_IS_RANK, (size_t)is_rank());
  tsn_run_header here;
  tsn_identify(&here);
  set_count(ENVIRONMENT_PROCESS, (size_t)getpid());
  set_count(ENVIRONMENT_PROCESS_SPACE, here.pid_namespace);
  set_count(ENVIRONMENT_AT_LOAD, (size_t)*begins);
  set_count(ENVIRONMENT_BASELINE, r->baseline);
  set_count(ENVIRONMENT_BASELINE_ITERATIONS, r->baseline_iterations);
  return 0;
}

int command_record(int argc, char **argv) {
  request r = {.events = ENVIRONMENT_EVENTS_DEFAULT};
  failure why;
  int begins;
  parse_rows(&command_line, NULL, 0, argc, argv, &r);
  char **program = r.shared.argument;
  if (prepare(&r, &begins, &why)) return report_failure(&why);
  announce(r.directory, begins);
  execvp(program[0], program);
  fail_errno(&why, program[0], "run");
  return report_failure(&why);
}
