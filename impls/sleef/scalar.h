/* scalar.h - libsleef's scalar functions of the same family as the vector ones. */
#ifndef ASSAY_SLEEF_SCALAR_H
#define ASSAY_SLEEF_SCALAR_H

typedef struct sleef_functions {
    float (*sine)(float);
    float (*cosine)(float);
    float (*exponential)(float);
} sleef_functions;

/* The functions for this processor: with FMA those that give the vector paths' bits. Without FMA the library
 * has another family; there is no vector path then to disagree with. */
const sleef_functions *sleef_scalar(void);

#endif
