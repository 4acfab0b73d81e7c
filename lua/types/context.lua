---@meta

---A set of objects and their unsaved changes.
---```lua
---context.author, context.name = "import", "spring"
---context.merge_policy = "object_trump"
---context.automatically_merges, context.staleness = true, 5
---context.undo_levels = 10
---ann.age = 32
---context:insert("Person", { name = "Carla" })
---context:delete(ben)
---print(context.has_changes, #context.inserted, #context.updated, #context.deleted)  --> true 1 2 1
---print(context.can_undo, context.can_redo, context.undo_name, context.redo_name)  --> true false nil nil
---assert(context:save())
---print(#context.registered > 2, #context.validation_warnings, context:child().parent == context)  --> true 0 true
---print(type(context.metadata), type(context.history_token))  --> table string
---```
---@class moonbase.Context
---@field name string? a name for people, which the saves bear in a history
---@field author string? the author of its saves, in the history of stores that keep one
---@field merge_policy moonbase.MergePolicy|moonbase.MergeFunction|nil "error" unless set; nil for an app's own function
---@field has_changes boolean whether a save would write something
---@field validation_warnings moonbase.Error[] what rules warned of at the last save
---@field undo_levels integer? how many steps can be undone; nil, and undo off, until it is set
---@field can_undo boolean whether there is a step to undo
---@field can_redo boolean whether there is a step to do again
---@field undo_name string? of the step that `undo` would undo, if it has a name
---@field redo_name string? of the step that `redo` would do again
---@field parent moonbase.Context? of a child the context that it saves into
---@field inserted moonbase.Object[] objects that were never saved
---@field updated moonbase.Object[] saved objects with unsaved changes
---@field deleted moonbase.Object[] saved objects that are marked for deletion
---@field registered moonbase.Object[] all objects that are referenced or have changes
---@field automatically_merges boolean whether the context merges other contexts' saves; default false
---@field staleness number the seconds for which a cached row is current; default -1: always
---@field metadata table<string, any> the metadata of the context's only store
---@field history_token string? a token for the present end of the stores' histories; nil without a history
local Context = {}

---A new object with some values. A save writes it.
---```lua
---local carla = context:insert("Person", { name = "Carla", age = 40 })
---print(carla.name, carla.age)  --> Carla 40
---```
---@param entity string
---@param values? table<string, any>
---@return moonbase.Object
function Context:insert(entity, values) end

---Marks objects for deletion, which the next save does.
---```lua
---context:delete(ann, ben)
---print(#context.deleted)  --> 2
---```
---@param ... moonbase.Object|moonbase.Object[]|moonbase.ToMany
function Context:delete(...) end

---A request for objects of an entity; nothing is read until it is asked for its results.
---```lua
---print(context:fetch("Person"):where("age > %d", 30):count())  --> 1
---```
---@param entity string
---@return moonbase.Request
function Context:fetch(entity) end

---A request template of the model with its variables filled in.
---```lua
---print(context:fetch_template("older_than", { AGE = 30 }):first().name)  --> Ann
---```
---@param name string
---@param variables? table<string, any>
---@return moonbase.Request
function Context:fetch_template(name, variables) end

---The first object whose attributes have these values.
---```lua
---print(context:find("Person", { name = "Ann" }).age)  --> 31
---```
---@param entity string
---@param values table<string, any>
---@return moonbase.Object?
function Context:find(entity, values) end

---Updates the object that agrees with `values` in `keys`, or inserts one. A list of tables gives a list of objects.
---`values` give each of the keys as it is stored (what `normalize` changes, changed); `moonbase.null` means that there
---is none.
---```lua
---local person = context:upsert("Person", { "email" }, { email = "ann@example.org", age = 32 })
---print(person == ann, ann.age)  --> true 32
---```
---@param entity string
---@param keys string[]
---@param values table<string, any>
---@return moonbase.Object
---@overload fun(self, entity: string, keys: string[], values: table<string, any>[]): moonbase.Object[]
function Context:upsert(entity, keys, values) end

---The object of an ID, or of the text of one; nil for a row that is not there.
---```lua
---print(context:object(tostring(ann:id())) == ann)  --> true
---```
---@param id moonbase.ObjectID|string
---@return moonbase.Object?
function Context:object(id) end

---Inserts objects past the context, all or none: from a list of tables, or from a function that returns one table after
---the other and then nil. No hook runs and no rule is asked; relationships are not set. Where unique values are taken,
---the context's merge policy decides.
---```lua
---print(context:batch_insert("Task", { { title = "paint" }, { title = "sand" } }))  --> 2
---```
---@param entity string
---@param rows table<string, any>[]|fun(): table<string, any>?
---@return integer? count
---@return moonbase.Error? err
function Context:batch_insert(entity, rows) end

---The changes of stores that keep a history. `where` is a predicate over changes: `changedEntity`, `changeType` (0
---insert, 1 update, 2 delete), `updatedProperties`, `transaction.author` and their like.
---```lua
---local token = context.history_token
---ann.age = 32
---assert(context:save())
---for change in context:history { after = token }:each() do
---  print(change.kind, change.entity, change.properties[1])  --> update Person age
---end
---```
---@param options? { after?: string, author?: string, where?: string, limit?: integer }
---@return moonbase.History
function Context:history(options) end

---Deletes a part of the history of stores: all before a token, all but the last `keep` transactions, all but the
---last ones that have `keep_size` bytes together.
---```lua
---context:delete_history { keep = 100 }
---```
---@param options { before?: string, keep?: integer, keep_size?: integer }
---@return integer? count the number of deleted transactions
---@return moonbase.Error? err
function Context:delete_history(options) end

---Writes all changes in one transaction; a failed save changes nothing. `true` with an error: the data is saved, and a
---`did_save` hook failed.
---```lua
---ann.age = 200
---local saved, err = context:save()
---print(saved, err)  --> nil Person.age (200) must be at most 150
---```
---@return true? ok
---@return moonbase.Error? err
function Context:save() end

---Saves as `save` does, but the rows may still be on their way to the store when it returns: a call that reads one of
---the objects, fetches or saves waits for them. A failure in writing them comes from the next `save_ahead`, and the
---objects have their changes then; `save` tries once more. For imports, every few thousand objects.
---```lua
---for number = 1, 3 do context:insert("Task", { title = "task " .. number }) end
---assert(context:save_ahead())
---```
---@return true? ok
---@return moonbase.Error? err
function Context:save_ahead() end

---Runs `body` and saves, together with earlier unsaved changes. On an error the file and the context are as before. A
---text that `body` raises comes as a `moonbase.Error` too, with the text as its message. Within another transaction it
---saves nothing: on an error the changes of `body` are taken back, and the outer transaction may go on.
---```lua
---print(context:transaction(function()
---  ann.age = 40
---  return ann.name
---end))  --> true Ann
---```
---@param body fun(): ...
---@return true? ok
---@return any ... the results of `body`, or the error
function Context:transaction(body) end

---Undoes the last step: a call that changed something, with all that followed from it, or a group.
---```lua
---context.undo_levels = 10
---ann.age = 40
---context:undo()
---print(ann.age)  --> 31
---```
---@return boolean done false where there was nothing to undo
function Context:undo() end

---Does again what was undone last.
---```lua
---context.undo_levels = 10
---ann.age = 40
---context:undo()
---context:redo()
---print(ann.age)  --> 40
---```
---@return boolean done false where nothing was
function Context:redo() end

---Runs a function; all that it changes is one step, also where it raises an error.
---```lua
---context.undo_levels = 10
---context:undo_group("birthday", function()
---  ann.age = 40
---  ben.age = 40
---end)
---print(context.undo_name)  --> birthday
---context:undo()
---print(ann.age, ben.age)  --> 31 28
---```
---@param name string?
---@param body fun(): ...
---@return any ... the results of `body`
---@overload fun(self, body: fun(): ...): ...
function Context:undo_group(name, body) end

---A context that reads what this one has, unsaved changes included, and saves into it. A child that a hook makes is
---closed when the hook returns.
---```lua
---local draft = context:child()
---draft:object(ann:id()).age = 40
---print(ann.age)  --> 31
---assert(draft:save())
---print(ann.age)  --> 40
---```
---@return moonbase.Context
function Context:child() end

---Closes a child, or a context of `moonbase.open`: discards its unsaved changes and objects. Its children are closed
---first.
---```lua
---local draft = context:child()
---draft:object(ann:id()).age = 40
---draft:close()
---print(ann.age)  --> 31
---```
function Context:close() end

---Gives new objects the IDs that they will have in the store.
---```lua
---local carla = context:insert("Person", { name = "Carla" })
---context:obtain_permanent_ids(carla)
---print(carla:id().is_temporary)  --> false
---```
---@param ... moonbase.Object
---@return moonbase.ObjectID ...
function Context:obtain_permanent_ids(...) end

---Takes in the changes that another context saved, which its `did_save` observers get.
---```lua
---local other = moonbase.open { store = "people.sqlite" }.context
---other:on("did_save", function(changes) context:merge_changes(changes) end)
---other:find("Person", { name = "Ann" }).age = 40
---assert(other:save())
---print(ann.age)  --> 40
---```
---@param changes moonbase.Changes
function Context:merge_changes(changes) end

---Reads all objects anew at their next access; unsaved changes stay.
---```lua
---context:refresh_all()
---print(ann:is_fault())  --> true
---```
function Context:refresh_all() end

---Sets metadata of the context's one store, at once and in a save of its own; `moonbase.null` takes an entry away.
---```lua
---assert(context:set_metadata { release = "1.4" })
---print(context.metadata.release)  --> 1.4
---```
---@param entries table<string, any>
---@return true? ok
---@return moonbase.Error? err
function Context:set_metadata(entries) end

---Brings stored derived attributes of an entity up to date with what computes them now, and saves as it goes.
---```lua
---local context = moonbase.open { model = "model.lua", extensions = { "rules.lua" } }.context
---context:insert("Person", { name = "Carla" })
---assert(context:save())
---print(context:recompute("Person"))  --> 0
---```
---@param entity string
---@param attribute? string default: all of them
---@return integer? changed the number of changed objects
---@return moonbase.Error? err
---@return integer? done the number of objects saved before the error
function Context:recompute(entity, attribute) end

---Calls a function for what happens in the context: before a save (its error fails the save), after one, at the end
---of each event in which objects changed, and after another context's changes were merged. The error
---of a late observer is treated as the error of a `did_save` hook. The context keeps the watch.
---```lua
---context:on("did_save", function(changes) print(#changes.updated .. " updated") end)
---ann.age = 32
---assert(context:save())  --> 1 updated
---```
---@param event "will_save"|"did_save"|"objects_did_change"|"did_merge"
---@param handler fun(changes: moonbase.Changes)
---@return moonbase.Watch
function Context:on(event, handler) end

---The changes. `did_merge` has IDs in the place of objects.
---```lua
---context:on("objects_did_change", function(changes)
---  print(#changes.inserted, #changes.updated, #changes.deleted, #changes.refreshed, changes.is_invalidated)
---end)
---ann.age = 32
---context:process_pending_changes()  --> 0 1 0 0 false
---```
---@class moonbase.Changes
---@field inserted moonbase.Object[]|moonbase.ObjectID[] new ones
---@field updated moonbase.Object[]|moonbase.ObjectID[] with other values
---@field deleted moonbase.Object[]|moonbase.ObjectID[] those that go or went
---@field refreshed moonbase.Object[] of `objects_did_change`: read anew, or their changes are gone
---@field is_invalidated boolean whether the context forgot all of its objects (`reset`)

---An observation.
---```lua
---local watch = context:on("did_save", function() end)
---print(watch.is_active)  --> true
---```
---@class moonbase.Watch
---@field is_active boolean whether the function is still called
local Watch = {}

---Ends it: its function is not called any more.
---```lua
---local watch = context:on("did_save", function() print("saved") end)
---watch:cancel()
---assert(context:save())
---print(watch.is_active)  --> false
---```
function Watch:cancel() end

---Applies delete rules now, and not only at the next save or fetch.
---```lua
---context:delete(tools)
---context:process_pending_changes()
---print(ann.department)  --> nil
---```
function Context:process_pending_changes() end

---Forgets all changes and brings back what was deleted.
---```lua
---ann.age = 40
---context:rollback()
---print(ann.age)  --> 31
---```
function Context:rollback() end

---Forgets all objects.
---```lua
---context:reset()
---print(#context.registered)  --> 0
---```
function Context:reset() end

---Reads objects anew at their next access.
---```lua
---ann.age = 40
---context:refresh(ann, false)
---print(ann.age)  --> 31
---```
---@param object moonbase.Object|moonbase.Object[]|moonbase.ToMany
---@param merge_changes? boolean whether changes are kept; default true
function Context:refresh(object, merge_changes) end

---The effect of a save on an object whose row in the store is another one than the context expected: it fails; where
---both changed a property, the store's value stays, or the object's is written; all values of the object are written;
---the object gives up its changes.
---@alias moonbase.MergePolicy "error"|"store_trump"|"object_trump"|"overwrite"|"rollback"

---Resolves each conflict of a save, without changing objects: returns the name of a policy, or values for properties.
---@alias moonbase.MergeFunction fun(conflict: moonbase.MergeConflict): moonbase.MergePolicy|table<string, any>

---```lua
---local other = moonbase.open { store = "people.sqlite" }.context
---other:find("Person", { name = "Ann" }).age = 33
---assert(other:save())
---context.merge_policy = function(conflict)
---  local both = conflict.collisions[1]
---  print(conflict.object.name, conflict.kind, conflict.properties)
---  print(both.property, both.original, both.object, both.stored)
---  return { age = math.max(both.object, both.stored) }
---end
---ann.age = 32
---assert(context:save())  --> Ann changed nil
-----> age 31 32 33
---print(ann.age)  --> 33
---```
---@class moonbase.MergeConflict
---@field object moonbase.Object the object to save
---@field kind "changed"|"deleted"|"destination_is_gone"|"destination_came"|"destination_leaves"|"same_values"
---@field properties? string[] the relationship, or those that must be unique
---@field collisions moonbase.Collision[] the values that this context and another one changed

---@class moonbase.Collision
---@field property string the name
---@field original any what the context had read
---@field object any what the object has
---@field stored any what the store has

---A part of the stores' histories; nothing is read until its changes are used.
---@class moonbase.History
local History = {}

---The changes one after the other, the oldest first.
---```lua
---for change in context:history({ limit = 1 }):each() do
---  print(change.kind, change.id.entity == change.entity, change.author)  --> insert true nil
---end
---```
---@return fun(): moonbase.HistoryChange?
function History:each() end

---The changes as a list.
---```lua
---print(#context:history({ limit = 2 }):all())  --> 2
---```
---@return moonbase.HistoryChange[]
function History:all() end

---How many changes there are.
---```lua
---print(context:history({ limit = 2 }):count())  --> 2
---```
---@return integer
function History:count() end

---```lua
---local token = context.history_token
---context.author, context.name = "import", "spring"
---ann.age = 32
---assert(context:save())
---for change in context:history { after = token }:each() do
---  print(change.kind, change.entity, change.id == ann:id(), change.properties[1])  --> update Person true age
---  print(change.author, change.context_name, change.date > moonbase.date("2026-01-01"))  --> import spring true
---  print(change.transaction > 0, change.token == context.history_token, change.tombstone.name)  --> true true nil
---end
---```
---@class moonbase.HistoryChange
---@field kind "insert"|"update"|"delete" what was done
---@field entity string of the object
---@field id moonbase.ObjectID of the object
---@field properties string[] what an update changed
---@field tombstone table<string, any> of a deleted object what the model preserves
---@field transaction integer the number of the save
---@field date moonbase.Date of the save
---@field author? string `context.author` of the save
---@field context_name? string `context.name` of the save
---@field token string a token behind the transaction
