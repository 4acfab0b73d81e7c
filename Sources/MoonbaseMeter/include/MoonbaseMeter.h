#ifndef MOONBASE_METER_H
#define MOONBASE_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// How much work this thread may do before its run is asked whether it should go on. Every layer charges what it does;
// only the one that runs scripts knows for whom, and looks. A thread that runs no script has as good as no end to it.

// Units of work before the next look. A signal handler may set it to less than 0.
extern _Thread_local int64_t moonbase_meter_rest;

// The bytes of one value, as good as without end where no script has a limit: what is larger cannot be handed over, so it is not even
// read.
extern _Thread_local int64_t moonbase_meter_greatest_value;
static inline int64_t moonbase_meter_value_bound(void) { return moonbase_meter_greatest_value; }

// What looks: it sets the rest anew and returns whether the work must end.
void moonbase_meter_set_look(bool (*_Nonnull look)(void));

// Looks now.
bool moonbase_meter_look(void);

// Counts units, and looks when the rest is used up; true: the work must end.
static inline bool moonbase_meter_charge(int64_t units) {
  moonbase_meter_rest -= units;
  return moonbase_meter_rest < 0 && moonbase_meter_look();
}

// Work that a thread does on behalf of a run on another one: it counts what is charged, and is told to stop.

struct moonbase_errand;

// For the run on this thread: no greater value is read for it than it may have.
struct moonbase_errand *_Nonnull moonbase_errand_make(void);
void moonbase_errand_free(struct moonbase_errand *_Nonnull errand);
// From here on this thread charges the errand; it runs nothing of its own until it leaves.
void moonbase_errand_enter(struct moonbase_errand *_Nonnull errand);
void moonbase_errand_leave(void);
// The units since the last time.
int64_t moonbase_errand_take(struct moonbase_errand *_Nonnull errand);
void moonbase_errand_stop(struct moonbase_errand *_Nonnull errand);

// How many functions run on this thread that are called in the midst of the work of a store, or of a context for it.

extern _Thread_local int32_t moonbase_function_depth;
static inline int32_t moonbase_functions_running(void) { return moonbase_function_depth; }
static inline void moonbase_function_enter(void) { moonbase_function_depth++; }
static inline void moonbase_function_leave(void) { moonbase_function_depth--; }

// How often on this thread such a function was refused what it asked a store for: one that catches the error goes no further by that.
extern _Thread_local int64_t moonbase_function_refusals;
static inline int64_t moonbase_functions_refused(void) { return moonbase_function_refusals; }
static inline void moonbase_function_refuse(void) { moonbase_function_refusals++; }

// The cores that this process may use: fewer than the machine has, where it was started so (taskset, a container).
int moonbase_core_count(void);

// Writing through C's buffers that ends with the run: a full pipe that nobody reads would hold it up for ever.

// Writes bytes. Once the run on this thread must end they are dropped instead of waiting for room. A stream that takes nothing any
// more is no reason to stop.
void moonbase_stream_write(FILE *_Nonnull stream, const void *_Nullable bytes, size_t length);

// Flushes in the same way.
int moonbase_stream_flush(FILE *_Nonnull stream);

// From now on output that nobody takes is dropped: for the end of a process whose run was ended.
void moonbase_stream_give_up(void);

// Output is waited for again: for a process that begins another run.
void moonbase_stream_wait_again(void);

// Whether what nobody takes is dropped.
bool moonbase_stream_has_given_up(void);

// Paths that hold no links, because links were resolved when the path was checked.

// Opens a file as open(2) does, and fails with ELOOP where a part of the path is a link by now. It may fail with ELOOP
// for a path with "..".
int moonbase_open_without_links(const char *_Nonnull path, int flags, int mode);

// Opens a file in the same way, on systems that have no call for it.
int moonbase_open_step_by_step(const char *_Nonnull path, int flags, int mode);

#endif
