#ifndef MBL_LIMITS_H
#define MBL_LIMITS_H

#include "MBLTypes.h"

// MARK: Memory

// Bytes in use by Lua and by the host for scripts.
uint64_t mbl_memory_used(MBLState *_Nonnull state);
uint64_t mbl_memory_peak(MBLState *_Nonnull state);
// Bytes that remain below the soft limit; INT64_MAX without a limit.
int64_t mbl_memory_room(MBLState *_Nonnull state);
// Counts memory that the host keeps for scripts; negative to subtract.
void mbl_weigh(MBLState *_Nonnull state, int64_t bytes);
// Counts memory until the current run ends; without a run it has no effect.
void mbl_weigh_for_run(MBLState *_Nonnull state, int64_t bytes);
// Counts memory until the innermost run of this thread ends; without a run it has no effect.
void mbl_weigh_running(int64_t bytes);
// Collects all garbage, including references that the host released, and releases its Swift objects.
void mbl_collect(MBLState *_Nonnull state);
// For tests: `after` allocations succeed, then `times` fail. -1 disables failures.
void mbl_fail_allocation(MBLState *_Nonnull state, int64_t after, int64_t times);
uint64_t mbl_allocations(MBLState *_Nonnull state);

// MARK: The end of a run

// Whether the innermost run of this thread must end.
bool mbl_run_is_ending(void);
// The reason why the run must end.
MBLAbort mbl_abort(MBLState *_Nonnull state);
void mbl_set_abort(MBLState *_Nonnull state, MBLAbort reason);

// MARK: Instructions

// The remaining instructions; INT64_MAX without a limit.
int64_t mbl_remaining(MBLState *_Nonnull state);
// The remaining budget of the run, ignoring allowances within it.
int64_t mbl_budget(MBLState *_Nonnull state);
void mbl_charge_budget(MBLState *_Nonnull state, int64_t instructions);

// MARK: Allowances

// Begins and ends an allowance within a run. The owner is any address. The allowance must not move meanwhile.
void mbl_allowance_begin(MBLState *_Nonnull state, MBLAllowance *_Nonnull allowance, const void *_Nonnull owner);
// Returns the exceeded limit of the allowance. The run continues.
MBLAbort mbl_allowance_end(MBLAllowance *_Nonnull allowance);
// The owner of this thread's innermost allowance.
const void *_Nullable mbl_allowance_owner(void);
// The instructions of this run that allowances have used so far.
int64_t mbl_excluded(MBLState *_Nonnull state);
// Charges work on behalf of a run. The part used by other allowances is not charged to the run's own allowance.
void mbl_charge_excluding(MBLState *_Nonnull state, int64_t instructions, int64_t excluded);

// MARK: Deadlines and interruptions

// Pauses and resumes the clocks of this thread's runs while the host waits for the user.
void mbl_pause_deadlines(bool isPaused);
// Gives other threads access to the runs of a state. May outlive the state.
MBLControl *_Nonnull mbl_control(MBLState *_Nonnull state);
void mbl_control_retain(MBLControl *_Nonnull control);
void mbl_control_release(MBLControl *_Nonnull control);
void mbl_control_interrupt(MBLControl *_Nonnull control);
// Makes the next SIGINT interrupt the run; a further SIGINT ends the process. NULL restores the previous handling.
void mbl_control_on_sigint(MBLControl *_Nullable control);
// Makes each SIGINT interrupt the run; none ends the process.
void mbl_control_on_each_sigint(MBLControl *_Nullable control);

// MARK: References and memory that are let go

// Collects references and memory that the host releases on any thread. May outlive the state.
MBLQueue *_Nonnull mbl_queue(MBLState *_Nonnull state);
void mbl_queue_retain(MBLQueue *_Nonnull queue);
void mbl_queue_release(MBLQueue *_Nonnull queue);
void mbl_queue_unref(MBLQueue *_Nonnull queue, int32_t reference);
// Counts bytes when the state next applies the queue, at its next run or collection.
void mbl_queue_weigh(MBLQueue *_Nonnull queue, int64_t bytes);

// MARK: Coverage

// Records executed lines of chunks that the host loads from now on.
void mbl_coverage_begin(MBLState *_Nonnull state);
// Finds the lines of functions that were made but not called, ignoring limits. Returns false if memory was
// insufficient.
bool mbl_coverage_finish(MBLState *_Nonnull state);
int32_t mbl_coverage_count(MBLState *_Nonnull state);
MBLCoveredFile mbl_coverage_file(MBLState *_Nonnull state, int32_t index);

#endif
