---@meta

---An object of a context. Its properties are those of its entity; where one has a method's name, the property wins and
---the method is `moonbase.object.NAME(object, ...)`.
---@class moonbase.Object: moonbase.ObjectMethods
---@field entity string the name of its entity; `object:entity()` is the same
---@field has_changes boolean whether it is new, changed or marked for deletion; `object:has_changes()` is the same
---@field [string] any

---@class moonbase.ObjectMethods
local Object = {}

---@return string
function Object:entity() end

---@return moonbase.ObjectID
function Object:id() end

---The context that the object is in; nil once it is in none.
---@return moonbase.Context?
function Object:context() end

---Checks one value, as an assignment and the next save would, or all that the object has. What rules only warn of
---follows `true`.
---@param key? string
---@param value? any
---@return true? ok
---@return moonbase.Error|moonbase.Error[]|nil err
function Object:validate(key, value) end

---Calls a function when a property has another value, by whichever way, once the call is done that changed it. Of a
---to-many relationship `value` is the relationship and `old` a list. The object's context keeps the watch.
---@param key string
---@param handler fun(value: any, object: moonbase.Object, old: any)
---@return moonbase.Watch
function Object:observe(key, handler) end

---Whether the values have not been asked for since the object was made or refreshed.
---@return boolean
function Object:is_fault() end

---Whether the object was never saved.
---@return boolean
function Object:is_inserted() end

---Whether the object has changed values.
---@return boolean
function Object:is_updated() end

---Whether the object is marked for deletion; false again after the save.
---@return boolean
function Object:is_deleted() end

---Whether the object is new, changed or marked for deletion.
---@return boolean
function Object:has_changes() end

---The values of stored properties that are other ones than at the last save, by name.
---@return table<string, any>
function Object:changed_values() end

---The values as they were read or saved last, by name.
---@return table<string, any>
function Object:committed_values() end

---The stored value, past accessors and derived attributes.
---@param key string
---@return any
function Object:primitive(key) end

---Sets the stored value, past accessors and hooks of changes. The next save writes it.
---@param key string
---@param value any
function Object:set_primitive(key, value) end

---@param key string
function Object:will_change(key) end

---@param key string
function Object:did_change(key) end

---@param key string
function Object:will_access(key) end

---@param key string
function Object:did_access(key) end

---A to-many relationship of an object. `#` counts, `pairs` walks over a snapshot, assigning a list replaces all.
---@class moonbase.ToMany
---@field [integer] moonbase.Object ordered relationships only
---@operator len: integer
local ToMany = {}

---A request for the members, narrowed by a condition.
---@param format string
---@param ... any
---@return moonbase.Request
function ToMany:where(format, ...) end

---A request for the members in an order.
---@param ... string
---@return moonbase.Request
function ToMany:sort(...) end

---The step of a request for the members.
---@param count integer
---@return moonbase.Request
function ToMany:limit(count) end

---The step of a request for the members.
---@param count integer
---@return moonbase.Request
function ToMany:offset(count) end

---The step of a request for the members.
---@param size integer
---@return moonbase.Request
function ToMany:batch(size) end

---The step of a request for the members.
---@param ... string
---@return moonbase.Request
function ToMany:prefetch(...) end

---The step of a request for the members.
---@param ... string
---@return moonbase.Request
function ToMany:group_by(...) end

---The step of a request for the members.
---@param predicate string
---@param ... any
---@return moonbase.Request
function ToMany:having(predicate, ...) end

---The step of a request for the members.
---@param distinct? boolean
---@return moonbase.Request
function ToMany:distinct(distinct) end

---The step of a request for the members.
---@param included boolean
---@return moonbase.Request
function ToMany:subentities(included) end

---The step of a request for the members.
---@param included boolean
---@return moonbase.Request
function ToMany:pending(included) end

---The step of a request for the members.
---@param count integer
---@return moonbase.Request
function ToMany:save_every(count) end

---@return integer
function ToMany:count() end

---@return moonbase.Object?
function ToMany:first() end

---@return moonbase.ObjectID[]
function ToMany:ids() end

---@param ... moonbase.Object|moonbase.Object[]|moonbase.ToMany
function ToMany:add(...) end

---@param ... moonbase.Object|moonbase.Object[]|moonbase.ToMany
function ToMany:remove(...) end

---@param object moonbase.Object
---@return boolean
function ToMany:contains(object) end

---@return fun(): moonbase.Object?
function ToMany:each() end

---@return moonbase.Object[]
function ToMany:all() end

---Ordered relationships only.
---@param index integer
---@param object moonbase.Object
function ToMany:insert(index, object) end

---Ordered relationships only.
---@param from integer
---@param to integer
function ToMany:move(from, to) end

---Ordered relationships only.
---@param object moonbase.Object
---@return integer?
function ToMany:index_of(object) end
