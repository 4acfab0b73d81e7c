#include <stdlib.h>
#include <string.h>

#include "run/run.h"

// A Lua function as one that a store calls for each row (RowCall.swift). The tags that its cells know come first.

_Static_assert(sizeof(MBLValue) == 24 && offsetof(MBLValue, length) == 8 && offsetof(MBLValue, tag) == 16 &&
                   offsetof(MBLValue, extra) == 20 && MBL_BORROWED == 1,
               "a plain value lies as a cell does");
_Static_assert(MBLTagNil == 0 && MBLTagBoolean == 1 && MBLTagInteger == 2 && MBLTagNumber == 3 && MBLTagString == 4,
               "a cell's kinds are tags");

struct MBLRowCall {
  MBLState *const *home;
  int32_t function;
  char *bytes;  // of the last result
  size_t capacity;
};

MBLRowCall *mbl_row_call_make(MBLState *const *home, int32_t function) {
  MBLRowCall *call = calloc(1, sizeof *call);
  if (call != NULL) *call = (MBLRowCall){home, function, NULL, 0};
  return call;
}

void mbl_row_call_free(MBLRowCall *call) {
  free(call->bytes);
  free(call);
}

// The bytes leave the stack with the call.
static bool keep(MBLRowCall *call, const char *bytes, size_t length, MBLValue *result) {
  if (length > call->capacity) {
    char *larger = realloc(call->bytes, length * 2);
    if (larger == NULL) return false;
    call->bytes = larger;
    call->capacity = length * 2;
  }
  if (length > 0) memcpy(call->bytes, bytes, length);
  *result = (MBLValue){.pointer = call->bytes, .length = length, .tag = MBLTagString, .extra = MBL_BORROWED};
  return true;
}

bool mbl_row_call(void *context, const void *cells, int32_t count, void *result) {
  MBLRowCall *call = context;
  MBLState *S = *call->home;
  if (S == NULL) return false;
  MBLFastResult plain = mbl_fast_call(S, call->function, cells, count);
  bool isPlain = false;
  if (plain.status != MBLStatusOK || (plain.tag == MBLTagNil && plain.word == MBLNoResult)) {
    // Who is asked in its place says so.
  } else if (plain.tag <= MBLTagNumber) {
    *(MBLValue *)result = (MBLValue){.integer = plain.word, .tag = (MBLTag)plain.tag};
    isPlain = true;
  } else if (plain.tag == MBLTagString) {
    size_t length;
    const char *bytes = lua_tolstring(S->running, plain.top + 1, &length);
    isPlain = keep(call, bytes, length, result);
  }
  if (plain.top >= 0) lua_settop(S->running, plain.top);
  return isPlain;
}
