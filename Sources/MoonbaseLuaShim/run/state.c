#include <stdlib.h>
#include <string.h>

#include "state.h"

const char mbl_key_null = 0, mbl_key_abort = 0, mbl_key_interned = 0, mbl_key_error_metatable = 0,
           mbl_key_function_metatable = 0, mbl_key_errors = 0, mbl_key_base = 0, mbl_key_frozen = 0,
           mbl_key_identities = 0, mbl_key_threads = 0, mbl_key_list = 0, mbl_key_system = 0, mbl_key_memory_text = 0;

static void weak_table(lua_State *L, const char *key, const char *mode) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushstring(L, mode);
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

static void host_setup(lua_State *L) {
  weak_table(L, &mbl_key_interned, "v");
  weak_table(L, &mbl_key_errors, "k");
  weak_table(L, &mbl_key_identities, "k");
  weak_table(L, &mbl_key_threads, "k");
  weak_table(L, &mbl_key_list, "k");
  mbl_failure_setup(L);
  mbl_function_setup(L);
}

static int setup(lua_State *L) {
  host_setup(L);
  mbl_open_libraries(L);
  return 0;
}

static void write_warning(MBLState *S, const char *text) { S->host->output(S->owner, 2, text, strlen(text)); }

// As under Lua's interpreter: off at first, "@on" and "@off" switch.
static void warning(void *state, const char *text, int more) {
  MBLState *S = state;
  if (S->closing) return;
  if (!S->warningContinues && !more && text[0] == '@') {
    if (strcmp(text, "@on") == 0) S->warns = true;
    if (strcmp(text, "@off") == 0) S->warns = false;
    return;
  }
  if (S->warns) {
    if (!S->warningContinues) write_warning(S, "Lua warning: ");
    write_warning(S, text);
    if (!more) write_warning(S, "\n");
  }
  S->warningContinues = more != 0;
}

static void free_all(MBLState *S) {
  for (MBLType *type = S->types; type != NULL;) {
    MBLType *next = type->next;
    S->host->release(type->owner);
    free(type->name);
    free(type);
    type = next;
  }
  mbl_pending_unwind(S, 0);
  if (S->failure != NULL) S->host->release(S->failure);
  for (int32_t i = 0; i < S->ownedCount; i++) {
    if (S->owned[i] != NULL) S->host->release(S->owned[i]);
  }
  for (int i = 0; i < S->garbageCount; i++) S->host->release(S->garbage[i]);
  mbl_control_release(S->control);
  mbl_queue_release(S->queue);
  free(S->pending);
  free(S->garbage);
  free(S->owned);
  free(S->vacant);
  free(S->scratch);
  free(S->scopes);
  free(S->parts);
  mbl_blocks_release(&S->blocks);
  free(S);
}

MBLState *mbl_open(const MBLHost *host, void *owner, MBLPreset preset) {
  MBLState *S = calloc(1, sizeof(MBLState));
  if (S == NULL) return NULL;
  mbl_work_prepare();
  S->host = host;
  S->owner = owner;
  S->preset = preset;
  S->budget = INT64_MAX;
  S->failAfter = -1;
  S->failureReference = LUA_NOREF;
  S->queue = mbl_queue_new();
  S->control = mbl_control_new(S);
  lua_State *L = S->queue != NULL && S->control != NULL ? lua_newstate(mbl_allocate, S) : NULL;
  if (L == NULL) {
    if (S->control != NULL) mbl_control_release(S->control);
    if (S->queue != NULL) mbl_queue_release(S->queue);
    mbl_blocks_release(&S->blocks);
    free(S);
    return NULL;
  }
  S->main = S->running = L;
  *(MBLState **)lua_getextraspace(L) = S;
  lua_setwarnf(L, warning, S);
  lua_gc(L, LUA_GCSTOP);
  lua_pushcfunction(L, setup);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) {
    mbl_close(S);
    return NULL;
  }
  lua_gc(L, LUA_GCRESTART);
  // Scripts that build large tables would collect half of the time otherwise; memory limits collect on their own.
  lua_gc(L, LUA_GCINC, 300, 0, 0);
  // What the libraries take is not the script's: limits count from here.
  S->baseline = S->used;
  S->hostedMark = S->hosted + MBL_LEAST_GROWTH;
  return S;
}

void mbl_close(MBLState *S) {
  S->closing = true;
  S->limits = (MBLLimits){0};
  S->failAfter = -1;
  lua_sethook(S->main, NULL, 0, 0);
  lua_close(S->main);
  free_all(S);
}

void mbl_set_plain_output(MBLState *S, bool isPlain) { S->plainOutput = isPlain; }
void *mbl_owner(MBLState *S) { return S->owner; }
MBLState *mbl_state_of(lua_State *L) { return mbl_of(L); }
lua_State *mbl_thread(MBLState *S) { return S->running; }
MBLQueue *mbl_queue(MBLState *S) { return S->queue; }
MBLControl *mbl_control(MBLState *S) { return S->control; }
const char *mbl_version(void) { return LUA_RELEASE; }

void mbl_collect(MBLState *S) {
  mbl_queue_apply(S);
  lua_gc(S->running, LUA_GCCOLLECT);
  mbl_drain(S);
}

void mbl_step_collector(MBLState *S, int32_t kilobytes) {
  lua_gc(S->running, LUA_GCSTEP, (int)kilobytes);
  mbl_drain(S);
}
