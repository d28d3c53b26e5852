#include "math/sparse_qr.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the blocks ---- */

static int32_t root_of(int32_t *parent, int32_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* Rows, then columns, as members of sets: joined by entries, and numbered in the order of their first member. */
static int32_t number_blocks(const sparse_qr *f, int32_t *parent, int32_t *block, const int32_t *row,
                             const int32_t *column, size_t entries) {
  const int32_t n = f->rows + f->columns;
  int32_t blocks = 0;
  for (int32_t i = 0; i < n; i++) parent[i] = i, block[i] = -1;
  for (size_t k = 0; k < entries; k++) parent[root_of(parent, row[k])] = root_of(parent, f->rows + column[k]);
  for (int32_t i = 0; i < n; i++) {
    const int32_t root = root_of(parent, i);
    if (block[root] < 0) block[root] = blocks++;
  }
  for (int32_t i = 0; i < n; i++) parent[i] = root_of(parent, i);
  for (int32_t i = 0; i < n; i++) parent[i] = block[parent[i]];
  return blocks;
}

/* Members of each block in ascending order. */
static void list_members(const sparse_qr *f, const int32_t *block_of) {
  int32_t rows = 0, columns = 0;
  for (int32_t r = 0; r < f->rows; r++) f->block[block_of[r]].rows++;
  for (int32_t c = 0; c < f->columns; c++) f->block[block_of[f->rows + c]].columns++;
  for (sparse_qr_block *b = f->block; b < f->block + f->blocks; b++) {
    b->first_row = rows, b->first_column = columns;
    rows += b->rows, columns += b->columns;
    b->rows = b->columns = 0;
  }
  for (int32_t r = 0; r < f->rows; r++) {
    sparse_qr_block *b = &f->block[block_of[r]];
    f->row[b->first_row + b->rows] = r, f->place[r] = b->rows++;
  }
  for (int32_t c = 0; c < f->columns; c++) {
    sparse_qr_block *b = &f->block[block_of[f->rows + c]];
    f->column[b->first_column + b->columns++] = c;
  }
}

static void bound_columns(const sparse_qr *f, const int32_t *row, const int32_t *column, size_t entries) {
  for (int32_t c = 0; c < f->columns; c++) f->low[c] = f->rows, f->high[c] = 0;
  for (size_t k = 0; k < entries; k++) {
    const int32_t place = f->place[row[k]], c = column[k];
    f->low[c] = place < f->low[c] ? place : f->low[c];
    f->high[c] = place >= f->high[c] ? place + 1 : f->high[c];
  }
}

/* Numbers and lists are as long as they may become. */
static int allocate_numbers(sparse_qr *f) {
  size_t numbers = 0, right = 0;
  for (sparse_qr_block *b = f->block; b < f->block + f->blocks; b++) {
    b->first_reflected = numbers, b->first_right = right;
    for (int32_t k = b->first_column; k < b->first_column + b->columns; k++)
      f->first[f->column[k]] = numbers, numbers += (size_t)b->rows;
    right += (size_t)b->columns * (size_t)b->columns / 2;
  }
  f->numbers = numbers;
  f->a = calloc(numbers + 2 * (size_t)f->columns + (size_t)f->rows + 1, sizeof *f->a);
  f->reflected = malloc(sizeof *f->reflected * (numbers + right + 1));
  if (!f->a || !f->reflected) return 0;
  f->diagonal = f->a + numbers, f->size2 = f->diagonal + f->columns, f->b = f->size2 + f->columns;
  f->right = f->reflected + numbers;
  return 1;
}

static int fill(sparse_qr *f, const int32_t *row, const int32_t *column, size_t entries) {
  const size_t rows = (size_t)f->rows, columns = (size_t)f->columns;
  int32_t *sets = malloc(2 * sizeof *sets * (rows + columns + 1));
  f->row = malloc(sizeof *f->row * (2 * rows + 8 * columns + 1));
  f->first = malloc(3 * sizeof *f->first * (columns + 1));
  f->is_active = malloc(rows + 1);
  if (sets) f->blocks = number_blocks(f, sets, sets + rows + columns, row, column, entries);
  f->block = calloc((size_t)f->blocks + 1, sizeof *f->block);
  const int has_memory = sets && f->row && f->first && f->is_active && f->block;
  if (has_memory) {
    f->place = f->row + rows, f->column = f->place + rows, f->low = f->column + columns, f->high = f->low + columns;
    f->from = f->high + columns, f->to = f->from + columns, f->order = f->to + columns;
    f->pivot_row = f->order + columns, f->block_of = f->pivot_row + columns;
    memcpy(f->block_of, sets + rows, sizeof *sets * columns);
    f->reflected_end = f->first + columns, f->right_end = f->reflected_end + columns;
    list_members(f, sets);
    bound_columns(f, row, column, entries);
  }
  free(sets);
  return has_memory && allocate_numbers(f);
}

sparse_qr *sparse_qr_create(int32_t rows, int32_t columns, const int32_t *row, const int32_t *column, size_t entries) {
  sparse_qr *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->rows = rows, f->columns = columns;
  if (fill(f, row, column, entries)) return f;
  sparse_qr_free(f);
  return NULL;
}

void sparse_qr_free(sparse_qr *f) {
  if (!f) return;
  free(f->block);
  free(f->row);
  free(f->first);
  free(f->is_active);
  free(f->a);
  free(f->reflected);
  free(f);
}

void sparse_qr_copy(sparse_qr *to, const sparse_qr *from) { memcpy(to->a, from->a, sizeof *to->a * to->numbers); }

void sparse_qr_clear(sparse_qr *f) { memset(f->a, 0, sizeof *f->a * f->numbers); }

static double *numbers_of(const sparse_qr *f, int32_t column) { return f->a + f->first[column]; }

void sparse_qr_column(const sparse_qr *f, int32_t column, double *b) {
  const sparse_qr_block *own = &f->block[f->block_of[column]];
  memset(b, 0, sizeof *b * (size_t)f->rows);
  for (int32_t i = 0; i < own->rows; i++) b[f->row[own->first_row + i]] = numbers_of(f, column)[i];
}

/* ---- factors ---- */

/* Of the rows that are not yet those of pivots. */
static void measure(const sparse_qr *f, const sparse_qr_block *b, int32_t column) {
  const double *a = numbers_of(f, column);
  const unsigned char *is_active = f->is_active + b->first_row;
  double sum = 0.0;
  for (int32_t i = f->from[column]; i < f->to[column]; i++)
    if (is_active[i]) sum += a[i] * a[i];
  f->size2[column] = sum;
}

static void choose_pivot(const sparse_qr *f, const sparse_qr_block *b, int32_t k) {
  int32_t *order = f->order + b->first_column, best = k;
  for (int32_t j = k + 1; j < b->columns; j++)
    if (f->size2[order[j]] > f->size2[order[best]]) best = j;
  const int32_t chosen = order[best];
  order[best] = order[k], order[k] = chosen;
}

/* Lists the rows that the reflection of a column moves, and makes it: the largest of them becomes that of the pivot. */
static size_t make_reflection(const sparse_qr *f, const sparse_qr_block *b, int32_t k, size_t end) {
  const int32_t column = f->order[b->first_column + k];
  double *v = numbers_of(f, column);
  int32_t largest = -1;
  for (int32_t i = f->from[column]; i < f->to[column]; i++) {
    if (!f->is_active[b->first_row + i] || v[i] == 0.0) continue;
    f->reflected[end++] = i;
    if (largest < 0 || fabs(v[i]) > fabs(v[largest])) largest = i;
  }
  const double size = sqrt(f->size2[column]);
  f->pivot_row[b->first_column + k] = largest;
  f->diagonal[b->first_column + k] = v[largest] > 0.0 ? -size : size;
  v[largest] -= f->diagonal[b->first_column + k];
  return end;
}

/* The list of rows of a reflection, and where it ends. */
static const int32_t *rows_of(const sparse_qr *f, const sparse_qr_block *b, int32_t k, const int32_t **end) {
  *end = f->reflected + f->reflected_end[b->first_column + k];
  return f->reflected + (k ? f->reflected_end[b->first_column + k - 1] : b->first_reflected);
}

/* x -= 2 v v'x / v'v, with v'v / 2 = -diagonal v_pivot; returns whether it has moved any number. */
static int reflect(const sparse_qr *f, const sparse_qr_block *b, int32_t k, double *x) {
  const int32_t *end, *first = rows_of(f, b, k, &end);
  const double *v = numbers_of(f, f->order[b->first_column + k]);
  double along = 0.0;
  for (const int32_t *i = first; i < end; i++) along += v[*i] * x[*i];
  if (along == 0.0) return 0;
  along /= f->diagonal[b->first_column + k] * v[f->pivot_row[b->first_column + k]];
  for (const int32_t *i = first; i < end; i++) x[*i] += along * v[*i];
  return 1;
}

/* Moves the columns right of a pivot, and lists those with an entry in its row of R. */
static size_t reflect_columns(const sparse_qr *f, const sparse_qr_block *b, int32_t k, size_t end) {
  const int32_t *order = f->order + b->first_column, from = f->from[order[k]], to = f->to[order[k]];
  const int32_t pivot = f->pivot_row[b->first_column + k];
  for (int32_t j = k + 1; j < b->columns; j++) {
    const int32_t column = order[j];
    if (f->from[column] >= to || f->to[column] <= from) continue;
    if (reflect(f, b, k, numbers_of(f, column))) {
      f->from[column] = from < f->from[column] ? from : f->from[column];
      f->to[column] = to > f->to[column] ? to : f->to[column];
    } else if (numbers_of(f, column)[pivot] == 0.0) continue;
    f->right[end++] = column;
  }
  return end;
}

static void factor_block(const sparse_qr *f, sparse_qr_block *b) {
  size_t reflected = b->first_reflected, right = b->first_right;
  memset(f->is_active + b->first_row, 1, (size_t)b->rows);
  for (int32_t j = 0; j < b->columns; j++) {
    const int32_t column = f->order[b->first_column + j] = f->column[b->first_column + j];
    f->from[column] = f->low[column], f->to[column] = f->high[column];
    measure(f, b, column);
  }
  for (b->rank = 0; b->rank < b->columns && b->rank < b->rows; b->rank++) {
    const int32_t k = b->rank, place = b->first_column + k;
    choose_pivot(f, b, k);
    if (!(f->size2[f->order[place]] > 0.0)) return;
    f->reflected_end[place] = reflected = make_reflection(f, b, k, reflected);
    const size_t first = right;
    f->right_end[place] = right = reflect_columns(f, b, k, right);
    f->is_active[b->first_row + f->pivot_row[place]] = 0;
    for (size_t j = first; j < right; j++) measure(f, b, f->right[j]);
  }
}

void sparse_qr_factor(sparse_qr *f) {
  f->rank = 0;
  for (int32_t i = 0; i < f->blocks; i++) {
    factor_block(f, &f->block[i]);
    f->rank += f->block[i].rank;
  }
}

double sparse_qr_pivot_ratio(const sparse_qr *f) {
  double largest = 0.0, last;
  if (f->rank < f->columns) return 0.0;
  if (sparse_qr_last(f, &last) < 0) return 1.0;
  for (int32_t k = 0; k < f->columns; k++) largest = fmax(largest, fabs(f->diagonal[k]));
  return last / largest;
}

/* The block whose last column that is, or -1. */
static int32_t last_block(const sparse_qr *f) {
  int32_t last = -1;
  double smallest = INFINITY;
  for (int32_t i = 0; i < f->blocks; i++) {
    const sparse_qr_block *b = &f->block[i];
    if (!b->columns) continue;
    const double own = b->rank < b->columns ? 0.0 : fabs(f->diagonal[b->first_column + b->columns - 1]);
    if (own <= smallest || last < 0) smallest = own, last = i;
  }
  return last;
}

int32_t sparse_qr_last(const sparse_qr *f, double *pivot) {
  const int32_t i = last_block(f);
  if (i < 0) return -1;
  const sparse_qr_block *b = &f->block[i];
  const int32_t last = b->first_column + b->columns - 1;
  *pivot = b->rank < b->columns ? 0.0 : fabs(f->diagonal[last]);
  return f->order[last];
}

/* ---- solutions ---- */

/* Of the rows of a block; returns whether any of them is not zero. */
static int take_rows(const sparse_qr *f, const sparse_qr_block *b, const double *from) {
  int any = 0;
  for (int32_t i = 0; i < b->rows; i++) {
    f->b[i] = from[f->row[b->first_row + i]];
    any |= f->b[i] != 0.0;
  }
  return any;
}

static void solve_block(const sparse_qr *f, const sparse_qr_block *b, const double *from, double *x) {
  for (int32_t j = 0; j < b->columns; j++) x[f->column[b->first_column + j]] = 0.0;
  if (!take_rows(f, b, from)) return;
  for (int32_t k = 0; k < b->rank; k++) reflect(f, b, k, f->b);
  for (int32_t k = b->rank - 1; k >= 0; k--) {
    const int32_t place = b->first_column + k, row = f->pivot_row[place];
    double rest = f->b[row];
    for (size_t j = k ? f->right_end[place - 1] : b->first_right; j < f->right_end[place]; j++)
      rest -= numbers_of(f, f->right[j])[row] * x[f->right[j]];
    x[f->order[place]] = rest / f->diagonal[place];
  }
}

void sparse_qr_least_squares(const sparse_qr *f, const double *b, double *x) {
  for (int32_t i = 0; i < f->blocks; i++) solve_block(f, &f->block[i], b, x);
}

double sparse_qr_distance2(const sparse_qr *f, const double *b) {
  const int32_t last = last_block(f);
  double sum = 0.0;
  for (int32_t i = 0; i < f->blocks; i++) {
    const sparse_qr_block *block = &f->block[i];
    const int32_t reflections = block->rank - (i == last && block->rank == block->columns);
    if (!take_rows(f, block, b)) continue;
    for (int32_t k = 0; k < reflections; k++) reflect(f, block, k, f->b);
    for (int32_t k = 0; k < reflections; k++) f->b[f->pivot_row[block->first_column + k]] = 0.0;
    for (int32_t r = 0; r < block->rows; r++) sum += f->b[r] * f->b[r];
  }
  return sum;
}
