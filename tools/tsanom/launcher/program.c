/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known about the program to record before it runs: where it is, how it is
 * linked, and whether the loader will accept LD_PRELOAD for it (see ld.so(8),
 * "secure-execution mode").
 *
 * A program for which the loader ignores LD_PRELOAD runs as usual and records nothing,
 * without a message from anyone. So this is recognized beforehand and reported as a
 * warning: the program is started nevertheless, because it may start another one that
 * can be recorded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher.h"
#include "metrics.h"
#include "record/regions.h"

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

/* As execvp(3) does: an empty element of PATH is the current directory; a name with a
 * slash is not searched for. */
int find_program(const char *name, char path[PATH_MAX], failure *why) {
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

void warn_if_privileged(const char *path) {
  failure why;
  const char *privilege = privilege_of(path);
  if (!privilege) return;
  fail(
      &why,
      "%s: %s: the loader ignores LD_PRELOAD, so nothing will be recorded; record a copy "
      "of the program without this privilege",
      path, privilege);
  warn(&why);
}

/* Options of env(1) in front of the command: -, -i and --ignore-environment clear the
 * environment; the rest of a cluster after u, C or S is an argument. */
void warn_if_environment_is_cleared(char *const *program) {
  const char *slash = strrchr(program[0], '/');
  if (strcmp(slash ? slash + 1 : program[0], "env") != 0) return;
  for (char *const *word = program + 1; *word && **word == '-'; word++) {
    const char *option = *word + 1;
    int cleared = !*option || strcmp(option, "-ignore-environment") == 0 ||
                  (*option != '-' && option[strcspn(option, "iuCS")] == 'i');
    if (!cleared) {
      if (*option && strchr("uCS", option[strlen(option) - 1]) && *option != '-') word++;
      if (!*word) return;
      continue;
    }
    failure why;
    fail(&why,
         "env %s: removes LD_PRELOAD, so nothing will be recorded; put env in front of "
         "tsanom: env %s tsanom record ...",
         *word, *word);
    warn(&why);
    return;
  }
}

void warn_of_metrics(uint32_t metrics) {
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
