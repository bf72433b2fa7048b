/* SPDX-License-Identifier: BSD-3-Clause */
/* A poll of C++ may throw. The exception passes through the library, which is compiled with
 * -fexceptions; what a variable stands for is undone when it goes out of scope, by whatever
 * way. */
#ifndef TSN_CORE_CLEANUP_H
#define TSN_CORE_CLEANUP_H

#define TSN_CLEANUP(function) __attribute__((unused, cleanup(function)))

#endif
