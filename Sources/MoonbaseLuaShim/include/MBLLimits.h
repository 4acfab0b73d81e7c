#ifndef MBL_LIMITS_H
#define MBL_LIMITS_H

#include "MBLTypes.h"

// MARK: Memory

// Bytes in use: Lua's, and what the host keeps for scripts.
uint64_t mbl_memory_used(MBLState *_Nonnull state);
uint64_t mbl_memory_peak(MBLState *_Nonnull state);
// Bytes before the soft limit; INT64_MAX without one.
int64_t mbl_memory_room(MBLState *_Nonnull state);
// Counts memory that the host keeps on behalf of scripts; negative where the host lets it go.
void mbl_weigh(MBLState *_Nonnull state, int64_t bytes);
// The same until the run that is under way ends; nothing without a run.
void mbl_weigh_for_run(MBLState *_Nonnull state, int64_t bytes);
// The same for the state whose run is innermost on this thread, if there is one.
void mbl_weigh_running(int64_t bytes);
// Collects all garbage, with the references that the host let go, and releases the Swift objects that were in it.
void mbl_collect(MBLState *_Nonnull state);
// For tests: `after` more allocations succeed, then `times` fail; none fails where `after` is -1.
void mbl_fail_allocation(MBLState *_Nonnull state, int64_t after, int64_t times);
uint64_t mbl_allocations(MBLState *_Nonnull state);

// MARK: The end of a run

// Whether the innermost run of this thread must end.
bool mbl_run_is_ending(void);
// Why the run must end.
MBLAbort mbl_abort(MBLState *_Nonnull state);
void mbl_set_abort(MBLState *_Nonnull state, MBLAbort reason);

// MARK: Instructions

// What is left of the instructions; INT64_MAX without that limit.
int64_t mbl_remaining(MBLState *_Nonnull state);
// The remaining budget of the run alone, without regard to allowances within it.
int64_t mbl_budget(MBLState *_Nonnull state);
void mbl_charge_budget(MBLState *_Nonnull state, int64_t instructions);

// MARK: Allowances

// Begins and ends what an allowance is for, within a run. The owner is any address. The allowance is not moved until
// then.
void mbl_allowance_begin(MBLState *_Nonnull state, MBLAllowance *_Nonnull allowance, const void *_Nonnull owner);
// Gives the limit of the allowance that was exceeded; the run goes on.
MBLAbort mbl_allowance_end(MBLAllowance *_Nonnull allowance);
// The owner of the innermost one on this thread.
const void *_Nullable mbl_allowance_owner(void);
// The instructions that allowances used of this run so far.
int64_t mbl_excluded(MBLState *_Nonnull state);
// Charges work on behalf of a run. The part that other allowances used does not count for the run's own allowance.
void mbl_charge_excluding(MBLState *_Nonnull state, int64_t instructions, int64_t excluded);

// MARK: Deadlines and interruptions

// Stops and restarts the clocks of this thread's runs, where the host waits for the user.
void mbl_pause_deadlines(bool isPaused);
// What reaches the runs of a state from any thread. It may outlive the state.
MBLControl *_Nonnull mbl_control(MBLState *_Nonnull state);
void mbl_control_retain(MBLControl *_Nonnull control);
void mbl_control_release(MBLControl *_Nonnull control);
void mbl_control_interrupt(MBLControl *_Nonnull control);
// Lets the next SIGINT interrupt the run; the one after that ends the process. NULL: SIGINT does what it did before.
void mbl_control_on_sigint(MBLControl *_Nullable control);
// Lets each SIGINT interrupt the run, and none ends the process.
void mbl_control_on_each_sigint(MBLControl *_Nullable control);

// MARK: References and memory that are let go

// Takes what the host lets go on any thread. It may outlive the state.
MBLQueue *_Nonnull mbl_queue(MBLState *_Nonnull state);
void mbl_queue_retain(MBLQueue *_Nonnull queue);
void mbl_queue_release(MBLQueue *_Nonnull queue);
void mbl_queue_unref(MBLQueue *_Nonnull queue, int32_t reference);
// Counts bytes when the state looks next, at its next run or collection.
void mbl_queue_weigh(MBLQueue *_Nonnull queue, int64_t bytes);

// MARK: Coverage

// Counts from now on which lines of the chunks that the host loads run.
void mbl_coverage_begin(MBLState *_Nonnull state);
// Looks for the lines of functions that were made and not called, with no regard to limits. False where memory was
// short.
bool mbl_coverage_finish(MBLState *_Nonnull state);
int32_t mbl_coverage_count(MBLState *_Nonnull state);
MBLCoveredFile mbl_coverage_file(MBLState *_Nonnull state, int32_t index);

#endif
