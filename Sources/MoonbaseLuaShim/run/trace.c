#include <string.h>

#include "state.h"

// Where Lua is: tracebacks, places, names of functions.

// Frames of the shim's own functions tell nobody anything.
static bool is_glue(lua_State *L, lua_Debug *frame) {
  if (frame->what[0] != 'C' || !lua_checkstack(L, 1)) return false;
  lua_getinfo(L, "f", frame);
  bool isGlue = mbl_is_call_body(lua_tocfunction(L, -1));
  lua_settop(L, -2);
  return isGlue;
}

static void trace_frame(MBLState *S, lua_State *L, lua_Debug *frame) {
  lua_getinfo(L, "Sln", frame);
  if (is_glue(L, frame)) return;
  MBLTraceSlot *slot = &S->trace[S->traceCount++];
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

// Built from lua_getinfo: luaL_traceback searches package.loaded and costs a hundred times as much.
void mbl_trace_capture(MBLState *S, lua_State *L, int32_t level) {
  lua_Debug frame;
  S->traceCount = 0;
  while (S->traceCount < MBL_TRACE_ENTRIES && lua_getstack(L, level++, &frame)) trace_frame(S, L, &frame);
}

int mbl_handler(lua_State *L) {
  MBLState *S = mbl_of(L);
  mbl_trace_capture(S, L, 1);
  return 1;
}

void mbl_trace_clear(MBLState *S) { S->traceCount = 0; }
int32_t mbl_trace_count(MBLState *S) { return S->traceCount; }

MBLTraceEntry mbl_trace_entry(MBLState *S, int32_t index) {
  MBLTraceSlot *slot = &S->trace[index];
  return (MBLTraceEntry){slot->source, slot->name[0] ? slot->name : NULL, slot->kind, slot->line, slot->defined};
}

static void write_place(const char *source, int line, char *buffer, size_t capacity) {
  buffer[0] = 0;
  if (line <= 0) return;
  int length = 0;
  while (source[length] != 0) length++;
  if ((size_t)length + 16 > capacity) return;
  memcpy(buffer, source, length);
  char digits[12];
  int count = 0;
  while (line > 0) {
    digits[count++] = (char)('0' + line % 10);
    line /= 10;
  }
  buffer[length++] = ':';
  while (count > 0) buffer[length++] = digits[--count];
  buffer[length] = 0;
}

static const char shipped[] = "@moonbase.";

// Whether a source is one of the modules on board, such as "@moonbase.json.lua".
static bool is_shipped(const char *source) {
  return strncmp(source, shipped, sizeof shipped - 1) == 0 && strchr(source + sizeof shipped - 1, '.') != NULL;
}

// The place to blame, "script:12: ": who called the running function, or, for what the modules on board call, who called those.
void mbl_blame(lua_State *L, char *buffer, size_t capacity) {
  lua_Debug frame;
  bool isInModule = false;
  buffer[0] = 0;
  for (int level = 1; lua_getstack(L, level, &frame); level++) {
    lua_getinfo(L, "Sl", &frame);
    if (is_shipped(frame.source)) {
      isInModule = true;
    } else if (frame.currentline > 0 || !isInModule) {
      write_place(frame.short_src, frame.currentline, buffer, capacity - 2);
      break;
    }
  }
  if (buffer[0] != 0) strcat(buffer, ": ");
}

void mbl_push_blame(lua_State *L) {
  char buffer[LUA_IDSIZE + 32];
  mbl_blame(L, buffer, sizeof buffer);
  lua_pushstring(L, buffer);
}

void mbl_where(lua_State *L, int32_t level, char *buffer, size_t capacity) {
  lua_Debug frame;
  buffer[0] = 0;
  if (!lua_getstack(L, level, &frame)) return;
  lua_getinfo(L, "Sl", &frame);
  write_place(frame.short_src, frame.currentline, buffer, capacity);
  if (buffer[0] != 0) strcat(buffer, ": ");
}

void mbl_function_place(MBLState *S, int32_t function, char *buffer, size_t capacity) {
  lua_Debug info;
  buffer[0] = 0;
  if (!mbl_push_reference(S, function)) return;
  if (!lua_isfunction(S->running, -1)) {
    lua_pop(S->running, 1);
    return;
  }
  lua_getinfo(S->running, ">S", &info);
  write_place(info.short_src, info.linedefined, buffer, capacity);
}

void mbl_function_name(lua_State *L, char *buffer, size_t capacity, bool *isMethod) {
  lua_Debug frame;
  *isMethod = false;
  buffer[0] = 0;
  if (!lua_getstack(L, 0, &frame)) return;
  lua_getinfo(L, "n", &frame);
  *isMethod = strcmp(frame.namewhat, "method") == 0;
  if (frame.name != NULL) {
    strncpy(buffer, frame.name, capacity - 1);
    buffer[capacity - 1] = 0;
  }
}
