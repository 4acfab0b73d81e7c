#include <string.h>

#include "run/run.h"

// Tracebacks of failed calls.

// The shim's own function below a call of the host is omitted.
static bool is_glue(lua_State *L, lua_Debug *frame) {
  if (frame->what[0] != 'C' || !lua_checkstack(L, 1)) return false;
  lua_getinfo(L, "f", frame);
  bool isGlue = lua_tocfunction(L, -1) == mbl_call_body;
  lua_settop(L, -2);
  return isGlue;
}

static void trace_frame(MBLState *S, lua_State *L, lua_Debug *frame) {
  lua_getinfo(L, "Sln", frame);
  if (is_glue(L, frame)) return;
  MBLTraceSlot *slot = &S->trace.slots[S->trace.count++];
  strncpy(slot->source, frame->short_src, sizeof slot->source - 1);
  slot->source[sizeof slot->source - 1] = 0;
  slot->name[0] = 0;
  if (frame->name != NULL) {
    strncpy(slot->name, frame->name, sizeof slot->name - 1);
    slot->name[sizeof slot->name - 1] = 0;
  }
  slot->kind = frame->what[0] == 'm' ? "main" : frame->what[0] == 'C' ? "host" : "function";
  slot->line = frame->currentline;
  slot->defined = frame->linedefined;
}

// Uses lua_getinfo, because luaL_traceback searches package.loaded and costs a hundred times as much.
void mbl_trace_capture(MBLState *S, lua_State *L, int32_t level) {
  lua_Debug frame;
  S->trace.count = 0;
  while (S->trace.count < MBL_TRACE_ENTRIES && lua_getstack(L, level++, &frame)) trace_frame(S, L, &frame);
}

int mbl_handler(lua_State *L) {
  MBLState *S = mbl_of(L);
  mbl_trace_capture(S, L, 1);
  return 1;
}

void mbl_trace_here(MBLState *S) { mbl_trace_capture(S, S->running, 0); }
void mbl_trace_clear(MBLState *S) { S->trace.count = 0; }
int32_t mbl_trace_count(MBLState *S) { return S->trace.count; }

MBLTraceEntry mbl_trace_entry(MBLState *S, int32_t index) {
  MBLTraceSlot *slot = &S->trace.slots[index];
  return (MBLTraceEntry){slot->source, slot->name[0] ? slot->name : NULL, slot->kind, slot->line, slot->defined};
}
