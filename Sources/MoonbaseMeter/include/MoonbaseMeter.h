#ifndef MOONBASE_METER_H
#define MOONBASE_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// The work that this thread may do before the next check whether its run must end. Every layer charges its work; only
// the layer that runs scripts knows the run, and checks it. A thread without a script has a practically unlimited
// amount.

// Units of work before the next check. A signal handler may set it below 0.
extern _Thread_local int64_t moonbase_meter_rest;

// The most bytes of a value, practically unlimited without a script's limit. A larger value could not be delivered, so
// it is not read.
extern _Thread_local int64_t moonbase_meter_greatest_value;
static inline int64_t moonbase_meter_value_bound(void) { return moonbase_meter_greatest_value; }

// Sets the check. It resets `moonbase_meter_rest` and returns whether the work must end.
void moonbase_meter_set_look(bool (*_Nonnull look)(void));

// Checks now.
bool moonbase_meter_look(void);

// Charges units, and checks when the rest is used up. Returns true if the work must end.
static inline bool moonbase_meter_charge(int64_t units) {
  moonbase_meter_rest -= units;
  return moonbase_meter_rest < 0 && moonbase_meter_look();
}

// Work that a thread does on behalf of a run on another thread. It counts the charged units and can be stopped.

struct moonbase_errand;

// An errand for the run on this thread, with the limit of values of that run.
struct moonbase_errand *_Nonnull moonbase_errand_make(void);
void moonbase_errand_free(struct moonbase_errand *_Nonnull errand);
// Makes this thread charge the errand until it leaves. The thread must not have a run of its own meanwhile.
void moonbase_errand_enter(struct moonbase_errand *_Nonnull errand);
void moonbase_errand_leave(void);
// The units since the last call.
int64_t moonbase_errand_take(struct moonbase_errand *_Nonnull errand);
void moonbase_errand_stop(struct moonbase_errand *_Nonnull errand);

// The number of functions running on this thread that were called during the work of a store or of a context.

extern _Thread_local int32_t moonbase_function_depth;
static inline int32_t moonbase_functions_running(void) { return moonbase_function_depth; }
static inline void moonbase_function_enter(void) { moonbase_function_depth++; }
static inline void moonbase_function_leave(void) { moonbase_function_depth--; }

// The number of store accesses refused to such functions on this thread, so that catching the error does not hide it.
extern _Thread_local int64_t moonbase_function_refusals;
static inline int64_t moonbase_functions_refused(void) { return moonbase_function_refusals; }
static inline void moonbase_function_refuse(void) { moonbase_function_refusals++; }

// The number of cores available to this process, which may be fewer than the machine has (taskset, a container).
int moonbase_core_count(void);

// Writing through C's buffers that ends with the run, because a full pipe without a reader would block forever.

// Writes bytes. If the run on this thread must end while waiting for room, they are dropped. A closed stream is
// ignored.
void moonbase_stream_write(FILE *_Nonnull stream, const void *_Nullable bytes, size_t length);

// Flushes the stream, with the same end of waiting.
int moonbase_stream_flush(FILE *_Nonnull stream);

// Drops output without a reader from now on, for the end of a process whose run was ended.
void moonbase_stream_give_up(void);

// Waits for readers again, for a process that begins another run.
void moonbase_stream_wait_again(void);

// Whether output without a reader is dropped.
bool moonbase_stream_has_given_up(void);

// Paths without links, because links were resolved when the path was checked.

// Opens a file as open(2) does, and fails with ELOOP if a part of the path is a link now. May fail with ELOOP for a
// path with "..".
int moonbase_open_without_links(const char *_Nonnull path, int flags, int mode);

// The implementation of `moonbase_open_without_links` for systems without a system call for it.
int moonbase_open_step_by_step(const char *_Nonnull path, int flags, int mode);

#endif
