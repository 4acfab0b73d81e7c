---@meta
-- The contents of `moonbase`. Point your editor's Lua language server at this folder (`workspace.library`).

---The global table of the script API.
---```lua
---print(moonbase.context ~= nil, moonbase.model.entities.Person.name)  --> true Person
---print(moonbase.version:match("^%d+%.%d+") ~= nil, type(moonbase.terminal))  --> true boolean
---print(moonbase.object.entity(ann), #moonbase.extensions > 0, next(moonbase.classes))  --> Person true nil
---print(moonbase.date("2026-05-01"), moonbase.decimal("1.50"))  --> 2026-05-01T00:00:00.000Z 1.5
---print(moonbase.uuid() ~= moonbase.uuid(), moonbase.uri("https://example.org"))  --> true https://example.org
---ann.tags = { "a", moonbase.null }
---moonbase.log.debug("shown with a level of its own", { people = 2 })
---```
---@class moonbase
---@field context? moonbase.Context of the store and the model given to `moonbase run`; nil where there is neither
---@field model? moonbase.ModelInfo the model of that context; in an app, the one of the context whose hook runs
---@field version string of Moonbase
---@field terminal boolean whether standard error is a terminal
---@field log moonbase.Log messages for the program that runs the script
---@field classes table<string, any> the value classes that extensions provide, by name
---@field object moonbase.ObjectMethods every method of an object as a function, for properties that hide a method
---@field null moonbase.Null "no value" as an element of a list or map; attributes read as nil
---@field date moonbase.DateModule makes dates, and is the calendar
---@field decimal moonbase.DecimalModule makes decimals
---@field uuid moonbase.UUIDModule makes UUIDs
---@field uri moonbase.URIModule makes URIs
---@field extensions moonbase.LoadedExtension[] the extensions in files that are loaded now, and what they cost
moonbase = {}

---The cost of calls, counted only where the host measures (`--profile`).
---@class moonbase.Cost
---@field calls integer how many
---@field seconds number in all calls together
---@field instructions integer by the thousand
---@field errors integer how many calls raised

---```lua
---moonbase.open { model = "model.lua", extensions = { "rules.lua" } }
---local loaded
---for _, extension in ipairs(moonbase.extensions) do
---  if extension.name == "rules" then loaded = extension end
---end
---print(loaded.name, loaded.version, loaded.source, loaded.entities[1])  --> rules 1.0 rules.lua Person
---print(loaded.disabled_because, loaded.functions[1].name)  --> nil Person.validate.name
---print(loaded.calls, loaded.seconds, loaded.instructions, loaded.errors)  --> 0 0.0 0 0
---```
---@class moonbase.LoadedExtension: moonbase.Cost
---@field name string as the file says
---@field version? string as the file says
---@field source string the file, as it was named
---@field entities string[] their names
---@field disabled_because? string why its functions raise errors, once it exceeded its limits
---@field functions moonbase.ExtensionFunction[] with the cost of each

---@class moonbase.ExtensionFunction: moonbase.Cost
---@field name string such as `Person.validate.age`

---@class moonbase.Null

---Opens a store. Paths are relative to the current folder.
---```lua
---local context = moonbase.open { model = "model.lua" }.context
---context:insert("Person", { name = "Carla" })
---print(context:fetch("Person"):count())  --> 1
---context:rollback()
---```
---@param options moonbase.OpenOptions
---@return moonbase.Store
function moonbase.open(options) end

---```lua
---local options = { store = "people.sqlite", model = "model.lua", extensions = { "rules.lua" }, read_only = true }
---print(moonbase.open(options).context:fetch("Person"):count())  --> 2
---```
---@class moonbase.OpenOptions
---@field store? string|table<string, string> path of the SQLite file, or paths by configuration; default: in memory
---@field model? string|table path of a model file, or the table such a file returns; default: the store's own model
---@field extensions? string[] paths of extension files
---@field read_only? boolean whether nothing is written

---```lua
---local store = moonbase.open { model = "model.lua" }
---print(store.context:fetch("Person"):count())  --> 0
---```
---@class moonbase.Store
---@field context moonbase.Context made for the store
local Store = {}

---Reads the extension files anew; a file that fails leaves all in place and raises.
---```lua
---local store = moonbase.open { model = "model.lua", extensions = { "rules.lua" } }
---store.reload()
---```
function Store.reload() end

---Reads the extension files of all contexts of the script anew; a file that fails leaves all in place and raises.
---```lua
---moonbase.reload()
---```
function moonbase.reload() end

---A copy of a table, and of all tables within, that may be changed and assigned: an attribute returns frozen tables.
---```lua
---local tags = moonbase.copy(ann.tags)
---tags[#tags + 1] = "new"
---ann.tags = tags
---print(#ann.tags)  --> 2
---```
---@generic T
---@param value T
---@return T
function moonbase.copy(value) end

---Runs a module's function on a thread of its own, with a context over the stores of `moonbase.context` and a Lua
---state of its own. The module returns `function(context, arguments)`; plain values go in and out.
---```lua
----- grow.lua: return function(context, arguments) return context:fetch("Person"):count() + arguments end
---local job = moonbase.background("grow", 10)
---print(job:wait())  --> 12
---```
---@param module string as `require` takes it
---@param arguments? any
---@return moonbase.Job
function moonbase.background(module, arguments) end

---Runs a module's function on all cores, for parts of the objects that match. The module returns
---`function(context, ids, arguments)`, which saves by itself.
---```lua
----- names.lua: return function(context, ids) return #ids end
---local counts, errors = moonbase.parallel(context:fetch("Person"), "names")
---local sum = 0
---for _, count in ipairs(counts) do sum = sum + count end
---print(sum, errors)  --> 2 nil
---```
---@param request moonbase.Request
---@param module string the name for `require`
---@param arguments? any
---@return any[] results in the order of the parts, `moonbase.null` for a failed part
---@return table<integer, moonbase.Error>? errors by the numbers of the parts
function moonbase.parallel(request, module, arguments) end

---Work on another thread.
---```lua
---local job = moonbase.background("grow", 10)
---job:wait()
---print(job.is_done, job.progress)  --> true nil
---```
---@class moonbase.Job
---@field is_done boolean whether the function has returned or raised
---@field progress? number from 0 to 1, as the module's `moonbase.progress` says
local Job = {}

---Waits for the end.
---```lua
---local job = moonbase.background("grow", 1)
---local count, err = job:wait()
---print(count, err)  --> 3 nil
---```
---@return any result nil where it failed
---@return moonbase.Error? err
function Job:wait() end

---Ends it.
---```lua
---local job = moonbase.background("grow", 1)
---job:cancel()
---```
function Job:cancel() end

---A progress bar on standard error. It draws on a terminal only.
---```lua
---local progress = moonbase.progress(2, "people")
---for person in context:fetch("Person"):each() do
---  person.age = person.age + 1
---  progress:advance()
---end
---progress:finish()
---```
---@param total? integer how many steps there will be, if known
---@param label? string "progress" unless said otherwise
---@return moonbase.Progress
function moonbase.progress(total, label) end

---@class moonbase.Progress
local Progress = {}

---Says that so many steps are done.
---```lua
---local progress = moonbase.progress(100)
---progress:advance(50)
---```
---@param steps? integer default 1
function Progress:advance(steps) end

---Takes the bar away.
---```lua
---local progress = moonbase.progress(100)
---progress:finish()
---```
function Progress:finish() end

---Messages for the program that runs the script: an app takes them, the command tells them on standard error.
---```lua
---moonbase.log.info("imported", { rows = 2 })
---moonbase.log.notice("imported", { rows = 2 })
---moonbase.log.warning("imported", { rows = 2 })
---moonbase.log.error("imported", { rows = 2 })
---```
---@class moonbase.Log
---@field debug fun(message: string, fields?: table<string, any>) for the search for a mistake
---@field info fun(message: string, fields?: table<string, any>) the course of a run
---@field notice fun(message: string, fields?: table<string, any>) unusual, and right
---@field warning fun(message: string, fields?: table<string, any>) something may be wrong
---@field error fun(message: string, fields?: table<string, any>) something is wrong

---An error that data or another process causes: returned by `save`, `validate`, `transaction` and `parse`, raised by
---everything else.
---`tostring` and `..` give the whole sentence.
---```lua
---ann.age, ben.name = 200, nil
---local _, err = context:save()
---print(err.code, #err.details, err.message:match("[^\n;]+"))  --> 1560 2 2 validation failures
---local first = ann.age == 200 and err.details[1].key == "age" and err.details[1] or err.details[2]
---print(first.entity, first.key, first.value, first.id == ann:id())  --> Person age 200 true
---print(first.traceback == "", "so: " .. first)  --> true so: Person.age (200) must be at most 150
---```
---@class moonbase.Error
---@field code integer Core Data's number where it has one, such as 1570 for a missing value
---@field message string without a place
---@field entity? string of the object that failed
---@field key? string the property that failed
---@field id? moonbase.ObjectID of the object that failed
---@field value? any that was refused
---@field traceback string where the extension was that raised, innermost first; empty where none did
---@field details? moonbase.Error[] one for each failure, where there are several
---@operator concat(any): string
