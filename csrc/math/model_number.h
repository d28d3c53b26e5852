/* Of type double in each arithmetic (math/scalar.h), as a model has its numbers. */
#ifndef LW_MATH_MODEL_NUMBER_H
#define LW_MATH_MODEL_NUMBER_H
typedef double model_number;
#endif
