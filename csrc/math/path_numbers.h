/* Where the numbers of a path stand (math/path_kernel.h). */
#ifndef LW_MATH_PATH_NUMBERS_H
#define LW_MATH_PATH_NUMBERS_H

enum { LW_PATH_PIECES, LW_PATH_CLOSED, LW_PATH_LENGTH, LW_PATH_HEAD };
enum { LW_PATH_PIECE = 20, LW_MOST_PATH_PIECES = 100000 };
#endif
