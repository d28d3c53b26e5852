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
#endif
