#include <dlfcn.h>
#include <histedit.h>
#include <stdbool.h>
#include <stdio.h>

// The functions of libedit, which is loaded when it is asked for. The arguments of some vary, which Swift cannot call:
// below each of their uses has a door.
typedef struct MoonbaseEdit {
  EditLine *line;
  History *lines;
  __typeof__(el_init) *init;
  __typeof__(el_end) *end;
  __typeof__(el_gets) *gets;
  __typeof__(el_set) *set;
  __typeof__(el_source) *source;
  __typeof__(el_resize) *resize;
  __typeof__(el_line) *content;
  __typeof__(el_insertstr) *insert;
  __typeof__(el_deletestr) *remove;
  __typeof__(history_init) *history_init;
  __typeof__(history) *history;
} MoonbaseEdit;

#define MOONBASE_EDIT_FIND(field, name) ((edit->field = (__typeof__(edit->field))dlsym(library, name)) != NULL)

/// Loads the library; false where it is not there.
static inline bool moonbase_edit_load(MoonbaseEdit *edit) {
#ifdef __APPLE__
  void *library = dlopen("libedit.3.dylib", RTLD_NOW);
#else
  void *library = dlopen("libedit.so.2", RTLD_NOW);
  if (library == NULL) library = dlopen("libedit.so.0", RTLD_NOW);
#endif
  return library != NULL && MOONBASE_EDIT_FIND(init, "el_init") && MOONBASE_EDIT_FIND(end, "el_end") &&
         MOONBASE_EDIT_FIND(gets, "el_gets") && MOONBASE_EDIT_FIND(set, "el_set") &&
         MOONBASE_EDIT_FIND(source, "el_source") && MOONBASE_EDIT_FIND(resize, "el_resize") &&
         MOONBASE_EDIT_FIND(content, "el_line") && MOONBASE_EDIT_FIND(insert, "el_insertstr") &&
         MOONBASE_EDIT_FIND(remove, "el_deletestr") && MOONBASE_EDIT_FIND(history_init, "history_init") &&
         MOONBASE_EDIT_FIND(history, "history");
}

typedef char *(*MoonbaseEditPrompt)(EditLine *);
typedef int (*MoonbaseEditReader)(EditLine *, wchar_t *);
typedef unsigned char (*MoonbaseEditKey)(EditLine *, int);

/// Begins to edit lines, with a history of so many; false where the terminal cannot be used.
static inline bool moonbase_edit_begin(MoonbaseEdit *edit, int lines, MoonbaseEditPrompt prompt,
                                       MoonbaseEditReader reader) {
  HistEvent event;
  edit->line = edit->init("moonbase", stdin, stdout, stderr);
  edit->lines = edit->history_init();
  if (edit->line == NULL || edit->lines == NULL) return false;
  edit->history(edit->lines, &event, H_SETSIZE, lines);
  edit->history(edit->lines, &event, H_SETUNIQUE, 1);
  edit->set(edit->line, EL_PROMPT, prompt);
  edit->set(edit->line, EL_EDITOR, "emacs");
  edit->set(edit->line, EL_HIST, edit->history, edit->lines);
  edit->set(edit->line, EL_SIGNAL, 0);
  edit->set(edit->line, EL_GETCFN, reader);
  return true;
}

static inline void moonbase_edit_bind(MoonbaseEdit *edit, const char *key, const char *command) {
  edit->set(edit->line, EL_BIND, key, command, NULL);
}

static inline void moonbase_edit_add(MoonbaseEdit *edit, const char *name, const char *help, MoonbaseEditKey key) {
  edit->set(edit->line, EL_ADDFN, name, help, key);
}

static inline void moonbase_edit_remember(MoonbaseEdit *edit, const char *text) {
  HistEvent event;
  edit->history(edit->lines, &event, H_ENTER, text);
}

/// Gives the terminal the settings of editing, or those that it had.
static inline void moonbase_edit_prepare(MoonbaseEdit *edit, bool edits) {
  edit->set(edit->line, EL_PREP_TERM, edits ? 1 : 0);
}

static inline void moonbase_edit_refresh(MoonbaseEdit *edit) { edit->set(edit->line, EL_REFRESH, NULL); }
