/* frequency.c - computes frequency tables and keeps a few of them. */
#include "frequency.h"

#include "assay/cuda_math.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FREQUENCY_SLOTS = 8, FREQUENCY_KEEP_HALF = 1 << 16 };

/* `uses` counts the calls that hold the table; a slot with uses > 0 is never replaced. */
typedef struct frequency_slot {
    float (*evaluate)(float x);
    uint64_t period_bits;
    uint64_t age;
    size_t uses;
    frequency_table *table;
} frequency_slot;

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static frequency_slot slots[FREQUENCY_SLOTS];
static uint64_t slots_age;

static float exp_cuda(float x) {
    return assay_cuda_expf(x);
}

const frequency_exp frequency_exp_cuda = {.name = "cuda", .evaluate = exp_cuda};

void frequency_fill(const frequency_exp *exp, double max_period, size_t half, float *f) {
    const float c = (float)(-log(max_period));
    const float inv = 1.0f / (float)half;
    for (size_t k = 0; k < half; k++) {
        const float scaled = c * (float)k;
        f[k] = exp->evaluate(scaled * inv);
    }
}

static frequency_table *table_new(const frequency_exp *exp, double max_period, size_t half) {
    if (half > (SIZE_MAX - sizeof(frequency_table)) / sizeof(float)) {
        return NULL;
    }
    frequency_table *table = malloc(sizeof *table + half * sizeof(float));
    if (table != NULL) {
        table->half = half;
        frequency_fill(exp, max_period, half, table->f);
    }
    return table;
}

/* The slot that holds the key, NULL when none does. Call with the lock held. */
static frequency_slot *slot_find(const frequency_exp *exp, uint64_t period_bits, size_t half) {
    for (size_t i = 0; i < FREQUENCY_SLOTS; i++) {
        frequency_slot *s = &slots[i];
        if (s->table != NULL && s->evaluate == exp->evaluate && s->period_bits == period_bits &&
            s->table->half == half) {
            return s;
        }
    }
    return NULL;
}

/* The empty or least recently used slot that nobody holds, NULL when all are held. Call with the lock held.
 */
static frequency_slot *slot_victim(void) {
    frequency_slot *victim = NULL;
    for (size_t i = 0; i < FREQUENCY_SLOTS; i++) {
        frequency_slot *s = &slots[i];
        if (s->uses == 0 && (victim == NULL || s->age < victim->age)) {
            victim = s;
        }
    }
    return victim;
}

const frequency_table *frequency_acquire(const frequency_exp *exp, double max_period, size_t half) {
    uint64_t period_bits;
    memcpy(&period_bits, &max_period, sizeof period_bits);
    if (half > FREQUENCY_KEEP_HALF) {
        return table_new(exp, max_period, half); /* private to the caller */
    }
    pthread_mutex_lock(&slots_lock);
    frequency_slot *s = slot_find(exp, period_bits, half);
    frequency_table *table = s == NULL ? table_new(exp, max_period, half) : s->table;
    if (s == NULL && table != NULL && (s = slot_victim()) != NULL) {
        free(s->table);
        *s = (frequency_slot){.evaluate = exp->evaluate, .period_bits = period_bits, .table = table};
    }
    if (s != NULL && table != NULL) {
        s->uses++;
        s->age = ++slots_age;
    }
    pthread_mutex_unlock(&slots_lock);
    return table;
}

void frequency_release(const frequency_table *table) {
    if (table == NULL) {
        return;
    }
    pthread_mutex_lock(&slots_lock);
    bool kept = false;
    for (size_t i = 0; i < FREQUENCY_SLOTS; i++) {
        if (slots[i].table == table) {
            slots[i].uses--;
            kept = true;
        }
    }
    pthread_mutex_unlock(&slots_lock);
    if (!kept) {
        free((void *)(uintptr_t)table);
    }
}

/* Unloading the adapter gives the kept tables back. */
__attribute__((destructor)) static void frequency_unload(void) {
    for (size_t i = 0; i < FREQUENCY_SLOTS; i++) {
        free(slots[i].table);
        slots[i].table = NULL;
    }
}
