-- Imports as scripts: rows are inserted into a context in chunks, each a transaction, and rejected rows are written to
-- a file with the reason of each.

local _, host = ...
local fault = require "moonbase.fault"
local csv = require "moonbase.csv"
local csv_writer = require "moonbase.csv_writer"
local json_writer = require "moonbase.json_writer"

local import = {}

-- Rejected rows ------------------------------------------------------------------------------------------------

-- The columns added to a row. `moonbase import` passes over them, and they replace those of an earlier file.
local added = { "_line", "_column", "_value", "_reason", "_record" }
local is_added = {}
for _, name in ipairs(added) do is_added[name] = true end

---@class moonbase.Rejects
---@field count integer the number of its rows
local Rejects = { __name = "moonbase.rejects", __metatable = "moonbase.rejects" }
Rejects.__index = host.freeze(Rejects)

local function own(self, name)
  if getmetatable(self) ~= Rejects.__metatable then fault.wrong_self(self, "Rejects", name) end
end

-- The parts of a problem: the texts behind `_line`, in the order of the columns.
local function told(problem)
  if fault.is(problem) then return nil, nil, problem.message, problem.record end
  if type(problem) ~= "userdata" or not problem.code then return nil, nil, tostring(problem) end
  local details, reasons = problem.details or { problem }, {}
  for index, detail in ipairs(details) do reasons[index] = tostring(detail) end
  local first = details[1] or problem
  local value = first.value
  return first.key, value ~= nil and tostring(value) or nil, table.concat(reasons, "; ")
end

local function open(self)
  if type(self.target) ~= "string" then return self.target end
  if not io or not io.open then
    fault.raise("a script of this preset opens no files: give 'rejects' a function that takes text")
  end
  local file, problem = io.open(self.target, "w")
  if not file then error("rejected rows cannot be written: " .. problem, 0) end
  return file
end

local function putter(target)
  if type(target) == "function" then return target end
  return function(text)
    local ok, problem = target:write(text)
    if not ok then error("rejected rows cannot be written: " .. tostring(problem), 0) end
  end
end

-- The function that writes a row: csv in the form of the input, or a line of JSON.
local function writer(self, put)
  local form = self.form
  if not form then return function(row) put(json_writer.encode(row) .. "\n") end end
  local columns = {}
  for _, name in ipairs(form.columns) do
    if not is_added[name] then columns[#columns + 1] = name end
  end
  table.move(added, 1, #added, #columns + 1, columns)
  local rows = csv_writer.new(
    put, { columns = columns, separator = form.separator, null = form.null, newline = "\n" }, "rejects")
  return function(row) rows:row(row) end
end

--- Adds a row. The file is made with the first row.
---@param row? table nil if its fields are unknown
---@param line integer the line at which the row begins
---@param problem any a `moonbase.Error`, a fault or a text
---@return moonbase.Rejects
function Rejects:add(row, line, problem)
  own(self, "add")
  fault.check_optional(row, "table", 1, "add")
  fault.check(line, "integer", 2, "add")
  if not self.write then
    self.file = open(self)
    self.write = writer(self, putter(self.file))
  end
  local rejected = {}
  for name, value in pairs(row or {}) do
    if not is_added[name] then rejected[name] = value end
  end
  rejected._line = line
  rejected._column, rejected._value, rejected._reason, rejected._record = told(problem)
  -- A record that could not be read is kept until it is mended.
  rejected._record = rejected._record or row and row._record
  self.write(rejected)
  self.count = self.count + 1
  return self
end

--- Closes the file, if this object opened one.
function Rejects:close()
  own(self, "close")
  if not self.file or type(self.target) ~= "string" then return end
  local ok, problem = self.file:close()
  self.file, self.write = nil, function() fault.raise("the file of rejected rows is closed") end
  if not ok then error("rejected rows cannot be written: " .. tostring(problem), 0) end
end

--- A file for rejected rows, in the form in which `rows` reads them, so that they can be corrected and imported again:
--- csv with the same columns, separator and `null`, or a JSON object per line. Further columns are `_line`, `_column`,
--- `_value`, `_reason` and, for an unreadable record, `_record`.
---
--- ```lua
--- local rejects = import.rejects(rows, "people.rejects.csv")
--- if not row.name then rejects:add(row, line, "it has no name") end
--- ```
---@param rows fun(): table?, integer? an iterator of `csv.rows` or `json.lines`, or another iterator
---@param target string|file*|fun(text: string) the file's path; the file is made with the first row
---@return moonbase.Rejects
function import.rejects(rows, target)
  fault.check(rows, "function", 1, "rejects")
  if type(target) ~= "string" and type(target) ~= "function" and not fault.has_method(target, "write") then
    fault.wrong(target, "path, open file or function", 2, "rejects")
  end
  local form = csv.form(rows)
  if form and not form.columns then
    fault.raise("rows without a header have no columns that a file of rejected rows could name: give 'header'")
  end
  return setmetatable({ target = target, form = form, count = 0 }, Rejects)
end

-- Chunks -------------------------------------------------------------------------------------------------------

-- Takes a range of rows in a transaction; returns nil, or the error and the failed row if that is known.
local function attempt(job, from, to)
  local at
  local ran, saved, problem = pcall(job.context.transaction, job.context, function()
    for index = from, to do
      at = index
      if not job.faults[index] then
        local result, reason = job.take(job.rows[index], job.lines[index])
        if not result and reason ~= nil then error(reason, 0) end
      end
    end
    at = nil
  end)
  if ran and saved then return nil end
  if not ran then problem = saved end
  -- A failure of the store is not caused by a row.
  if type(problem) == "userdata" and host.is_of_store(problem.code) then error(problem, 0) end
  return problem == nil and "nil was raised" or problem, at
end

-- Takes rows, and puts rows that fail alone aside. Where the failing row is not known, halves are tried.
local function take(job, from, to)
  while from <= to do
    local problem, at = attempt(job, from, to)
    if problem == nil then return end
    if at == from or from == to then
      if not job.rejects then error(problem, 0) end
      job.faults[from] = problem
      from = from + 1
    else
      local last = at and at - 1 or (from + to) // 2
      take(job, from, last)
      from = last + 1
    end
  end
end

-- The next row and its line, or nil and a fault; nil alone at the end.
local function next_of(job, next_row)
  local ok, row, line = pcall(next_row)
  if not ok then
    if fault.is(row) and row.record then return nil, row.line, row end
    error(row, 0)
  end
  if row == nil then return nil end
  line = line or job.number + 1
  if type(row) ~= "table" then
    return nil, line, fault.new {
      line = line, message = "a row is expected, got " .. fault.shown(row), record = tostring(row),
    }
  end
  if row._record then
    for name in pairs(row) do
      if not is_added[name] then return row, line end
    end
    return row, line, "its record could not be understood, and still waits in _record to be mended"
  end
  return row, line
end

-- Reads a chunk; false at the end. An unreadable record is rejected; without a reject file the record ends the import
-- after the rows before it.
local function read(job, next_row, size)
  job.count = 0
  while job.count < size and job.ending == nil do
    local row, line, problem = next_of(job, next_row)
    if not line then return job.count > 0 end
    if problem and not job.rejects then
      job.ending = problem
      return true
    end
    local index = job.count + 1
    job.count, job.number = index, job.number + 1
    job.rows[index], job.lines[index], job.faults[index] = row, line, problem
  end
  return job.count > 0
end

---@class moonbase.ImportRunOptions
---@field rejects? moonbase.Rejects gets the failed rows; without it the first failed row ends the import
---@field progress? moonbase.Progress advanced with each row
---@field chunk? integer the number of rows per transaction; default 1000

---@class moonbase.ImportReport
---@field rows integer
---@field rejected integer

--- Imports rows in chunks, each in one transaction. `take(row, line)` inserts or changes an object for a row. A row is
--- rejected if `take` raises, or returns nil and a reason, or if its objects cannot be saved; a rejected row leaves no
--- changes, and the others are imported. A failure of the store itself ends the import; the chunks before the failure
--- are saved.
---
--- A chunk with a failed row is repeated without that row, so `take` is called again for the others: `take` should look
--- up objects (`upsert`, `find`) instead of keeping them from row to row.
---
--- ```lua
--- local rows = csv.rows(assert(io.open("people.csv")))
--- local report = import.run(context, rows, function(row)
---   context:upsert("Person", { "email" }, { email = row.email, name = row.name })
--- end, { rejects = import.rejects(rows, "people.rejects.csv") })
--- ```
---@param context moonbase.Context
---@param rows fun(): table?, integer? an iterator of rows and their lines, such as `csv.rows` or `json.lines`
---@param body fun(row: table, line: integer): any, string?
---@param options? moonbase.ImportRunOptions
---@return moonbase.ImportReport
function import.run(context, rows, body, options)
  if not fault.has_method(context, "transaction") then fault.wrong(context, "context", 1, "run") end
  fault.check(rows, "function", 2, "run")
  fault.check(body, "function", 3, "run")
  options = fault.options(options, { rejects = "table", progress = "userdata", chunk = "integer" }, "run", 4)
  local size = options.chunk or 1000
  if size < 1 then fault.raise("'run': option 'chunk' is at least 1") end
  local rejects = options.rejects
  if rejects and getmetatable(rejects) ~= Rejects.__metatable then
    fault.raise("'run': option 'rejects' is what 'rejects' of this module gives")
  end
  if context.has_changes then fault.raise("'run': the context has unsaved changes: save them before the import") end
  local job = {
    context = context, take = body, rejects = rejects, rows = {}, lines = {}, faults = {}, count = 0, number = 0,
  }
  local report = { rows = 0, rejected = 0 }
  while read(job, rows, size) do
    take(job, 1, job.count)
    for index = 1, job.count do
      local problem = job.faults[index]
      if problem ~= nil then
        rejects:add(job.rows[index], job.lines[index], problem)
        report.rejected, job.faults[index] = report.rejected + 1, nil
      end
    end
    report.rows = report.rows + job.count
    if options.progress then options.progress:advance(job.count) end
    if job.ending ~= nil then error(job.ending, 0) end
  end
  return report
end

return import
