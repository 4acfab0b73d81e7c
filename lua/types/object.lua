---@meta

---An object of a context. Its properties are those of its entity. A property with a method's name hides the method,
---which is still callable as `moonbase.object.NAME(object, ...)`.
---@class moonbase.Object: moonbase.ObjectMethods
---@field entity string the name of its entity; also `object:entity()`
---@field has_changes boolean whether it is new, changed or marked for deletion; also `object:has_changes()`
---@field [string] any

---@class moonbase.ObjectMethods
local Object = {}

---@return string
function Object:entity() end

---@return moonbase.ObjectID
function Object:id() end

---The object's context; nil after the object has left the context.
---@return moonbase.Context?
function Object:context() end

---Validates a value as an assignment and the next save would, or without a key the whole object. Warnings follow
---`true`.
---@param key? string
---@param value? any
---@return true? ok
---@return moonbase.Error|moonbase.Error[]|nil err
function Object:validate(key, value) end

---Calls a function after each change of a property, however made, at the end of the call that made the change. For a
---to-many relationship `value` is the relationship and `old` a list. The object's context keeps the observation.
---@param key string
---@param handler fun(value: any, object: moonbase.Object, old: any)
---@return moonbase.Watch
function Object:observe(key, handler) end

---Whether the values have not been read since the object was made or refreshed.
---@return boolean
function Object:is_fault() end

---Whether the object has never been saved.
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

---The values of stored properties that differ from the last save, by name.
---@return table<string, any>
function Object:changed_values() end

---The values that were last read or saved, by name.
---@return table<string, any>
function Object:committed_values() end

---The stored value, without accessors and derived attributes.
---@param key string
---@return any
function Object:primitive(key) end

---Sets the stored value, without accessors and change hooks. The next save writes the value.
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

---A to-many relationship of an object. `#` counts, `pairs` iterates over a snapshot, and assigning a list replaces all
---members.
---@class moonbase.ToMany
---@field [integer] moonbase.Object ordered relationships only
---@operator len: integer
local ToMany = {}

---A request for the members with a condition.
---@param format string
---@param ... any
---@return moonbase.Request
function ToMany:where(format, ...) end

---A sorted request for the members.
---@param ... string
---@return moonbase.Request
function ToMany:sort(...) end

---A request for the members with this step.
---@param count integer
---@return moonbase.Request
function ToMany:limit(count) end

---A request for the members with this step.
---@param count integer
---@return moonbase.Request
function ToMany:offset(count) end

---A request for the members with this step.
---@param size integer
---@return moonbase.Request
function ToMany:batch(size) end

---A request for the members with this step.
---@param ... string
---@return moonbase.Request
function ToMany:prefetch(...) end

---A request for the members with this step.
---@param ... string
---@return moonbase.Request
function ToMany:group_by(...) end

---A request for the members with this step.
---@param predicate string
---@param ... any
---@return moonbase.Request
function ToMany:having(predicate, ...) end

---A request for the members with this step.
---@param distinct? boolean
---@return moonbase.Request
function ToMany:distinct(distinct) end

---A request for the members with this step.
---@param included boolean
---@return moonbase.Request
function ToMany:subentities(included) end

---A request for the members with this step.
---@param included boolean
---@return moonbase.Request
function ToMany:pending(included) end

---A request for the members with this step.
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
