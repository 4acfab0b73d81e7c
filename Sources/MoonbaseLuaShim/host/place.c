#include <string.h>

#include "host/host.h"

// Places in scripts, and the name of the running function.

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

// Whether a source is a shipped module, such as "@moonbase.json.lua".
static bool is_shipped(const char *source) {
  return strncmp(source, shipped, sizeof shipped - 1) == 0 && strchr(source + sizeof shipped - 1, '.') != NULL;
}

// The place that an error blames, "script.lua:12: ": the caller of the running function. If a shipped module called it,
// the caller of that module.
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

int32_t mbl_function_parameters(MBLState *S, int32_t function) {
  lua_Debug info;
  if (!mbl_push_reference(S, function)) return 0;
  if (!lua_isfunction(S->running, -1)) {
    lua_pop(S->running, 1);
    return INT32_MAX;
  }
  lua_getinfo(S->running, ">u", &info);
  return info.isvararg ? INT32_MAX : info.nparams;
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
