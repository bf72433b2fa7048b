/* SPDX-License-Identifier: BSD-3-Clause */
/* The header that the listing includes. */
#include <tsanom/compat.h>
