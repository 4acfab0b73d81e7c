---@meta

---A request for objects. Each step returns a new request and leaves this request unchanged.
---@class moonbase.Request
local Request = {}

---Narrows the request; a second `where` means AND. Placeholders as in Core Data: `%@ %K %d %f %s`.
---```lua
---local request = context:fetch("Person"):where("age > %d", 20):where("name BEGINSWITH[c] %@", "a")
---print(request:first().name)  --> Ann
---```
---@param format string
---@param ... any
---@return moonbase.Request
function Request:where(format, ...) end

---Orders by key paths; a path that begins with `-` descends.
---```lua
---local people = context:fetch("Person"):sort("department.name", "-age"):all()
---print(people[1].name, people[2].name)  --> Ann Ben
---```
---@param ... string
---@return moonbase.Request
function Request:sort(...) end

---At most so many results.
---```lua
---print(#context:fetch("Person"):limit(1):all())  --> 1
---```
---@param count integer
---@return moonbase.Request
function Request:limit(count) end

---Passes over so many results.
---```lua
---print(context:fetch("Person"):sort("name"):offset(1):first().name)  --> Ben
---```
---@param count integer
---@return moonbase.Request
function Request:offset(count) end

---Reads the rows in batches, where the results are many.
---```lua
---for person in context:fetch("Person"):batch(100):each() do person.age = person.age + 1 end
---```
---@param size integer how many objects are read at a time
---@return moonbase.Request
function Request:batch(size) end

---Reads the destinations of relationships along with the objects, in one statement for each relationship.
---```lua
---for person in context:fetch("Person"):prefetch("department"):sort("name"):limit(1):each() do
---  print(person.department.name)  --> Tools
---end
---```
---@param ... string key paths of relationships to read along
---@return moonbase.Request
function Request:prefetch(...) end

---Makes groups by key paths: `dictionaries` gives a row of each, and what gives objects is an error. Its columns are
---such key paths, what follows from them, and functions over the rows of a group; without columns it gives the keys.
---```lua
---local rows = context:fetch("Person"):group_by("department.name")
---  :dictionaries { "department.name", people = "@count" }
---print(rows[1]["department.name"], rows[1].people)  --> Tools 2
---```
---@param ... string
---@return moonbase.Request
function Request:group_by(...) end

---A condition on groups: columns, keys of the groups and functions over their rows may stand in it.
---```lua
---local rows = context:fetch("Person"):group_by("department.name"):having("people > %d", 5)
---  :dictionaries { "department.name", people = "@count" }
---print(#rows)  --> 0
---```
---@param predicate string
---@param ... any values for its placeholders
---@return moonbase.Request
function Request:having(predicate, ...) end

---Equal dictionaries are given once.
---```lua
---print(#context:fetch("Person"):distinct():dictionaries { "department.name" })  --> 1
---```
---@param distinct? boolean true unless said otherwise
---@return moonbase.Request
function Request:distinct(distinct) end

---Whether objects of subentities are found too: true unless said otherwise.
---```lua
---print(context:fetch("Person"):subentities(false):count())  --> 2
---```
---@param included boolean
---@return moonbase.Request
function Request:subentities(included) end

---Whether unsaved changes count: true unless said otherwise.
---```lua
---context:insert("Person", { name = "Carla" })
---print(context:fetch("Person"):count(), context:fetch("Person"):pending(false):count())  --> 3 2
---```
---@param included boolean
---@return moonbase.Request
function Request:pending(included) end

---While `each` walks: saves after every `count` objects and lets go of those visited. The rows may still be on their
---way to the store while the next objects are visited: a failure in writing comes from the next save, or at the end.
---```lua
---for person in context:fetch("Person"):save_every(1000):each() do person.age = person.age + 1 end
---```
---@param count integer
---@return moonbase.Request
function Request:save_every(count) end

---Iterates over the objects that match now, skipping those deleted on the way.
---```lua
---for person in context:fetch("Person"):sort("-name"):each() do
---  print(person.name)  --> Ben
---  break
---end
---```
---@return fun(): moonbase.Object?
function Request:each() end

---The objects as a list.
---```lua
---print(#context:fetch("Person"):all())  --> 2
---```
---@return moonbase.Object[]
function Request:all() end

---The first object; nil where there is none.
---```lua
---print(context:fetch("Person"):where("age > 99"):first())  --> nil
---```
---@return moonbase.Object?
function Request:first() end

---The IDs of the objects, which are not read.
---```lua
---print(#context:fetch("Person"):ids())  --> 2
---```
---@return moonbase.ObjectID[]
function Request:ids() end

---How many objects match.
---```lua
---print(context:fetch("Person"):where("ANY friends.name = 'Ben'"):count())  --> 1
---```
---@return integer
function Request:count() end

---Sets attributes of all saved objects that match, past the context. A text is an expression over the attributes of
---the row as it was: `{ age = "age + 1", kind = "'friend'" }`. A function computes the new value from the old value,
---or from the attributes in `inputs`: `{ name = string.upper, n = { inputs = { "a", "b" }, get = math.max } }`.
---Anything else is a value. A function must look at its arguments alone. No hook runs and no rule is asked. Objects of
---the context take the new values in.
---```lua
---print(context:fetch("Person"):where("age > 30"):batch_update { age = "age + 1" })  --> 1
---print(ann.age)  --> 32
---```
---@param values table<string, any>
---@return integer? count
---@return moonbase.Error? err
function Request:batch_update(values) end

---Deletes all saved objects that match, past the context, with their delete rules. Objects that a rule denies to delete
---stay.
---```lua
---print(context:fetch("Task"):batch_delete())  --> 2
---```
---@return integer? count
---@return moonbase.Error? err
function Request:batch_delete() end

---Rows of values instead of objects, as they are saved.
---List items name key paths, keys name aggregates such as `total = "@sum.age"`.
---```lua
---local rows = context:fetch("Person"):sort("name"):dictionaries { "name", friends = "friends.@count" }
---print(rows[1].name, rows[1].friends)  --> Ann 1
---```
---@param columns? table<integer|string, string> those of the fetch template, the keys of groups, or all attributes
---@return table<string, any>[]
function Request:dictionaries(columns) end

---Brings stored derived attributes of the objects that match up to date, and saves as it goes.
---```lua
---local context = moonbase.open { model = "model.lua", extensions = { "rules.lua" } }.context
---print(context:fetch("Person"):where("age > 30"):recompute("label"))  --> 0
---```
---@param attribute? string all of them unless one is named
---@return integer? changed how many objects
---@return moonbase.Error? err
---@return integer? done the number of objects saved before the error
function Request:recompute(attribute) end

---The objects as a list that follows the context's changes. The request needs `sort`; `sections` names a key path whose
---values divide the list, and by which it is sorted first.
---```lua
---local people = context:fetch("Person"):sort("name"):follow()
---context:insert("Person", { name = "Carla" })
---context:process_pending_changes()
---print(#people, people[3].name)  --> 3 Carla
---```
---@param options? { sections?: string }
---@return moonbase.Results
function Request:follow(options) end

---A list that follows its context. `#results` and `results[i]` are always current.
---@class moonbase.Results
---@field [integer] moonbase.Object the object at a place
---@operator len: integer
local Results = {}

---The objects of now as a list.
---```lua
---local people = context:fetch("Person"):sort("name"):follow()
---print(people:all()[1].name)  --> Ann
---```
---@return moonbase.Object[]
function Results:all() end

---The list divided by the key path of `follow`.
---```lua
---local people = context:fetch("Person"):sort("name"):follow { sections = "department.name" }
---local section = people:sections()[1]
---print(section.name, #section.objects)  --> Tools 2
---```
---@return { name: string, objects: moonbase.Object[] }[]
function Results:sections() end

---Calls a function after each change of the list. Places count from 1. Deletions name places in the old list, and
---insertions name places in the new one.
---```lua
---local people = context:fetch("Person"):sort("name"):follow()
---people:on_change(function(change)
---  for _, step in ipairs(change.deleted) do print("from place " .. step.from_index) end
---end)
---context:delete(ben)
---context:process_pending_changes()  --> from place 2
---```
---@param handler fun(change: moonbase.ResultsChange)
---@return moonbase.Watch
function Results:on_change(handler) end

---Follows no more.
---```lua
---local people = context:fetch("Person"):sort("name"):follow()
---people:cancel()
---```
function Results:cancel() end

---```lua
---local people = context:fetch("Person"):sort("name"):follow()
---people:on_change(function(change)
---  print(#change.inserted, #change.deleted, #change.moved, #change.updated)
---  print(#change.inserted_sections, #change.deleted_sections)
---end)
---context:insert("Person", { name = "Carla" })  --> 1 0 0 0
-----> 0 0
---```
---@class moonbase.ResultsChange
---@field deleted_sections integer[] numbers in the old list
---@field inserted_sections integer[] numbers in the new list
---@field deleted moonbase.ResultsStep[] objects that left the list
---@field inserted moonbase.ResultsStep[] objects that came
---@field moved moonbase.ResultsStep[] objects that have another place
---@field updated moonbase.ResultsStep[] objects with other values in their place

---```lua
---local people = context:fetch("Person"):sort("name"):follow()
---people:on_change(function(change)
---  for _, step in ipairs(change.moved) do
---    print(step.id == ann:id(), step.from_section, step.from_index, step.to_section, step.to_index)
---  end
---end)
---ann.name = "Zoe"
---context:process_pending_changes()  --> true 1 1 1 2
---```
---@class moonbase.ResultsStep
---@field id moonbase.ObjectID of the object
---@field from_section? integer in the old list
---@field from_index? integer the place in the old list
---@field to_section? integer in the new list
---@field to_index? integer the place in the new list

---Reads the same rows one after the other, and keeps no earlier row. All rows are of the state at the start.
---```lua
---for row in context:fetch("Person"):sort("name"):limit(1):rows { "name", "age" } do
---  print(row.name, row.age)  --> Ann 31
---end
---```
---@param columns? table<integer|string, string>
---@return fun(): table<string, any>?
function Request:rows(columns) end

---How the request is answered, in lines to print: the statement that the store runs with the steps of its plan, what
---stays with the context and why. Nothing is read. With columns, or of groups, as `dictionaries` is answered.
---```lua
---print(context:fetch("Person"):where("name = 'Ann'"):explain():find("ZPERSON") ~= nil)  --> true
---```
---@param columns? table<integer|string, string>
---@return string
function Request:explain(columns) end
