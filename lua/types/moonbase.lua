---@meta
-- What a script finds in `moonbase`. Point your editor's Lua language server at this folder (`workspace.library`).

---The context of the store and model given to `moonbase run`; nil where there is neither.
---@class moonbase
---@field context? moonbase.Context
---@field model? moonbase.ModelInfo the model of that context; in an app, the one of the context whose hook runs
---@field version string
---@field terminal boolean whether standard error is a terminal
---@field log moonbase.Log
---@field classes table<string, any> the value classes that extensions provide, by name
---@field object moonbase.ObjectMethods every method of an object as a function, for where a property hides the method
---@field null moonbase.Null "no value" as an element of a list or map; attributes read as nil
---@field date moonbase.DateModule
---@field decimal moonbase.DecimalModule
---@field uuid moonbase.UUIDModule
---@field uri moonbase.URIModule
---@field extensions moonbase.LoadedExtension[] the extensions in files that are loaded now, and what they cost
moonbase = {}

---The cost of calls, counted only where the host measures (`--profile`).
---@class moonbase.Cost
---@field calls integer
---@field seconds number
---@field instructions integer by the thousand
---@field errors integer

---@class moonbase.LoadedExtension: moonbase.Cost
---@field name string
---@field version? string
---@field source string the file, as it was named
---@field entities string[]
---@field disabled_because? string why its functions raise errors, once it exceeded its limits
---@field functions moonbase.ExtensionFunction[]

---@class moonbase.ExtensionFunction: moonbase.Cost
---@field name string such as `Person.validate.age`

---@class moonbase.Null

---Opens a store. Paths are relative to the current folder.
---@param options moonbase.OpenOptions
---@return moonbase.Store
function moonbase.open(options) end

---@class moonbase.OpenOptions
---@field store? string|table<string, string> path of the SQLite file, or paths by configuration; default: in memory
---@field model? string|table path of a model file, or the table such a file returns; default: the store's own model
---@field extensions? string[] paths of extension files
---@field read_only? boolean

---@class moonbase.Store
---@field context moonbase.Context
local Store = {}

---Reads the extension files anew; a file that fails leaves all in place and raises.
function Store.reload() end

---Reads the extension files of all contexts of the script anew; a file that fails leaves all in place and raises.
function moonbase.reload() end

---A copy of a table, and of all tables within, that may be changed and assigned: what an attribute returns is frozen.
---@generic T
---@param value T
---@return T
function moonbase.copy(value) end

---Runs a module's function on a thread of its own, with a context over the stores of `moonbase.context` and a Lua
---state of its own. The module returns `function(context, arguments)`; plain values go in and out.
---@param module string as `require` takes it
---@param arguments? any
---@return moonbase.Job
function moonbase.background(module, arguments) end

---Runs a module's function on all cores, for parts of the objects that match. The module returns
---`function(context, ids, arguments)`, which saves by itself.
---@param request moonbase.Request
---@param module string as `require` takes it
---@param arguments? any
---@return any[] results in the order of the parts, `moonbase.null` in the place of one that failed
---@return table<integer, moonbase.Error>? errors by the numbers of the parts
function moonbase.parallel(request, module, arguments) end

---Work on another thread.
---@class moonbase.Job
---@field is_done boolean
---@field progress? number from 0 to 1, as the module's `moonbase.progress` says
local Job = {}

---Waits for the end.
---@return any result nil where it failed
---@return moonbase.Error? err
function Job:wait() end

---Ends it.
function Job:cancel() end

---A progress bar on standard error. It draws on a terminal only.
---@param total? integer how many steps there will be, if known
---@param label? string "progress" unless said otherwise
---@return moonbase.Progress
function moonbase.progress(total, label) end

---@class moonbase.Progress
local Progress = {}

---@param steps? integer default 1
function Progress:advance(steps) end

---Takes the bar away.
function Progress:finish() end

---Messages for the program that runs the script: an app takes them, the command tells them on standard error.
---@class moonbase.Log
---@field debug fun(message: string, fields?: table<string, any>)
---@field info fun(message: string, fields?: table<string, any>)
---@field notice fun(message: string, fields?: table<string, any>)
---@field warning fun(message: string, fields?: table<string, any>)
---@field error fun(message: string, fields?: table<string, any>)

---What data or others cause: returned by `save`, `validate`, `transaction` and `parse`, raised by
---everything else.
---`tostring` and `..` give the whole sentence.
---@class moonbase.Error
---@field code integer Core Data's number where it has one, such as 1570 for a missing value
---@field message string
---@field entity? string
---@field key? string
---@field id? moonbase.ObjectID
---@field value? any
---@field traceback string where the extension was that raised, innermost first; empty where none did
---@field details? moonbase.Error[] one for each failure, where there are several
---@operator concat(any): string
