/* A P = Q R as in math/pivoted_qr_kernel.h, in double, of a matrix whose rows have few entries: rows and columns fall into
 * blocks that have no entry in common, and within a block a reflection reads and moves only rows and columns with
 * entries. The largest remaining column of a block comes first, so that pivots are those of all blocks as one matrix. */
#ifndef LW_MATH_SPARSE_QR_H
#define LW_MATH_SPARSE_QR_H
#include <stddef.h>
#include <stdint.h>

/* Its rows, columns and pivots stand one after the other in the lists of all blocks; a row's place is counted in its
 * block, and so are columns in `order`. */
typedef struct sparse_qr_block {
  int32_t first_row, rows, first_column, columns, rank;
  size_t first_reflected, first_right; /* in the lists of those names */
} sparse_qr_block;

typedef struct sparse_qr {
  int32_t rows, columns, blocks, rank;
  sparse_qr_block *block;
  int32_t *row, *column;      /* of each block, by their numbers in the matrix */
  int32_t *low, *high;        /* [columns] first place with an entry, and behind the last: of A; */
  int32_t *from, *to;         /* [columns] and as it is factored */
  int32_t *block_of;          /* [columns] */
  int32_t *order;             /* [columns] of each block: its columns, those of the pivots first */
  int32_t *pivot_row;         /* [columns] of each pivot: place of its row */
  size_t *reflected_end;      /* [columns] of each pivot: where its list of reflected rows ends, */
  size_t *right_end;          /* [columns] and that of the columns right of it that have an entry in R */
  int32_t *reflected, *right; /* places; columns */
  int32_t *place;             /* [rows] of each row of the matrix */
  size_t *first;              /* [columns] of each column in a */
  double *a;                  /* A, then reflections, and R in the rows of the pivots */
  double *diagonal, *size2;   /* [columns] of R, by pivots; squares of the sizes that are left of columns */
  double *b;                  /* [rows] of a block */
  unsigned char *is_active;   /* [rows] by place: no pivot's */
  size_t numbers;             /* in a */
} sparse_qr;

/* From the rows and columns of the entries that may differ from zero. NULL: there is no memory. */
sparse_qr *sparse_qr_create(int32_t rows, int32_t columns, const int32_t *row, const int32_t *column, size_t entries);
void sparse_qr_free(sparse_qr *f);
/* Where one of these entries stands in `a`. */
static inline size_t sparse_qr_entry(const sparse_qr *f, int32_t row, int32_t column) {
  return f->first[column] + (size_t)f->place[row];
}
/* All numbers of A, to those of another matrix with the same entries. */
void sparse_qr_copy(sparse_qr *to, const sparse_qr *from);
void sparse_qr_clear(sparse_qr *f);
/* A column of A: b [rows]. */
void sparse_qr_column(const sparse_qr *f, int32_t column, double *b);

/* Factors A in place, up to pivots that are zero. */
void sparse_qr_factor(sparse_qr *f);
/* The smallest pivot by the largest; 0: the columns are dependent; 1: there are none. */
double sparse_qr_pivot_ratio(const sparse_qr *f);
/* The column of the smallest pivot, or one without a pivot; -1: there are none. */
int32_t sparse_qr_last(const sparse_qr *f, double *pivot);
/* x [columns] from b [rows]: least squares, for independent columns. */
void sparse_qr_least_squares(const sparse_qr *f, const double *b, double *x);
/* The square of the distance of b from all columns but the last. */
double sparse_qr_distance2(const sparse_qr *f, const double *b);
#endif
