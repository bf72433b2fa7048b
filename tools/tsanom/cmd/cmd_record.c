/* SPDX-License-Identifier: BSD-3-Clause */
/* tsanom record: run a program with the interception library preloaded. The program
 * takes the place of the command, so that its output, its exit status and the
 * signals it gets are its own. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "number.h"
#include "process.h"

enum {
  KEY_OUTPUT = 'o',
  KEY_EVERY = KEY_OWN,
  KEY_CPU,
  KEY_BASELINE,
  KEY_FORCE,
  KEY_OMPT
};

enum { BASELINE_ITERATIONS = 5 };

/* The OpenMP runtime that the library brings into this command binds its thread to one
 * processor where OMP_PROC_BIND says so, before main() begins; the program would inherit
 * that. What is in the preinit array runs before any library does. */
static cpu_set_t processors;
static int processors_known;

static void note_processors(void) {
  processors_known = sched_getaffinity(0, sizeof processors, &processors) == 0;
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first_of_all)(void) = note_processors;

typedef struct {
  const char *folder;
  size_t every;
  int cpu_time, force, ompt;
  size_t baseline, baseline_iterations; /* 0: none */
  char **program;
} request;

static const struct argp_option options[] = {
    {"output", KEY_OUTPUT, "RUN", 0, "The run folder to make", 0},
    {"heartbeat-every", KEY_EVERY, "N", 0,
     "Beat every N parallel regions (default: once an iteration, as they are found)", 0},
    {"cpu-time", KEY_CPU, NULL, 0,
     "Record the processor time of each thread in each region too (two system calls a "
     "thread and region)",
     0},
    {"baseline", KEY_BASELINE, "P[:K]", 0,
     "Run the first K iterations that are found with P threads, to compare the others "
     "with (default K: 5)",
     0},
    {"force", KEY_FORCE, NULL, 0, "Run programs without an OpenMP runtime too", 0},
    {"ompt", KEY_OMPT, NULL, 0,
     "Watch LLVM's runtime through its tools interface (OMPT): for programs that have it "
     "linked into themselves, where no call of it can be intercepted",
     0},
    {0}};

static void parse_baseline(request *r, char *text, struct argp_state *state) {
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

static error_t parse(int key, char *text, struct argp_state *state) {
  request *r = state->input;
  switch (key) {
    case KEY_OUTPUT:
      r->folder = text;
      return 0;
    case KEY_EVERY:
      r->every = count_argument(state, "--heartbeat-every", text);
      if (!r->every || r->every > INT_MAX) {
        argp_error(state, "--heartbeat-every: at least 1 region is expected");
      }
      return 0;
    case KEY_CPU:
      r->cpu_time = 1;
      return 0;
    case KEY_BASELINE:
      parse_baseline(r, text, state);
      return 0;
    case KEY_FORCE:
      r->force = 1;
      return 0;
    case KEY_OMPT:
      r->ompt = 1;
      return 0;
    case ARGP_KEY_ARGS:
      r->program = state->argv + state->next;
      return 0;
    case ARGP_KEY_END:
      if (!r->program) argp_error(state, "a program is expected");
      if (!r->folder) argp_error(state, "-o RUN is expected");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

/* The program's file: as execvp() finds it. */
static int find_program(const char *name, char path[PATH_MAX], failure *why) {
  const char *search = getenv("PATH");
  if (strchr(name, '/') || !search) {
    (void)snprintf(path, PATH_MAX, "%s", name);
    return access(path, X_OK) ? fail_errno(why, name, "run") : 0;
  }
  while (*search) {
    size_t length = strcspn(search, ":");
    struct stat about;
    (void)snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, search, length ? "/" : "",
                   name);
    if (access(path, X_OK) == 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
      return 0;
    }
    search += length + (search[length] == ':');
  }
  if (access(name, X_OK) == 0) {
    return fail(why, "%s: is not found in PATH; the one in this folder is ./%s", name,
                name);
  }
  return fail(why, "%s: no such program is found in PATH", name);
}

typedef enum { NO_PROGRAM_FILE, STATIC_PROGRAM, DYNAMIC_PROGRAM } linkage;

/* How the program is linked, and its loader. What is no ELF file, a script for
 * instance, is for the kernel to judge. */
static linkage read_linkage(const char *path, char loader[PATH_MAX]) {
  linkage found = NO_PROGRAM_FILE;
  Elf64_Ehdr head;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return found;
  if (pread(file, &head, sizeof head, 0) == sizeof head &&
      memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
      head.e_ident[EI_CLASS] == ELFCLASS64) {
    found = STATIC_PROGRAM;
    for (int i = 0; i < head.e_phnum; i++) {
      Elf64_Phdr segment;
      off_t at = (off_t)(head.e_phoff + (Elf64_Off)i * head.e_phentsize);
      if (pread(file, &segment, sizeof segment, at) != sizeof segment) break;
      if (segment.p_type != PT_INTERP || segment.p_filesz >= PATH_MAX) continue;
      ssize_t length =
          pread(file, loader, (size_t)segment.p_filesz, (off_t)segment.p_offset);
      if (length <= 0) break;
      loader[length] = '\0';
      found = DYNAMIC_PROGRAM;
    }
  }
  close(file);
  return found;
}

/* The loader lists what it would load, and does not run the program. */
static int check_runtime(const char *path, failure *why) {
  char loader[PATH_MAX], list[] = "--list";
  linkage linked = read_linkage(path, loader);
  if (linked == NO_PROGRAM_FILE) return 0;
  if (linked == STATIC_PROGRAM) {
    return fail(why,
                "%s: is linked statically: nothing can be preloaded into it; link the "
                "OpenMP runtime dynamically",
                path);
  }
  char *file = strdup(path);
  char *arguments[] = {loader, list, file, NULL};
  char *libraries = file ? output_of(arguments) : NULL;
  free(file);
  if (!libraries) return 0; /* a loader that cannot list */
  int known = strstr(libraries, "libgomp.so") || strstr(libraries, "libomp.so") ||
              strstr(libraries, "libomp-") || strstr(libraries, "libiomp5.so");
  free(libraries);
  if (known) return 0;
  return fail(why,
              "%s: uses neither GNU's OpenMP runtime (libgomp) nor LLVM's (libomp): it "
              "has no parallel regions to record; with --force it is run all the same, "
              "should it load a runtime later or start a program that uses one",
              path);
}

/* The library is beside the command: in the tree it was built in, or installed. */
static int find_library(int ompt, char path[PATH_MAX], failure *why) {
  static const char *const places[] = {TSANOM_RECORD_INSTALLED, TSANOM_RECORD_BUILT};
  const char *name = ompt ? "libtsanom-record-ompt.so" : "libtsanom-record.so";
  char self[PATH_MAX], beside[2 * PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return fail_errno(why, "/proc/self/exe", "read");
  self[length] = '\0';
  char *slash = strrchr(self, '/');
  if (slash) *slash = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    (void)snprintf(beside, sizeof beside, "%s/%s/%s", self, places[i], name);
    if (!realpath(beside, path)) continue;
    if (!strpbrk(path, " :")) return 0;
    return fail(why,
                "%s: has a space or a colon in its path, which end a name in LD_PRELOAD: "
                "build or install tsanom in a folder without them",
                path);
  }
  return fail(why, "%s/%s/%s: the interception library is not there", self, places[0],
              name);
}

/* The run's absolute path: the program may change its folder. The run is made by the
 * first region, so that what can go wrong is tried now. */
static int check_folder(const char *folder, char path[PATH_MAX], failure *why) {
  struct stat about;
  char inside[PATH_MAX];
  if (stat(folder, &about) != 0) {
    if (errno != ENOENT) return fail_errno(why, folder, "use");
    if (mkdir(folder, 0777)) return fail_errno(why, folder, "make");
  } else if (!S_ISDIR(about.st_mode)) {
    return fail(why, "%s: is no folder: a new run folder is to be made", folder);
  }
  if (!realpath(folder, path)) return fail_errno(why, folder, "use");
  int length = snprintf(inside, sizeof inside, "%s/heartbeat.run", path);
  if (length < 0 || (size_t)length >= sizeof inside) {
    return fail(why, "%s: the path is too long", folder);
  }
  if (access(inside, F_OK) == 0) {
    return fail(why, "%s: holds a run already: remove it, or name another folder",
                folder);
  }
  return access(path, W_OK | X_OK) ? fail_errno(why, folder, "write into") : 0;
}

static void set_count(const char *name, size_t value) {
  char text[32];
  (void)snprintf(text, sizeof text, "%zu", value);
  setenv(name, text, 1);
}

static int prepare(const request *r, failure *why) {
  char program[PATH_MAX], library[PATH_MAX], folder[PATH_MAX];
  if (find_program(r->program[0], program, why) || find_library(r->ompt, library, why) ||
      (!r->force && !r->ompt && check_runtime(program, why)) ||
      check_folder(r->folder, folder, why)) {
    return -1;
  }
  const char *others = getenv("LD_PRELOAD");
  char *preload = NULL;
  if (asprintf(&preload, "%s%s%s", library, others && *others ? ":" : "",
               others ? others : "") < 0) {
    return fail(why, "out of memory");
  }
  setenv("LD_PRELOAD", preload, 1);
  free(preload);
  setenv("TSANOM_RECORD_FOLDER", folder, 1);
  set_count("TSANOM_RECORD_HEARTBEAT_EVERY", r->every);
  set_count("TSANOM_RECORD_CPU_TIME", (size_t)r->cpu_time);
  set_count("TSANOM_RECORD_BASELINE", r->baseline);
  set_count("TSANOM_RECORD_BASELINE_ITERATIONS", r->baseline_iterations);
  return 0;
}

int command_record(int argc, char **argv) {
  static const struct argp argp = {
      options,
      parse,
      "-- PROGRAM [ARGUMENT...]",
      "Run an OpenMP program, unmodified, and record its parallel regions and a "
      "heartbeat an iteration.\v"
      "The exit status is that of the program; 2 or 3 if it could not be started. The "
      "run is made when the program opens its first parallel region; of the processes "
      "that it starts the first to do so is recorded.",
      NULL,
      NULL,
      NULL};
  request r = {0};
  argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &r);
  failure why;
  if (prepare(&r, &why)) return refuse(&why);
  if (processors_known) (void)sched_setaffinity(0, sizeof processors, &processors);
  execvp(r.program[0], r.program);
  fail_errno(&why, r.program[0], "run");
  return refuse(&why);
}
