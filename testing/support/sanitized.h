/* SPDX-License-Identifier: BSD-3-Clause */
/* SANITIZED: 1 if the compiler adds its address sanitizer, else 0. */
#ifndef TSANOM_TESTING_SANITIZED_H
#define TSANOM_TESTING_SANITIZED_H

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
