#include "host/host.h"

// Calls from Lua into Swift: their results wait in the frame, in the scratch and among the pending objects until the Swift frame
// has gone, since what pushes them may raise.

void mbl_frame_return(MBLFrame *frame, const MBLValue *value) {
  MBLState *S = frame->state;
  if (S->run.abort) return;  // the run ends before the result is used
  if (frame->hasResult && mbl_frame_flush(frame) != MBLStatusOK) return;
  frame->result = *value;
  frame->hasResult = true;
  if (value->tag == MBLTagString) {
    size_t offset = mbl_scratch_copy(S, value->pointer, value->length);
    if (offset == SIZE_MAX) {
      frame->result.tag = MBLTagNil;
      mbl_set_abort(S, MBLAbortMemory);
    } else {
      frame->result.integer = (int64_t)offset;
    }
  } else if (value->tag == MBLTagObject) {
    S->host->retain((void *)value->pointer);
    if (!mbl_list_add(&S->pending, (void *)value->pointer)) {
      S->host->release((void *)value->pointer);
      frame->result.tag = MBLTagNil;
      mbl_set_abort(S, MBLAbortMemory);
    }
  }
}

static MBLValue frame_value(MBLFrame *frame) {
  MBLValue value = frame->result;
  if (value.tag == MBLTagString) value.pointer = frame->state->scratch.bytes + frame->result.integer;
  return value;
}

MBLStatus mbl_frame_flush(MBLFrame *frame) {
  if (!frame->hasResult) return MBLStatusOK;
  frame->hasResult = false;
  MBLValue value = frame_value(frame);
  MBLStatus status = mbl_push(frame->state, &value);
  if (status == MBLStatusOK) {
    frame->pushed++;
  } else {
    mbl_set_abort(frame->state, MBLAbortMemory);
  }
  return status;
}

int mbl_passage_end(MBLPassage *passage, int32_t failed) {
  MBLFrame *frame = &passage->frame;
  MBLState *S = frame->state;
  lua_State *L = frame->thread;
  mbl_set_in_host(S, passage->inHost);
  if (failed || S->run.abort) {
    mbl_pending_unwind(S, passage->pending);
    return mbl_raise_failure(S, L, passage->scratch);
  }
  int count = frame->pushed;
  if (frame->hasResult) {
    if (frame->result.tag == MBLTagInteger) {
      lua_pushinteger(L, frame->result.integer);
    } else {
      MBLValue value = frame_value(frame);
      mbl_push_value(S, L, &value);
    }
    count++;
  }
  if (S->pending.count > passage->pending) mbl_pending_unwind(S, passage->pending);
  mbl_scratch_free(S, passage->scratch);
  if (S->garbage.count >= 64) mbl_drain(S);
  if (S->hosted.bytes > S->hosted.mark) mbl_collect_hosted(S, L);
  return count;
}
