#include <stdatomic.h>

#include "run/run.h"

// Begin and end of a run: resetting the counters and freeing memory.

void mbl_set_limits(MBLState *S, const MBLLimits *limits) {
  bool counted = S->limits.instructions > 0;
  S->limits = *limits;
  mbl_set_ceilings(S);
  if (S->run.depth == 0) {
    mbl_install_hook(S, S->main);
  } else {
    mbl_watch(S);
    // The current run has a practically unlimited number of instructions, but parts of it may have a limit.
    if (!counted && limits->instructions > 0) {
      mbl_install_hook(S, S->main);
      mbl_install_hook(S, S->running);
    }
  }
}

bool mbl_is_running(MBLState *S) { return S->run.depth > 0; }
MBLState *mbl_running(void) { return mbl_current; }
uint64_t mbl_output_add(MBLState *S, uint64_t bytes) { return S->run.written += bytes; }
int64_t mbl_exit_status(MBLState *S) { return S->run.exitStatus; }

// Calls nest across states, and each state knows only its own calls. The remaining C stack limits them all.
static void check_nesting(MBLState *S) {
  if (mbl_current != NULL && mbl_stack_is_low()) mbl_set_abort(S, MBLAbortCallDepth);
}

// A run on behalf of a run that must end has to end too.
static void inherit_end(MBLState *S) {
  if (S->run.parent == NULL || !S->run.parent->run.abort) return;
  S->run.exitStatus = S->run.parent->run.exitStatus;
  mbl_set_abort(S, (MBLAbort)S->run.parent->run.abort);
}

void mbl_begin(MBLState *S) {
  if (S->run.depth++ > 0) {
    check_nesting(S);
    return;
  }
  S->run.abort = MBLAbortNone;
  S->shortage.isFelt = 0;
  S->shortage.inARow = 0;
  S->calls.skippable = 0;
  S->run.budget = S->limits.instructions > 0 ? S->limits.instructions : INT64_MAX;
  S->run.floor = S->run.excluded = 0;
  S->run.allowance = S->run.ending = NULL;
  S->run.exitStatus = 0;
  S->run.written = 0;
  S->run.inHost = false;
  check_nesting(S);
  S->run.parent = mbl_current;
  atomic_signal_fence(memory_order_seq_cst);
  mbl_work_for(S);
  inherit_end(S);
  mbl_queue_apply(S);
  mbl_control_enter(S);
  mbl_watch(S);
}

void mbl_end(MBLState *S) {
  if (--S->run.depth > 0) return;
  mbl_control_leave(S);
  mbl_work_for(S->run.parent);
  S->run.parent = NULL;  // the parent may be closed before this state is used again
  mbl_weigh(S, -S->hosted.ofRun);
  S->hosted.ofRun = 0;
  S->run.abort = MBLAbortNone;
  S->shortage.isFelt = 0;
  S->scratch.top = 0;
  S->library.closeDepth = 0;
  if (S->run.armed) {
    S->run.armed = 0;
    mbl_install_hook(S, S->main);
  }
  mbl_scratch_trim(S);
  if (S->garbage.count > 0) mbl_drain(S);
}
