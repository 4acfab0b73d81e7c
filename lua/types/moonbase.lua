---@meta
-- The contents of `moonbase`. Point your editor's Lua language server at this folder (`workspace.library`).

---`context` is the context of the store and model given to `moonbase run`; nil without a store and a model.
---@class moonbase
---@field context? moonbase.Context
---@field model? moonbase.ModelInfo the model of that context; in an app, of the context whose hook runs
---@field version string
---@field terminal boolean whether standard error is a terminal
---@field log moonbase.Log
---@field classes table<string, any> the value classes that extensions provide, by name
---@field object moonbase.ObjectMethods every method of an object as a function, for properties that hide a method
---@field null moonbase.Null "no value" as an element of a list or map; attributes read as nil
---@field date moonbase.DateModule
---@field decimal moonbase.DecimalModule
---@field uuid moonbase.UUIDModule
---@field uri moonbase.URIModule
---@field extensions moonbase.LoadedExtension[] the loaded extensions in files, with their cost
moonbase = {}

---The cost of calls, counted only where the host measures (`--profile`).
---@class moonbase.Cost
---@field calls integer
---@field seconds number
---@field instructions integer counted in thousands
---@field errors integer

---@class moonbase.LoadedExtension: moonbase.Cost
---@field name string
---@field version? string
---@field source string the file's path, as given
---@field entities string[]
---@field disabled_because? string the reason why its functions raise errors, once it has exceeded its limits
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

---Reloads the extension files; a file with an error raises and changes nothing.
function Store.reload() end

---Reloads the extension files of all contexts of the script; a file with an error raises and changes nothing.
function moonbase.reload() end

---A deep copy of a table, which may be changed and assigned. Tables returned by attributes are frozen.
---@generic T
---@param value T
---@return T
function moonbase.copy(value) end

---Runs a module's function on another thread, with its own context over the stores of `moonbase.context` and its own
---Lua state. The module returns `function(context, arguments)`; arguments and results are plain values.
---@param module string the name for `require`
---@param arguments? any
---@return moonbase.Job
function moonbase.background(module, arguments) end

---Runs a module's function on all cores, each time for a part of the matching objects. The module returns
---`function(context, ids, arguments)`, which saves its changes itself.
---@param request moonbase.Request
---@param module string the name for `require`
---@param arguments? any
---@return any[] results in the order of the parts, `moonbase.null` for a failed part
---@return table<integer, moonbase.Error>? errors by the numbers of the parts
function moonbase.parallel(request, module, arguments) end

---Work on another thread.
---@class moonbase.Job
---@field is_done boolean
---@field progress? number from 0 to 1, as reported by the module's `moonbase.progress`
local Job = {}

---Waits for the end.
---@return any result nil after a failure
---@return moonbase.Error? err
function Job:wait() end

---Cancels the job.
function Job:cancel() end

---A progress bar on standard error, if that is a terminal.
---@param total? integer the number of steps, if known
---@param label? string default "progress"
---@return moonbase.Progress
function moonbase.progress(total, label) end

---@class moonbase.Progress
local Progress = {}

---@param steps? integer default 1
function Progress:advance(steps) end

---Removes the bar.
function Progress:finish() end

---Messages for the program that runs the script: an app receives them, the command prints them on standard error.
---@class moonbase.Log
---@field debug fun(message: string, fields?: table<string, any>)
---@field info fun(message: string, fields?: table<string, any>)
---@field notice fun(message: string, fields?: table<string, any>)
---@field warning fun(message: string, fields?: table<string, any>)
---@field error fun(message: string, fields?: table<string, any>)

---An error caused by data or by other programs: returned by `save`, `validate`, `transaction` and `parse`, raised by
---all other functions. `tostring` and `..` give the complete message.
---@class moonbase.Error
---@field code integer Core Data's code if there is one, such as 1570 for a missing value
---@field message string
---@field entity? string
---@field key? string
---@field id? moonbase.ObjectID
---@field value? any
---@field traceback string the calls within the extension that raised, innermost first; else empty
---@field details? moonbase.Error[] the single failures, if there are several
---@operator concat(any): string
