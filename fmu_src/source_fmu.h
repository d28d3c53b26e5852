/* Included first in every file of a source FMU, because its importer does not know the compiler flags. */
#ifndef LINKWORK_SOURCE_FMU_H
#define LINKWORK_SOURCE_FMU_H
#define LINKWORK_EMBEDDED 1 /* the resources are compiled in */

/* No contraction of multiply and add: all platforms give the same bits. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3", "no-tree-vectorize", "fp-contract=off", "no-math-errno", "no-trapping-math")
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors of four never leave a function */
#else
#error "this FMU has to be compiled by gcc, clang or a compiler that is made of them"
#endif
#if !defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L
#error "this FMU is written in C11: compile it with -std=c11 or a later standard"
#endif

/* The library exports the functions of FMI, which their declarations mark, and nothing else: two such FMUs in one
 * process get along. Headers of the system come first, because what they declare lies in other libraries. Each C file
 * ends with the `pop`. On Windows, where nothing is exported unless marked, there is no such pragma. */
#ifndef _WIN32
#include <assert.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#pragma GCC visibility push(hidden)
#endif
#endif
