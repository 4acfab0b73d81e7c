#include "limits/control.h"

// Swift functions that Lua calls.

void mbl_frame_return(MBLFrame *frame, const MBLValue *value) {
  MBLState *S = frame->state;
  if (S->abort) return;  // nobody will see it
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
    if (!mbl_pending_push(S, (void *)value->pointer)) {
      S->host->release((void *)value->pointer);
      frame->result.tag = MBLTagNil;
      mbl_set_abort(S, MBLAbortMemory);
    }
  }
}

static MBLValue frame_value(MBLFrame *frame) {
  MBLValue value = frame->result;
  if (value.tag == MBLTagString) value.pointer = frame->state->scratch + frame->result.integer;
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

// The Swift frame has gone: from here on raising is allowed.
int mbl_finish(MBLState *S, lua_State *L, MBLFrame *frame, int32_t failed, int pending, size_t scratch) {
  if (failed || S->abort) {
    mbl_pending_unwind(S, pending);
    return mbl_raise_failure(S, L);
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
  if (S->pendingCount > pending) mbl_pending_unwind(S, pending);
  S->scratchTop = scratch;
  if (scratch == 0) mbl_scratch_trim(S);
  if (S->garbageCount >= 64) mbl_drain(S);
  if (S->hosted > S->hostedMark) mbl_collect_hosted(S, L);
  return count;
}

static int function_call(lua_State *L) {
  MBLState *S = mbl_of(L);
  MBLFunctionBox *box = lua_touserdata(L, lua_upvalueindex(1));
  if (S->closing) return luaL_error(L, "the state is closing");
  MBLFrame frame;
  frame.state = S;
  frame.thread = L;
  frame.count = lua_gettop(L);
  frame.pushed = 0;
  frame.hasResult = false;
  int pending = S->pendingCount;
  size_t scratch = S->scratchTop;
  bool inHost = mbl_set_in_host(S, true);
  int32_t failed = S->host->call(box->function, &frame);
  mbl_set_in_host(S, inHost);
  return mbl_finish(S, L, &frame, failed, pending, scratch);
}

static int function_collect(lua_State *L) {
  MBLFunctionBox *box = lua_touserdata(L, 1);
  if (box->function != NULL) mbl_disown(mbl_of(L), box->place, box->weight);
  box->function = NULL;
  return 0;
}

// Leaves a closure on the stack; retains the Swift function.
void mbl_push_function(MBLState *S, lua_State *L, void *function, int64_t weight) {
  MBLFunctionBox *box = lua_newuserdatauv(L, sizeof(MBLFunctionBox), 0);
  box->function = NULL;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &mbl_key_function_metatable);
  lua_setmetatable(L, -2);
  mbl_reserve_place(S, L);
  S->host->retain(function);
  box->function = function;
  box->weight = weight;
  box->place = mbl_own(S, function, weight);
  lua_pushcclosure(L, function_call, 1);
}

// Sets a host function of one table in another, which from then on the function knows as the environment of its caller.
void mbl_bind_function(lua_State *L, int from, int to, const char *name) {
  int top = lua_gettop(L);
  lua_getfield(L, from, name);
  if (lua_tocfunction(L, -1) == function_call && lua_getupvalue(L, -1, 1) != NULL) {
    lua_pushvalue(L, to);
    lua_pushcclosure(L, function_call, 2);
    lua_setfield(L, to, name);
  }
  lua_settop(L, top);
}

bool mbl_frame_environment(MBLFrame *frame) {
  lua_State *L = frame->thread;
  if (lua_type(L, lua_upvalueindex(2)) != LUA_TTABLE || !lua_checkstack(L, 1)) return false;
  lua_pushvalue(L, lua_upvalueindex(2));
  return true;
}

typedef struct FunctionRequest {
  void *function;
  int64_t weight;
} FunctionRequest;

static int function_body(lua_State *L) {
  FunctionRequest *request = lua_touserdata(L, 1);
  mbl_push_function(mbl_of(L), L, request->function, request->weight);
  return 1;
}

MBLStatus mbl_function_new(MBLState *S, void *function, int64_t weight) {
  FunctionRequest request = {function, weight};
  return mbl_protect(S, function_body, &request, 1);
}

void mbl_function_setup(lua_State *L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, function_collect);
  lua_setfield(L, -2, "__gc");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &mbl_key_function_metatable);
}
