---@meta

---An object of a context. Its properties are those of its entity; where one has a method's name, the property wins and
---the method is `moonbase.object.NAME(object, ...)`.
---```lua
---ann.age = 32
---print(ann.entity, ann.has_changes, ann.name)  --> Person true Ann
---```
---@class moonbase.Object: moonbase.ObjectMethods
---@field entity string the name of its entity; `object:entity()` is the same
---@field has_changes boolean whether it is new, changed or marked for deletion; `object:has_changes()` is the same
---@field [string] any the value of a property

---@class moonbase.ObjectMethods
local Object = {}

---The name of the object's entity.
---```lua
---print(ann:entity())  --> Person
---```
---@return string
function Object:entity() end

---The object's ID, which other contexts and later runs know too.
---```lua
---print(ann:id().entity, context:object(ann:id()) == ann)  --> Person true
---```
---@return moonbase.ObjectID
function Object:id() end

---The context that the object is in; nil once it is in none.
---```lua
---print(ann:context() == context)  --> true
---```
---@return moonbase.Context?
function Object:context() end

---Checks one value, as an assignment and the next save would, or all that the object has. Warnings of rules
---follow `true`.
---```lua
---print(ann:validate("age", 200))  --> nil Person.age (200) must be at most 150
---print(ann:validate())  --> true
---```
---@param key? string
---@param value? any
---@return true? ok
---@return moonbase.Error|moonbase.Error[]|nil err
function Object:validate(key, value) end

---Calls a function when a property has another value, by whichever way, once the call is done that changed it. Of a
---to-many relationship `value` is the relationship and `old` a list. The object's context keeps the watch.
---```lua
---ann:observe("age", function(value, person, old) print(person.name, old, value) end)
---ann.age = 32  --> Ann 31 32
---```
---@param key string
---@param handler fun(value: any, object: moonbase.Object, old: any)
---@return moonbase.Watch
function Object:observe(key, handler) end

---Whether the values have not been asked for since the object was made or refreshed.
---```lua
---context:refresh(ann, false)
---print(ann:is_fault())  --> true
---print(ann.name, ann:is_fault())  --> Ann false
---```
---@return boolean
function Object:is_fault() end

---Whether the object was never saved.
---```lua
---print(context:insert("Person", { name = "Carla" }):is_inserted(), ann:is_inserted())  --> true false
---```
---@return boolean
function Object:is_inserted() end

---Whether the object has changed values.
---```lua
---ann.age = 32
---print(ann:is_updated())  --> true
---```
---@return boolean
function Object:is_updated() end

---Whether the object is marked for deletion; false again after the save.
---```lua
---context:delete(ann)
---print(ann:is_deleted())  --> true
---```
---@return boolean
function Object:is_deleted() end

---Whether the object is new, changed or marked for deletion.
---```lua
---print(ann:has_changes())  --> false
---```
---@return boolean
function Object:has_changes() end

---The values of stored properties that are other ones than at the last save, by name.
---```lua
---ann.age = 32
---print(ann:changed_values().age)  --> 32
---```
---@return table<string, any>
function Object:changed_values() end

---The values as they were read or saved last, by name.
---```lua
---ann.age = 32
---print(ann:committed_values().age)  --> 31
---```
---@return table<string, any>
function Object:committed_values() end

---The stored value, past accessors and derived attributes.
---```lua
---print(ann:primitive("age"))  --> 31
---```
---@param key string
---@return any
function Object:primitive(key) end

---Sets the stored value, past accessors and hooks of changes. The next save writes it.
---```lua
---ann:set_primitive("age", 32)
---print(ann.age)  --> 32
---```
---@param key string
---@param value any
function Object:set_primitive(key, value) end

---Says that a property will be changed by `set_primitive`, so that undo, observers and saves know the change.
---```lua
---ann:will_change("age")
---ann:set_primitive("age", 32)
---ann:did_change("age")
---print(ann:is_updated())  --> true
---```
---@param key string
function Object:will_change(key) end

---Says that the change is done that `will_change` began.
---```lua
---ann:will_change("age")
---ann:set_primitive("age", 32)
---ann:did_change("age")
---```
---@param key string
function Object:did_change(key) end

---Says that a property will be read by `primitive`, so that the object's values are there.
---```lua
---ann:will_access("age")
---print(ann:primitive("age"))  --> 31
---ann:did_access("age")
---```
---@param key string
function Object:will_access(key) end

---Says that the reading is done that `will_access` began.
---```lua
---ann:will_access("age")
---ann:did_access("age")
---```
---@param key string
function Object:did_access(key) end

---A to-many relationship of an object. `#` counts, `pairs` iterates over a snapshot, and assigning a list replaces all
---members.
---@class moonbase.ToMany
---@field [integer] moonbase.Object ordered relationships only
---@operator len: integer
local ToMany = {}

---A request for the members, narrowed by a condition.
---```lua
---print(tools.people:where("age > %d", 30):first().name)  --> Ann
---```
---@param format string
---@param ... any
---@return moonbase.Request
function ToMany:where(format, ...) end

---A request for the members in an order.
---```lua
---print(tools.people:sort("-name"):first().name)  --> Ben
---```
---@param ... string
---@return moonbase.Request
function ToMany:sort(...) end

---The step of a request for the members.
---```lua
---print(#tools.people:limit(1):all())  --> 1
---```
---@param count integer
---@return moonbase.Request
function ToMany:limit(count) end

---The step of a request for the members.
---```lua
---print(tools.people:sort("name"):offset(1):first().name)  --> Ben
---```
---@param count integer
---@return moonbase.Request
function ToMany:offset(count) end

---The step of a request for the members.
---```lua
---for person in tools.people:batch(100):each() do person.age = person.age + 1 end
---```
---@param size integer
---@return moonbase.Request
function ToMany:batch(size) end

---The step of a request for the members.
---```lua
---print(#tools.people:prefetch("tasks"):all())  --> 2
---```
---@param ... string
---@return moonbase.Request
function ToMany:prefetch(...) end

---The step of a request for the members.
---```lua
---print(tools.people:group_by("age"):dictionaries({ "age", people = "@count" })[1].people)  --> 1
---```
---@param ... string
---@return moonbase.Request
function ToMany:group_by(...) end

---The step of a request for the members.
---```lua
---print(#tools.people:group_by("age"):having("people > 1"):dictionaries { "age", people = "@count" })  --> 0
---```
---@param predicate string
---@param ... any
---@return moonbase.Request
function ToMany:having(predicate, ...) end

---The step of a request for the members.
---```lua
---print(#tools.people:distinct():dictionaries { "department.name" })  --> 1
---```
---@param distinct? boolean
---@return moonbase.Request
function ToMany:distinct(distinct) end

---The step of a request for the members.
---```lua
---print(tools.people:subentities(false):count())  --> 2
---```
---@param included boolean
---@return moonbase.Request
function ToMany:subentities(included) end

---The step of a request for the members.
---```lua
---print(tools.people:pending(false):count())  --> 2
---```
---@param included boolean
---@return moonbase.Request
function ToMany:pending(included) end

---The step of a request for the members.
---```lua
---for person in tools.people:save_every(1000):each() do person.age = person.age + 1 end
---```
---@param count integer
---@return moonbase.Request
function ToMany:save_every(count) end

---How many members there are, as `#`.
---```lua
---print(tools.people:count(), #tools.people)  --> 2 2
---```
---@return integer
function ToMany:count() end

---The first member; nil where there is none.
---```lua
---print(ann.tasks:first().title)  --> plan
---```
---@return moonbase.Object?
function ToMany:first() end

---The IDs of the members.
---```lua
---print(#tools.people:ids())  --> 2
---```
---@return moonbase.ObjectID[]
function ToMany:ids() end

---Adds members. The inverse relationship follows.
---```lua
---local carla = context:insert("Person", { name = "Carla" })
---tools.people:add(carla)
---print(carla.department == tools)  --> true
---```
---@param ... moonbase.Object|moonbase.Object[]|moonbase.ToMany
function ToMany:add(...) end

---Removes members, which are not deleted.
---```lua
---tools.people:remove(ann)
---print(ann.department)  --> nil
---```
---@param ... moonbase.Object|moonbase.Object[]|moonbase.ToMany
function ToMany:remove(...) end

---Whether an object is a member.
---```lua
---print(tools.people:contains(ann))  --> true
---```
---@param object moonbase.Object
---@return boolean
function ToMany:contains(object) end

---Iterates over the members.
---```lua
---for task in ann.tasks:each() do
---  print(task.title)  --> plan
---  break
---end
---```
---@return fun(): moonbase.Object?
function ToMany:each() end

---The members as a list.
---```lua
---print(ann.tasks:all()[2].title)  --> build
---```
---@return moonbase.Object[]
function ToMany:all() end

---Inserts a member at a place, from 1. Of ordered relationships only.
---```lua
---ann.tasks:insert(1, context:insert("Task", { title = "think" }))
---print(ann.tasks[1].title, ann.tasks[2].title)  --> think plan
---```
---@param index integer
---@param object moonbase.Object
function ToMany:insert(index, object) end

---Moves a member from one place to another. Of ordered relationships only.
---```lua
---ann.tasks:move(2, 1)
---print(ann.tasks[1].title)  --> build
---```
---@param from integer
---@param to integer
function ToMany:move(from, to) end

---The place of a member, from 1; nil for any other object. Of ordered relationships only.
---```lua
---print(ann.tasks:index_of(ann.tasks[2]))  --> 2
---```
---@param object moonbase.Object
---@return integer?
function ToMany:index_of(object) end
