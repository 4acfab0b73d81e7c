---@meta

---A set of objects and their unsaved changes.
---@class moonbase.Context
---@field name string? a name for people, which the saves bear in a history
---@field author string? who saves, in the history of stores that keep one
---@field merge_policy moonbase.MergePolicy|moonbase.MergeFunction|nil "error" unless set; nil for an app's own function
---@field has_changes boolean
---@field validation_warnings moonbase.Error[] what rules warned of at the last save
---@field undo_levels integer? how many steps can be undone; nil, and undo off, until it is set
---@field can_undo boolean
---@field can_redo boolean
---@field undo_name string? of the step that `undo` would undo, if it has a name
---@field redo_name string?
---@field parent moonbase.Context? of a child the context that it saves into
---@field inserted moonbase.Object[] objects that were never saved
---@field updated moonbase.Object[] saved objects with unsaved changes
---@field deleted moonbase.Object[] saved objects that are marked for deletion
---@field registered moonbase.Object[] all objects that are held or have changes
---@field automatically_merges boolean whether the context takes in by itself what others save; false unless set
---@field staleness number for how many seconds a row that was read is taken for current; -1, for ever, unless set
---@field metadata table<string, any> what the context's one store keeps beside its objects
---@field history_token string? a token behind all that is in the stores' histories by now; nil where none keeps one
local Context = {}

---@param entity string
---@param values? table<string, any>
---@return moonbase.Object
function Context:insert(entity, values) end

---@param ... moonbase.Object|moonbase.Object[]|moonbase.ToMany
function Context:delete(...) end

---A request for objects of an entity; nothing is read until it is asked for its results.
---@param entity string
---@return moonbase.Request
function Context:fetch(entity) end

---A request template of the model with its variables filled in.
---@param name string
---@param variables? table<string, any>
---@return moonbase.Request
function Context:fetch_template(name, variables) end

---The first object whose attributes have these values.
---@param entity string
---@param values table<string, any>
---@return moonbase.Object?
function Context:find(entity, values) end

---Updates the object that agrees with `values` in `keys`, or inserts one. A list of tables gives a list of objects.
---`values` give each of the keys as it is stored (what `normalize` changes, changed); `moonbase.null` means that there
---is none.
---@param entity string
---@param keys string[]
---@param values table<string, any>
---@return moonbase.Object
---@overload fun(self, entity: string, keys: string[], values: table<string, any>[]): moonbase.Object[]
function Context:upsert(entity, keys, values) end

---@param id moonbase.ObjectID|string
---@return moonbase.Object?
function Context:object(id) end

---Inserts objects past the context, all or none: from a list of tables, or from a function that returns one table after
---the other and then nil. No hook runs and no rule is asked; relationships are not set. Where unique values are taken,
---the context's merge policy decides.
---@param entity string
---@param rows table<string, any>[]|fun(): table<string, any>?
---@return integer? count
---@return moonbase.Error? err
function Context:batch_insert(entity, rows) end

---What was changed in stores that keep a history. `where` is a predicate over changes: `changedEntity`, `changeType` (0
---insert, 1 update, 2 delete), `updatedProperties`, `transaction.author` and their like.
---@param options? { after?: string, author?: string, where?: string, limit?: integer }
---@return moonbase.History
function Context:history(options) end

---Deletes a part of the history of stores: what came before a token, all but the last `keep` transactions, all but the
---last ones that have `keep_size` bytes together.
---@param options { before?: string, keep?: integer, keep_size?: integer }
---@return integer? count how many transactions
---@return moonbase.Error? err
function Context:delete_history(options) end

---Writes all changes in one transaction; a failed save changes nothing. `true` with an error: the data is saved, and a
---`did_save` hook failed.
---@return true? ok
---@return moonbase.Error? err
function Context:save() end

---Saves as `save` does, but the rows may still be on their way to the store when it returns: who asks for one of the
---objects, fetches or saves waits for them. What is wrong in writing them the next `save_ahead` says, and the objects
---have their changes then; `save` tries once more. For imports, every few thousand objects.
---@return true? ok
---@return moonbase.Error? err
function Context:save_ahead() end

---Runs `body` and saves, together with earlier unsaved changes. On an error the file and the context are as before. A
---text that `body` raises comes as a `moonbase.Error` too, with the text as its message. Within another transaction it
---saves nothing: on an error the changes of `body` are taken back, and the outer transaction may go on.
---@param body fun(): ...
---@return true? ok
---@return any ... results of `body`, or the error
function Context:transaction(body) end

---Undoes the last step: a call that changed something, with all that followed from it, or a group.
---@return boolean done false where there was nothing to undo
function Context:undo() end

---Does again what was undone last.
---@return boolean done false where nothing was
function Context:redo() end

---Runs a function; all that it changes is one step, also where it raises an error.
---@param name string?
---@param body fun(): ...
---@return any ... results of `body`
---@overload fun(self, body: fun(): ...): ...
function Context:undo_group(name, body) end

---A context that reads what this one has, unsaved changes included, and saves into it. A child that a hook makes is
---closed when the hook returns.
---@return moonbase.Context
function Context:child() end

---Gives up the unsaved changes and the objects of a child, or of a context of `moonbase.open`. Its children are closed
---first.
function Context:close() end

---Gives new objects the IDs that they will have in the store.
---@param ... moonbase.Object
---@return moonbase.ObjectID ...
function Context:obtain_permanent_ids(...) end

---Takes in the changes that another context saved, which its `did_save` observers get.
---@param changes moonbase.Changes
function Context:merge_changes(changes) end

---Reads all objects anew at their next access; unsaved changes stay.
function Context:refresh_all() end

---Sets metadata of the context's one store, at once and in a save of its own; `moonbase.null` takes an entry away.
---@param entries table<string, any>
---@return true? ok
---@return moonbase.Error? err
function Context:set_metadata(entries) end

---Brings stored derived attributes of an entity up to date with what computes them now, and saves as it goes.
---@param entity string
---@param attribute? string all of them unless one is named
---@return integer? changed how many objects
---@return moonbase.Error? err
---@return integer? done how many objects were saved before the error
function Context:recompute(entity, attribute) end

---Calls a function for what happens in the context: before a save (its error fails the save), after one, at the end
---of each event in which objects changed, and after another context's changes were merged. The error
---of a late observer is treated as the error of a `did_save` hook. The context keeps the watch.
---@param event "will_save"|"did_save"|"objects_did_change"|"did_merge"
---@param handler fun(changes: moonbase.Changes)
---@return moonbase.Watch
function Context:on(event, handler) end

---The changes. `did_merge` has IDs in the place of objects.
---@class moonbase.Changes
---@field inserted moonbase.Object[]|moonbase.ObjectID[]
---@field updated moonbase.Object[]|moonbase.ObjectID[]
---@field deleted moonbase.Object[]|moonbase.ObjectID[]
---@field refreshed moonbase.Object[] of `objects_did_change`: read anew, or their changes are gone
---@field is_invalidated boolean whether the context forgot all of its objects (`reset`)

---An observation.
---@class moonbase.Watch
---@field is_active boolean
local Watch = {}

---Ends it: its function is not called any more.
function Watch:cancel() end

---Applies delete rules now, and not only at the next save or fetch.
function Context:process_pending_changes() end

---Forgets all changes and brings back what was deleted.
function Context:rollback() end

---Forgets all objects.
function Context:reset() end

---@param object moonbase.Object|moonbase.Object[]|moonbase.ToMany
---@param merge_changes? boolean whether changes are kept: true unless said otherwise
function Context:refresh(object, merge_changes) end

---What a save does with an object where the store has something else than the context expected: it fails; where both
---changed a property, the store's value stays, or the object's is written; all that the object has is written; the
---object gives up its changes.
---@alias moonbase.MergePolicy "error"|"store_trump"|"object_trump"|"overwrite"|"rollback"

---Decides for each conflict of a save, and only looks: the name of a policy, or values for some properties.
---@alias moonbase.MergeFunction fun(conflict: moonbase.MergeConflict): moonbase.MergePolicy|table<string, any>

---@class moonbase.MergeConflict
---@field object moonbase.Object the object that is saved
---@field kind "changed"|"deleted"|"destination_is_gone"|"destination_came"|"destination_leaves"|"same_values"
---@field properties? string[] the relationship, or those that must be unique
---@field collisions moonbase.Collision[] of an object that another context saved: what both changed

---@class moonbase.Collision
---@field property string
---@field original any what the context had read
---@field object any what the object has
---@field stored any what the store has

---A part of the history of stores; nothing is read until it is asked for its changes.
---@class moonbase.History
local History = {}

---The changes one after the other, the oldest first.
---@return fun(): moonbase.HistoryChange?
function History:each() end

---@return moonbase.HistoryChange[]
function History:all() end

---@return integer
function History:count() end

---@class moonbase.HistoryChange
---@field kind "insert"|"update"|"delete"
---@field entity string
---@field id moonbase.ObjectID
---@field properties string[] what an update changed
---@field tombstone table<string, any> of a deleted object what the model preserves
---@field transaction integer
---@field date moonbase.Date
---@field author? string
---@field context_name? string
---@field token string a token behind the transaction

---A request for objects. Each step returns a new request and leaves this one as it is.
---@class moonbase.Request
local Request = {}

---Narrows the request; a second `where` means AND. Placeholders as in Core Data: `%@ %K %d %f %s`.
---@param format string
---@param ... any
---@return moonbase.Request
function Request:where(format, ...) end

---Orders by key paths; one that begins with `-` descends.
---@param ... string
---@return moonbase.Request
function Request:sort(...) end

---@param count integer
---@return moonbase.Request
function Request:limit(count) end

---@param count integer
---@return moonbase.Request
function Request:offset(count) end

---@param size integer how many objects are read at a time
---@return moonbase.Request
function Request:batch(size) end

---@param ... string key paths of relationships to read along
---@return moonbase.Request
function Request:prefetch(...) end

---Makes groups by key paths: `dictionaries` gives a row of each, and what gives objects is an error. Its columns are
---such key paths, what follows from them, and functions over the rows of a group; without columns it gives the keys.
---@param ... string
---@return moonbase.Request
function Request:group_by(...) end

---A condition on groups: columns, keys of the groups and functions over their rows may stand in it.
---@param predicate string
---@param ... any values for its placeholders
---@return moonbase.Request
function Request:having(predicate, ...) end

---Equal dictionaries are given once.
---@param distinct? boolean true unless said otherwise
---@return moonbase.Request
function Request:distinct(distinct) end

---Whether objects of subentities are found too: true unless said otherwise.
---@param included boolean
---@return moonbase.Request
function Request:subentities(included) end

---Whether unsaved changes count: true unless said otherwise.
---@param included boolean
---@return moonbase.Request
function Request:pending(included) end

---While `each` walks: saves after every `count` objects and lets go of those visited. The rows may still be on their
---way to the store while the next objects are visited: what is wrong with them the next save says, or the walk's end.
---@param count integer
---@return moonbase.Request
function Request:save_every(count) end

---Iterates over the objects that match now, skipping those deleted on the way.
---@return fun(): moonbase.Object?
function Request:each() end

---@return moonbase.Object[]
function Request:all() end

---@return moonbase.Object?
function Request:first() end

---@return moonbase.ObjectID[]
function Request:ids() end

---@return integer
function Request:count() end

---Sets attributes of all saved objects that match, past the context: a text is an expression over the attributes of the
---row as it was (`{ age = "age + 1", kind = "'friend'" }`), a function computes the new value from the old one, or
---from the attributes in `inputs` (`{ name = string.upper, n = { inputs = { "a", "b" }, get = math.max } }`), anything
---else is a value. A function must look at its arguments alone. No hook runs and no rule is asked; objects of the
---context take the new values in.
---@param values table<string, any>
---@return integer? count
---@return moonbase.Error? err
function Request:batch_update(values) end

---Deletes all saved objects that match, past the context, with their delete rules; what a rule denies to go stays.
---@return integer? count
---@return moonbase.Error? err
function Request:batch_delete() end

---Rows of values instead of objects, as they are saved.
---List items name key paths, keys name aggregates such as `total = "@sum.age"`.
---@param columns? table<integer|string, string> those of the fetch template, the keys of groups, or all attributes
---@return table<string, any>[]
function Request:dictionaries(columns) end

---Brings stored derived attributes of the objects that match up to date, and saves as it goes.
---@param attribute? string all of them unless one is named
---@return integer? changed how many objects
---@return moonbase.Error? err
---@return integer? done how many objects were saved before the error
function Request:recompute(attribute) end

---The objects as a list that follows the context's changes. The request needs `sort`; `sections` names a key path whose
---values divide the list, and by which it is sorted first.
---@param options? { sections?: string }
---@return moonbase.Results
function Request:follow(options) end

---A list that follows its context. `#results` and `results[i]` are those of now.
---@class moonbase.Results
---@field [integer] moonbase.Object
---@operator len: integer
local Results = {}

---@return moonbase.Object[]
function Results:all() end

---@return { name: string, objects: moonbase.Object[] }[]
function Results:sections() end

---Calls a function after each change of the list. Places count from 1. Deletions name places in the old list, and
---insertions name places in the new one.
---@param handler fun(change: moonbase.ResultsChange)
---@return moonbase.Watch
function Results:on_change(handler) end

---Follows no more.
function Results:cancel() end

---@class moonbase.ResultsChange
---@field deleted_sections integer[] numbers in the old list
---@field inserted_sections integer[] numbers in the new list
---@field deleted moonbase.ResultsStep[]
---@field inserted moonbase.ResultsStep[]
---@field moved moonbase.ResultsStep[]
---@field updated moonbase.ResultsStep[]

---@class moonbase.ResultsStep
---@field id moonbase.ObjectID
---@field from_section? integer in the old list
---@field from_index? integer
---@field to_section? integer in the new list
---@field to_index? integer

---Reads the same rows one after the other, and keeps no earlier row. All rows are of the state at the start.
---@param columns? table<integer|string, string>
---@return fun(): table<string, any>?
function Request:rows(columns) end

---How the request is answered, in lines to print: the statement that the store runs with the steps of its plan, what
---stays with the context and why. Nothing is read. With columns, or of groups, as `dictionaries` is answered.
---@param columns? table<integer|string, string>
---@return string
function Request:explain(columns) end
