#ifndef MOONBASE_LUA_HOST_H
#define MOONBASE_LUA_HOST_H

#include "MBLHost.h"
#include "limits/limits.h"

// Host values, functions and objects in Lua, and the transitions between the languages: into Lua (`mbl_call_lua`,
// `mbl_protect`) and into Swift (`MBLPassage`).

// Registry keys, by address; `null` is also the address of the sentinel.
extern const char mbl_key_null, mbl_key_errors, mbl_key_error_metatable, mbl_key_function_metatable,
    mbl_key_identities, mbl_key_list;
// The key of the table behind a frozen value; in its metatable, the key of the error text for changes.
extern const char mbl_key_value;
bool mbl_push_refusal(lua_State *L, int index);
bool mbl_thaw_value(lua_State *L, int index);

typedef struct MBLObject {
  MBLState *state;  // distinguishes our handles from other userdata
  void *object;     // NULL when dead
  MBLType *type;
  uint64_t scope;
  int64_t weight;
  int32_t place;
} MBLObject;

// A host value without references, stored inline and without a finalizer.
typedef struct MBLInline {
  uintptr_t mark;  // distinguishes our values from other userdata
  MBLType *type;
  uint64_t words[];
} MBLInline;

static inline uintptr_t mbl_inline_mark(const MBLState *S) { return (uintptr_t)S + 1; }

// A key, identified by the address of its string, because Lua interns short strings.
typedef struct MBLSlot {
  const void *key;  // NULL if vacant
  int32_t slot;     // negative if vacant
} MBLSlot;

struct MBLType {
  MBLState *state;
  void *owner;
  MBLType *next;
  char *name;
  int keys;        // registry reference: key -> slot or method
  MBLSlot *slots;  // a hash table of the same keys, searched first; at least half is vacant
  uint32_t slotCount, slotMask;
  int metatable;  // registry reference
  bool interned;
  uint32_t inlineSize;  // the bytes of a value; 0 for objects
  MBLReader reader;  // reads properties directly, if set
  void *readerContext;
};

// MARK: setup.c

// Creates the registry tables of this folder.
void mbl_host_setup(lua_State *L);
// Stores a new table with weak keys or values (`mode`) in the registry.
void mbl_make_weak_table(lua_State *L, const char *key, const char *mode);
// Releases all Swift objects that the state still holds.
void mbl_host_free(MBLState *S);

// MARK: ownership.c

// Reserves room for another object. May raise before anything is owned.
void mbl_reserve_place(MBLState *S, lua_State *L);
int32_t mbl_own(MBLState *S, void *object, int64_t weight);
void mbl_disown(MBLState *S, int32_t place, int64_t weight);
void mbl_pending_unwind(MBLState *S, int count);
size_t mbl_scratch_copy(MBLState *S, const void *bytes, size_t length);
// Shrinks a large buffer that is empty.
void mbl_scratch_trim(MBLState *S);

#define MBL_MOST_GARBAGE 64
#define MBL_SCRATCH_KEPT (1 << 20)

// Frees the bytes from `top` on.
static inline void mbl_scratch_free(MBLState *S, size_t top) {
  S->scratch.top = top;
  if (S->scratch.capacity > MBL_SCRATCH_KEPT) mbl_scratch_trim(S);
}

// MARK: handle.c

// The handle at `index`; NULL for other values.
static inline MBLObject *mbl_test_object(MBLState *S, lua_State *L, int index) {
  // A light userdata has length 0, and a string of this length fails the next test.
  if (lua_rawlen(L, index) != sizeof(MBLObject)) return NULL;
  MBLObject *object = lua_touserdata(L, index);
  return object != NULL && object->state == S ? object : NULL;
}

// The inline value at `index`; NULL for other values.
static inline MBLInline *mbl_test_inline(MBLState *S, lua_State *L, int index) {
  // A light userdata has length 0.
  if (lua_rawlen(L, index) <= sizeof(MBLInline)) return NULL;
  MBLInline *value = lua_touserdata(L, index);
  return value != NULL && value->mark == mbl_inline_mark(S) ? value : NULL;
}
void mbl_push_inline(MBLState *S, lua_State *L, MBLType *type, const void *bytes);

// Argument 1, a userdata with the metatable stored in the registry under `key`; raises for other values.
void *mbl_check_box(lua_State *L, const char *key, const char *name);
bool mbl_scope_is_open(const MBLState *S, uint64_t scope);
static inline bool mbl_object_alive(const MBLState *S, const MBLObject *object) {
  return object->object != NULL && (object->scope == 0 || mbl_scope_is_open(S, object->scope));
}
void mbl_push_object_value(MBLState *S, lua_State *L, MBLType *type, void *object, uint32_t extra);

// MARK: type.c

void mbl_type_free(MBLType *type);

// MARK: values.c

static inline bool mbl_is_plain(const MBLValue *value) {
  return value->tag != MBLTagString && value->tag != MBLTagObject && value->tag != MBLTagInline;
}
void mbl_push_value(MBLState *S, lua_State *L, const MBLValue *value);

static inline bool mbl_set_in_host(MBLState *S, bool inHost) {
  bool before = S->run.inHost;
  S->run.inHost = inHost;
  return before;
}

// Calls the function below `count` arguments on the top. All calls from the host into Lua pass here. Removes the
// leftovers of a failed call.
static inline MBLStatus mbl_call_lua(MBLState *S, lua_State *L, int count, int results, int handler) {
  int pending = S->pending.count;
  // Metamethods may run, and large tables may be walked or grown, so this is time in Lua.
  bool inHost = mbl_set_in_host(S, false);
  int status = lua_pcall(L, count, results, handler);
  mbl_set_in_host(S, inHost);
  if (status != LUA_OK) {
    S->running = L;
    mbl_pending_unwind(S, pending);
  }
  return (MBLStatus)status;
}

MBLStatus mbl_protect(MBLState *S, lua_CFunction body, void *request, int results);

// MARK: frame.c

// A call from Lua into Swift.
typedef struct MBLPassage {
  MBLFrame frame;
  int pending;
  size_t scratch;
  bool inHost;
} MBLPassage;

static inline void mbl_passage_begin(MBLPassage *passage, MBLState *S, lua_State *L, int count) {
  passage->frame.state = S;
  passage->frame.thread = L;
  passage->frame.count = count;
  passage->frame.pushed = 0;
  passage->frame.hasResult = false;
  passage->pending = S->pending.count;
  passage->scratch = S->scratch.top;
  passage->inHost = mbl_set_in_host(S, true);
}

void mbl_frame_push_result(MBLFrame *frame);
int mbl_passage_fail(MBLPassage *passage);
// Releases the leftovers of many calls.
void mbl_tidy(MBLState *S, lua_State *L);

// Runs after the Swift frame has returned: pushes the results and returns their number, or raises the error.
static inline int mbl_passage_end(MBLPassage *passage, int32_t failed) {
  MBLFrame *frame = &passage->frame;
  MBLState *S = frame->state;
  mbl_set_in_host(S, passage->inHost);
  if (failed || S->run.abort) return mbl_passage_fail(passage);
  if (frame->hasResult) mbl_frame_push_result(frame);
  if (S->pending.count > passage->pending) mbl_pending_unwind(S, passage->pending);
  mbl_scratch_free(S, passage->scratch);
  if (S->garbage.count >= MBL_MOST_GARBAGE || S->hosted.bytes > S->hosted.mark) mbl_tidy(S, frame->thread);
  return frame->pushed;
}

// MARK: function.c

void mbl_push_function(MBLState *S, lua_State *L, void *function, int64_t weight);
void mbl_bind_function(lua_State *L, int from, int to, const char *name);
void mbl_function_setup(lua_State *L);

// MARK: failure.c

// Frees the frame's scratch bytes from `scratch` on.
int mbl_raise_failure(MBLState *S, lua_State *L, size_t scratch);
void mbl_failure_setup(lua_State *L);

// MARK: place.c, text.c

void mbl_push_blame(lua_State *L);
void mbl_push_text(lua_State *L, int index);

#endif
