#include <string.h>

#include "host/host.h"

// Calls from Lua into Swift. Their results wait in the frame, the scratch buffer and the list of pending objects until
// the Swift frame has returned, because pushing them may raise an error.

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
  } else if (value->tag == MBLTagInline) {
    memcpy(frame->words, value->pointer, ((MBLType *)(uintptr_t)value->length)->inlineSize);
  } else if (value->tag == MBLTagObject) {
    S->host->retain((void *)value->pointer);
    if (!mbl_list_add(&S->pending, (void *)value->pointer)) {
      S->host->release((void *)value->pointer);
      frame->result.tag = MBLTagNil;
      mbl_set_abort(S, MBLAbortMemory);
    }
  }
}

// The waiting result, with the current address of its bytes.
static const MBLValue *take_result(MBLFrame *frame) {
  frame->hasResult = false;
  if (frame->result.tag == MBLTagString && frame->result.extra != MBL_BORROWED) {
    frame->result.pointer = frame->state->scratch.bytes + frame->result.integer;
  } else if (frame->result.tag == MBLTagInline) {
    frame->result.pointer = frame->words;
  }
  return &frame->result;
}

MBLStatus mbl_frame_flush(MBLFrame *frame) {
  if (!frame->hasResult) return MBLStatusOK;
  MBLStatus status = mbl_push(frame->state, take_result(frame));
  if (status == MBLStatusOK) {
    frame->pushed++;
  } else {
    mbl_set_abort(frame->state, MBLAbortMemory);
  }
  return status;
}

void mbl_frame_push_result(MBLFrame *frame) {
  frame->pushed++;
  mbl_push_value(frame->state, frame->thread, take_result(frame));
}

int mbl_passage_fail(MBLPassage *passage) {
  MBLState *S = passage->frame.state;
  mbl_pending_unwind(S, passage->pending);
  return mbl_raise_failure(S, passage->frame.thread, passage->scratch);
}

void mbl_tidy(MBLState *S, lua_State *L) {
  if (S->garbage.count >= MBL_MOST_GARBAGE) mbl_drain(S);
  if (S->hosted.bytes > S->hosted.mark) mbl_collect_hosted(S, L);
}
