/* Derivatives by the compiled tapes of a library (block/compiled_rates.h) where they count, and by complex steps elsewhere.
 * Both are exact to rounding. Which of them a state has follows from its numbers alone, and so do the bits. */
#include "block/state.h"
#include "evaluation/rates.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const lw_compiled_jacobians *tapes_of(const lw_state *s, int kind) {
  return &s->compiled.library->jacobian[kind];
}
static size_t size_of(const lw_state *s, int kind) {
  return (size_t)tapes_of(s, kind)->rows * (size_t)s->compiled.library->columns;
}

/* ---- the matrix of the present state ---- */

static lw_status differentiate_by_steps(lw_state *s, int kind, double *matrix) {
  const lw_rates_library *library = s->compiled.library;
  const size_t rows = (size_t)tapes_of(s, kind)->rows, columns = (size_t)library->columns;
  const uint32_t *unknowns = (const uint32_t *)tapes_of(s, kind)->row, *knowns = (const uint32_t *)library->column;
  const double one = 1.0;
  double *column = malloc(sizeof *column * (rows + 1));
  lw_status e = column ? LW_OK : LW_ERROR_MEMORY;
  for (size_t k = 0; !e && k < columns; k++) {
    if ((e = lw_seed_derivative(s, unknowns, rows, knowns + k, 1, &one))) break;
    lw_end_derivative(s, unknowns, rows, column);
    for (size_t i = 0; i < rows; i++) matrix[i * columns + k] = column[i];
  }
  free(column);
  return e;
}

/* A tape is compared where it counts first; one that differs, as by a compiler that is wrong, is asked no more. */
static int is_right(lw_state *s, int kind, int32_t tape) {
  lw_kept_jacobian *kept = &s->compiled.kept[kind];
  if (kept->compared[tape]) return 1;
  double *expected = kept->matrix + size_of(s, kind);
  if (differentiate_by_steps(s, kind, expected)) return 0;
  kept->compared[tape] = 1;
  if (lw_derivatives_agree(kept->matrix, expected, size_of(s, kind))) return 1;
  kept->differs[tape] = 1, kept->holds[tape] = 0;
  return 0;
}

static int has_matrix(lw_state *s, int kind) {
  const lw_compiled_jacobians *tapes = tapes_of(s, kind);
  lw_kept_jacobian *kept = &s->compiled.kept[kind];
  if (kept->known) return kept->known > 0;
  kept->known = -1;
  if (s->before_accelerations || !lw_check_compiled_tapes(s)) return 0;
  for (int32_t i = 0; i < tapes->n; i++)
    if (kept->holds[i] && !tapes->tape[i].run(lw_reals(s), kept->matrix, s->kernels->number_function) &&
        is_right(s, kind, i))
      return kept->known = 1;
  return 0;
}

/* ---- along seeds ---- */

/* The kind and the row of an unknown; -1: no tape has it. */
static int find_row(const lw_state *s, uint32_t unknown, int32_t *row) {
  *row = unknown < (uint32_t)s->base->size.reals ? s->compiled.place[unknown] : -1;
  for (int kind = 0; *row >= 0 && kind < LW_JACOBIAN_KINDS; kind++) {
    const lw_compiled_jacobians *tapes = tapes_of(s, kind);
    if (*row < tapes->rows) return tapes->row[*row] == (int32_t)unknown ? kind : -1;
    *row -= tapes->rows;
  }
  return -1;
}

static int is_known(const lw_state *s, uint32_t known, double seed) {
  const lw_rates_library *library = s->compiled.library;
  if (known >= (uint32_t)s->base->size.reals || !isfinite(seed)) return 0;
  const int32_t place = s->compiled.place[known];
  return place >= 0 && place < library->columns && library->column[place] == (int32_t)known;
}

/* The matrices of all unknowns; those of outputs cost more, and count less often. */
static int has_rows(lw_state *s, const uint32_t *unknowns, size_t n) {
  int asked[LW_JACOBIAN_KINDS] = {0};
  for (size_t i = 0; i < n; i++) {
    int32_t row;
    const int kind = find_row(s, unknowns[i], &row);
    if (kind < 0 || !tapes_of(s, kind)->n) return 0;
    asked[kind] = 1;
  }
  for (int kind = LW_JACOBIAN_KINDS; kind-- > 0;)
    if (asked[kind] && !has_matrix(s, kind)) return 0;
  return 1;
}

static int differentiate_by_tapes(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                  size_t n_knowns, const double *seed, double *sensitivity) {
  const lw_compiled_derivatives *compiled = &s->compiled;
  if (!compiled->library) return 0;
  for (size_t k = 0; k < n_knowns; k++)
    if (!is_known(s, knowns[k], seed[k])) return 0;
  if (!has_rows(s, unknowns, n_unknowns)) return 0;
  for (size_t i = 0; i < n_unknowns; i++) {
    int32_t row;
    const int kind = find_row(s, unknowns[i], &row);
    const double *of_row = compiled->kept[kind].matrix + (size_t)row * (size_t)compiled->library->columns;
    sensitivity[i] = 0.0;
    for (size_t k = 0; k < n_knowns; k++) sensitivity[i] += of_row[compiled->place[knowns[k]]] * seed[k];
  }
  return 1;
}

lw_status lw_directional_derivative(lw_state *s, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                    size_t n_knowns, const double *seed, double *sensitivity) {
  if (!s) return LW_ERROR_USAGE;
  if (differentiate_by_tapes(s, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity)) return LW_OK;
  const lw_status e = lw_seed_derivative(s, unknowns, n_unknowns, knowns, n_knowns, seed);
  if (e) return e;
  lw_end_derivative(s, unknowns, n_unknowns, sensitivity);
  return LW_OK;
}

/* ---- the Jacobian of the mechanism as an ODE ---- */

static int find_jacobian(void *context, lw_state *s, const lw_input_slopes *law, double *matrix, double *by_time) {
  (void)context;
  if (law || !has_matrix(s, LW_JACOBIANS_OF_RATES)) return 0;
  const size_t n = (size_t)s->model->size.states, columns = (size_t)s->compiled.library->columns;
  for (size_t i = 0; i < n; i++) {
    const double *row = s->compiled.kept[LW_JACOBIANS_OF_RATES].matrix + i * columns;
    memcpy(matrix + i * n, row + columns - n, sizeof *matrix * n);
    by_time[i] = row[0];
  }
  return 1;
}

/* ---- the library ---- */

/* Rows and columns are no numbers of each other: unknowns are computed, knowns are given. */
static lw_status make_places(lw_state *s, const lw_rates_library *library) {
  const size_t reals = (size_t)s->base->size.reals;
  int32_t *place = malloc(sizeof *place * (reals + 1)), number = 0;
  free(s->compiled.place);
  if (!(s->compiled.place = place)) return LW_ERROR_MEMORY;
  for (size_t i = 0; i < reals; i++) place[i] = -1;
  for (int32_t k = 0; k < library->columns; k++) place[library->column[k]] = k;
  for (int kind = 0; kind < LW_JACOBIAN_KINDS; kind++)
    for (int32_t i = 0; i < library->jacobian[kind].rows; i++) place[library->jacobian[kind].row[i]] = number++;
  return LW_OK;
}

static lw_status make_matrices(lw_state *s, const lw_rates_library *library) {
  for (int kind = 0; kind < LW_JACOBIAN_KINDS; kind++) {
    const size_t size = (size_t)library->jacobian[kind].rows * (size_t)library->columns;
    lw_kept_jacobian *kept = &s->compiled.kept[kind];
    free(kept->matrix);
    *kept = (lw_kept_jacobian){.matrix = malloc(sizeof *kept->matrix * (2 * size + 1))};
    if (!kept->matrix) return LW_ERROR_MEMORY;
  }
  return LW_OK;
}

lw_status lw_use_rates_library(lw_state *s, const lw_rates_library *library) {
  if (!s || !library) return LW_ERROR_USAGE;
  int fits = library->layout == lw_rates_layout(s->base) && library->n >= 0 && library->n <= LW_MOST_COMPILED_RATES;
  for (int kind = 0; fits && kind < LW_JACOBIAN_KINDS; kind++)
    fits = library->jacobian[kind].n >= 0 && library->jacobian[kind].n <= LW_MOST_COMPILED_RATES;
  if (!fits)
    return lw_fail(s, LW_ERROR_FORMAT, "the compiled tapes are of another mechanism or another version of Linkwork");
  const lw_compiled_rates *functions[LW_MOST_COMPILED_RATES];
  for (int32_t i = 0; i < library->n; i++) functions[i] = &library->function[i];
  lw_status e = make_places(s, library);
  if (e || (e = make_matrices(s, library)) || (e = lw_use_rates(s, functions, library->n))) return e;
  s->compiled.library = library;
  if (library->jacobian[LW_JACOBIANS_OF_RATES].n) s->jacobians = (lw_jacobians){.find = find_jacobian};
  return LW_OK;
}

void lw_free_compiled_derivatives(lw_state *s) {
  free(s->compiled.place);
  for (int kind = 0; kind < LW_JACOBIAN_KINDS; kind++) free(s->compiled.kept[kind].matrix);
}
