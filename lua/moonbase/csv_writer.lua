-- The writer of `moonbase.csv`; scripts use it through `csv.encode` and `csv.writer`.

local _, host = ...
local fault = require "moonbase.fault"
local json_writer = require "moonbase.json_writer"

local find, gsub = string.find, string.gsub
local concat, type, tostring = table.concat, type, tostring

---@class moonbase.CSVWriteOptions
---@field columns? string[] the columns and their order; default: the names of the first row, in order
---@field header? boolean whether the names are written first; default true for rows with names
---@field separator? string one character; default ","
---@field null? string the field for no value; default: empty
---@field newline? string default "\r\n"

local write_options = {
  columns = "table", header = "boolean", separator = "string", null = "string", newline = "string",
}

---@class moonbase.CSVWriter
local CSVWriter = { __name = "moonbase.csv_writer", __metatable = "moonbase.csv_writer" }
CSVWriter.__index = host.freeze(CSVWriter)

-- Raises unless a method was called with a writer.
local function own(self, name)
  if getmetatable(self) ~= CSVWriter.__metatable then fault.wrong_self(self, "CSVWriter", name) end
end

local function quoted(text) return '"' .. gsub(text, '"', '""') .. '"' end

local function field(writer, value, where)
  local kind = type(value)
  if value == nil or value == host.null then return writer.null end
  if kind == "string" then
    -- A text that would read as no value, or as several fields, needs quotes.
    if value == writer.null or find(value, writer.special) or find(value, "^[ \t]") or find(value, "[ \t]$") then
      return quoted(value)
    end
    return value
  end
  if kind == "number" then
    if value - value == 0 then return json_writer.number_text(nil, value) end
    error(where .. ": CSV has no form for " .. (value ~= value and "NaN" or "infinity"), 0)
  end
  if kind == "boolean" then return value and "true" or "false" end
  if host.is_text(value) then return field(writer, tostring(value), where) end
  error(string.format("%s: CSV has no form for %s", where, fault.article(host.type(value))), 0)
end

local function write_line(writer, fields, count)
  writer.put(concat(fields, writer.separator, 1, count) .. writer.newline)
end

local function names_of(row)
  local names = {}
  for name in pairs(row) do
    if type(name) ~= "string" then return nil end
    names[#names + 1] = name
  end
  table.sort(names)
  return names[1] and names or nil
end

local function begin(writer, row)
  writer.begun = true
  writer.columns = writer.columns or row and names_of(row)
  if not writer.columns then return end
  local names = {}
  for index, name in ipairs(writer.columns) do
    names[index] = field(writer, name, "header")
    writer.known[name] = true
  end
  if writer.header ~= false then write_line(writer, names, #names) end
end

local function list_row(writer, row)
  local fields, count = {}, writer.columns and #writer.columns or row.n or #row
  for index = 1, count do fields[index] = field(writer, row[index], "field " .. index) end
  write_line(writer, fields, count)
end

local function named_row(writer, row)
  local fields = {}
  for name in pairs(row) do
    if not writer.known[name] then error("the row has '" .. tostring(name) .. "', which is no column", 0) end
  end
  for index, name in ipairs(writer.columns) do fields[index] = field(writer, row[name], name) end
  write_line(writer, fields, #fields)
end

--- Writes a row: a table by column name, or a list (with `n` if it has holes and there are no columns). Raises for a
--- name that is no column, and for a value without a text form.
---@param row table
---@return moonbase.CSVWriter
function CSVWriter:row(row)
  own(self, "row")
  fault.check(row, "table", 1, "row")
  if not self.begun then begin(self, row) end
  local write = self.columns and row[1] == nil and named_row or list_row
  local ok, problem = pcall(write, self, row)
  if not ok then
    if type(problem) == "string" then fault.raise(problem) end
    error(problem, 0)
  end
  return self
end

--- Writes the header if no row did.
function CSVWriter:finish()
  own(self, "finish")
  if not self.begun then begin(self) end
end

local function new(put, options, caller)
  options = fault.options(options, write_options, caller)
  local separator = options.separator or ","
  if #separator ~= 1 or find(separator, '[\r\n"]') then
    fault.raise("'" .. caller .. "': option 'separator' is one character, and no quote")
  end
  local null = options.null or ""
  if find(null, '[\r\n"]') or find(null, separator, 1, true) then
    fault.raise("'" .. caller .. "': option 'null' has a character that would need quotes")
  end
  local columns
  if options.columns then
    columns = {}
    for index, name in ipairs(options.columns) do
      if type(name) ~= "string" then
        fault.raise(string.format("'%s': option 'columns' is a list of names, and element %d is %s", caller, index,
          fault.article(type(name))))
      end
      columns[index] = name
    end
  end
  return setmetatable({
    put = put, columns = columns, header = options.header, separator = separator, null = null,
    newline = options.newline or "\r\n", special = '["\r\n' .. gsub(separator, "%p", "%%%0") .. "]", known = {},
  }, CSVWriter)
end

return { new = new }
