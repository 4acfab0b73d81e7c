---@meta

---A set of objects and their unsaved changes.
---@class moonbase.Context
---@field name string? a name for people, recorded with each save in a history
---@field author string? the author recorded with each save in a history
---@field merge_policy moonbase.MergePolicy|moonbase.MergeFunction|nil default "error"; nil for an app's own function
---@field has_changes boolean
---@field validation_warnings moonbase.Error[] the warnings of rules at the last save
---@field undo_levels integer? the maximum number of undo steps; default nil, without undo
---@field can_undo boolean
---@field can_redo boolean
---@field undo_name string? the name of the step that `undo` would undo, if any
---@field redo_name string? the name of the step that `redo` would redo, if any
---@field parent moonbase.Context? for a child: the context into which the child saves
---@field inserted moonbase.Object[] objects that have never been saved
---@field updated moonbase.Object[] saved objects with unsaved changes
---@field deleted moonbase.Object[] saved objects that are marked for deletion
---@field registered moonbase.Object[] all objects that are referenced or have changes
---@field automatically_merges boolean whether the context merges other contexts' saves; default false
---@field staleness number the seconds for which a cached row is current; default -1: always
---@field metadata table<string, any> the metadata of the context's only store
---@field history_token string? a token for the present end of the stores' histories; nil without a history
local Context = {}

---@param entity string
---@param values? table<string, any>
---@return moonbase.Object
function Context:insert(entity, values) end

---@param ... moonbase.Object|moonbase.Object[]|moonbase.ToMany
function Context:delete(...) end

---A request for objects of an entity; nothing is read until its results are used.
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

---Updates the object whose values of `keys` equal those in `values`, or inserts an object. For a list of tables returns
---a list of objects. `values` has all keys in their stored form (after `normalize`); `moonbase.null` stands for no
---value.
---@param entity string
---@param keys string[]
---@param values table<string, any>
---@return moonbase.Object
---@overload fun(self, entity: string, keys: string[], values: table<string, any>[]): moonbase.Object[]
function Context:upsert(entity, keys, values) end

---@param id moonbase.ObjectID|string
---@return moonbase.Object?
function Context:object(id) end

---Inserts objects without the context, all or none: from a list of tables, or from a function that returns a table per
---call and finally nil. No hooks or rules run, and relationships are not set. For unique values that are taken, the
---context's merge policy applies.
---@param entity string
---@param rows table<string, any>[]|fun(): table<string, any>?
---@return integer? count
---@return moonbase.Error? err
function Context:batch_insert(entity, rows) end

---The changes in stores that keep a history. `where` is a predicate over changes: `changedEntity`, `changeType` (0
---insert, 1 update, 2 delete), `updatedProperties`, `transaction.author` and so on.
---@param options? { after?: string, author?: string, where?: string, limit?: integer }
---@return moonbase.History
function Context:history(options) end

---Deletes a part of the stores' histories: all transactions before a token, all but the last `keep` transactions, or
---all but the last ones with a total of `keep_size` bytes.
---@param options { before?: string, keep?: integer, keep_size?: integer }
---@return integer? count the number of deleted transactions
---@return moonbase.Error? err
function Context:delete_history(options) end

---Writes all changes in one transaction; a failed save changes nothing. `true` with an error: the data is saved, and a
---`did_save` hook failed.
---@return true? ok
---@return moonbase.Error? err
function Context:save() end

---Saves in the background: the rows may still be on their way to the store when the function returns. Reading one of
---the objects, a fetch and a save wait for the rows. An error is returned by the next `save_ahead`, and the objects
---then have their changes again; `save` retries. For imports, every few thousand objects.
---@return true? ok
---@return moonbase.Error? err
function Context:save_ahead() end

---Runs `body` and saves, together with earlier unsaved changes. After an error the file and the context are unchanged.
---A text raised by `body` is returned as a `moonbase.Error`, with the text as its message. A nested transaction saves
---nothing: after an error the changes of its `body` are reverted, and the outer transaction may continue.
---@param body fun(): ...
---@return true? ok
---@return any ... the results of `body`, or the error
function Context:transaction(body) end

---Undoes the last step: a call that made changes, with all that followed from it, or a group.
---@return boolean done false if there was nothing to undo
function Context:undo() end

---Redoes the step that was undone last.
---@return boolean done false if there was nothing to redo
function Context:redo() end

---Runs a function whose changes are one undo step, even if it raises an error.
---@param name string?
---@param body fun(): ...
---@return any ... the results of `body`
---@overload fun(self, body: fun(): ...): ...
function Context:undo_group(name, body) end

---A child context, which reads this context's values, unsaved changes included, and saves into this context. A child
---made by a hook is closed when the hook returns.
---@return moonbase.Context
function Context:child() end

---Closes a child, or a context of `moonbase.open`: discards its unsaved changes and objects. Its children are closed
---first.
function Context:close() end

---Assigns new objects the IDs that they will have in the store.
---@param ... moonbase.Object
---@return moonbase.ObjectID ...
function Context:obtain_permanent_ids(...) end

---Merges the changes saved by another context, as passed to its `did_save` observers.
---@param changes moonbase.Changes
function Context:merge_changes(changes) end

---Lets all objects be read again at their next access; unsaved changes stay.
function Context:refresh_all() end

---Sets metadata of the context's only store, immediately and in a separate save; `moonbase.null` removes an entry.
---@param entries table<string, any>
---@return true? ok
---@return moonbase.Error? err
function Context:set_metadata(entries) end

---Recomputes stored derived attributes of an entity, and saves in batches.
---@param entity string
---@param attribute? string default: all of them
---@return integer? changed the number of changed objects
---@return moonbase.Error? err
---@return integer? done the number of objects saved before the error
function Context:recompute(entity, attribute) end

---Calls a function at an event of the context: before a save (an error of the function fails the save), after a save,
---at the end of each event in which objects changed, or after another context's changes were merged. An error of one of
---the later functions is treated like an error of a `did_save` hook. The context keeps the observation.
---@param event "will_save"|"did_save"|"objects_did_change"|"did_merge"
---@param handler fun(changes: moonbase.Changes)
---@return moonbase.Watch
function Context:on(event, handler) end

---The changes of an event. `did_merge` has IDs instead of objects.
---@class moonbase.Changes
---@field inserted moonbase.Object[]|moonbase.ObjectID[]
---@field updated moonbase.Object[]|moonbase.ObjectID[]
---@field deleted moonbase.Object[]|moonbase.ObjectID[]
---@field refreshed moonbase.Object[] for `objects_did_change`: objects read again, or with discarded changes
---@field is_invalidated boolean whether the context released all of its objects (`reset`)

---An observation.
---@class moonbase.Watch
---@field is_active boolean
local Watch = {}

---Ends the observation: the function is no longer called.
function Watch:cancel() end

---Applies delete rules now instead of at the next save or fetch.
function Context:process_pending_changes() end

---Discards all unsaved changes, deletions included.
function Context:rollback() end

---Releases all objects and discards their changes.
function Context:reset() end

---@param object moonbase.Object|moonbase.Object[]|moonbase.ToMany
---@param merge_changes? boolean whether changes are kept; default true
function Context:refresh(object, merge_changes) end

---How a save resolves a conflict of an object with a newer row: the save fails ("error"); for properties that both
---sides changed, the store's value stays ("store_trump") or the object's is written ("object_trump"); all values of the
---object are written ("overwrite"); the object's changes are discarded ("rollback").
---@alias moonbase.MergePolicy "error"|"store_trump"|"object_trump"|"overwrite"|"rollback"

---Resolves each conflict of a save, without changing objects: returns the name of a policy, or values for properties.
---@alias moonbase.MergeFunction fun(conflict: moonbase.MergeConflict): moonbase.MergePolicy|table<string, any>

---@class moonbase.MergeConflict
---@field object moonbase.Object the object to save
---@field kind "changed"|"deleted"|"destination_is_gone"|"destination_came"|"destination_leaves"|"same_values"
---@field properties? string[] the relationship, or the properties that must be unique
---@field collisions moonbase.Collision[] the properties that another context changed too

---@class moonbase.Collision
---@field property string
---@field original any the value that the context had read
---@field object any the object's value
---@field stored any the store's value

---A part of the stores' histories; nothing is read until its changes are used.
---@class moonbase.History
local History = {}

---Iterates over the changes, the oldest first.
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
---@field properties string[] the properties changed by an update
---@field tombstone table<string, any> the values of a deleted object that the model preserves
---@field transaction integer
---@field date moonbase.Date
---@field author? string
---@field context_name? string
---@field token string a token for the end of the transaction

---A request for objects. Each step returns a new request and leaves this request unchanged.
---@class moonbase.Request
local Request = {}

---Adds a condition; several conditions are combined with AND. Placeholders as in Core Data: `%@ %K %d %f %s`.
---@param format string
---@param ... any
---@return moonbase.Request
function Request:where(format, ...) end

---Sorts by key paths; a leading `-` means descending order.
---@param ... string
---@return moonbase.Request
function Request:sort(...) end

---@param count integer
---@return moonbase.Request
function Request:limit(count) end

---@param count integer
---@return moonbase.Request
function Request:offset(count) end

---@param size integer the number of objects read at a time
---@return moonbase.Request
function Request:batch(size) end

---@param ... string key paths of relationships to prefetch
---@return moonbase.Request
function Request:prefetch(...) end

---Groups by key paths: `dictionaries` returns a row per group, and functions that return objects raise. The columns are
---the key paths, values that follow from them, and functions over the rows of a group; by default the key paths.
---@param ... string
---@return moonbase.Request
function Request:group_by(...) end

---A condition on groups, over columns, the groups' key paths and functions over their rows.
---@param predicate string
---@param ... any values for its placeholders
---@return moonbase.Request
function Request:having(predicate, ...) end

---Whether equal dictionaries are returned once only.
---@param distinct? boolean default true
---@return moonbase.Request
function Request:distinct(distinct) end

---Whether objects of subentities are found too; default true.
---@param included boolean
---@return moonbase.Request
function Request:subentities(included) end

---Whether unsaved changes are taken into account; default true.
---@param included boolean
---@return moonbase.Request
function Request:pending(included) end

---Makes `each` save after every `count` objects and release the visited ones. The rows may still be on their way to the
---store while the next objects are visited: an error is raised by the next save, or at the end of the walk.
---@param count integer
---@return moonbase.Request
function Request:save_every(count) end

---Iterates over the objects that match now, skipping objects deleted meanwhile.
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

---Sets attributes of all matching saved objects in the stores, without the context. A text is an expression over the
---old attributes of the row (`{ age = "age + 1", kind = "'friend'" }`). A function computes the new value from the old
---value, or from the attributes in `inputs` (`{ name = string.upper, n = { inputs = { "a", "b" }, get = math.max } }`).
---All others are constant values. The result of a function must depend on its arguments only. No hooks or rules run;
---objects of the context get the new values.
---@param values table<string, any>
---@return integer? count
---@return moonbase.Error? err
function Request:batch_update(values) end

---Deletes all matching saved objects without the context, by their delete rules; an object with a denied deletion
---stays.
---@return integer? count
---@return moonbase.Error? err
function Request:batch_delete() end

---Returns rows of saved values instead of objects.
---List items of `columns` are key paths, named fields are expressions such as `total = "@sum.age"`.
---@param columns? table<integer|string, string> default: the template's, the groups' key paths, or all
---@return table<string, any>[]
function Request:dictionaries(columns) end

---Recomputes stored derived attributes of the matching objects, and saves in batches.
---@param attribute? string default: all of them
---@return integer? changed the number of changed objects
---@return moonbase.Error? err
---@return integer? done the number of objects saved before the error
function Request:recompute(attribute) end

---The objects as a list that follows the context's changes. The request needs `sort`; `sections` is a key path whose
---values divide the list, and by which the list is sorted first.
---@param options? { sections?: string }
---@return moonbase.Results
function Request:follow(options) end

---A list that follows its context. `#results` and `results[i]` are always current.
---@class moonbase.Results
---@field [integer] moonbase.Object
---@operator len: integer
local Results = {}

---@return moonbase.Object[]
function Results:all() end

---@return { name: string, objects: moonbase.Object[] }[]
function Results:sections() end

---Calls a function after each change of the list. Indices count from 1. Deletions have indices in the old list, and
---insertions have indices in the new list.
---@param handler fun(change: moonbase.ResultsChange)
---@return moonbase.Watch
function Results:on_change(handler) end

---Stops following.
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

---Iterates over the rows of `dictionaries` without keeping them. All rows have the state at the start.
---@param columns? table<integer|string, string>
---@return fun(): table<string, any>?
function Request:rows(columns) end

---Explains the request in lines to print: the store's statement with the steps of its plan, and the conditions left to
---the context with the reasons. Nothing is read. With columns or groups, explains `dictionaries`.
---@param columns? table<integer|string, string>
---@return string
function Request:explain(columns) end
