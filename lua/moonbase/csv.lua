-- CSV (RFC 4180): quotes, separators and line breaks within quotes, all forms of line ends. An empty field is no value
-- (nil), `""` the empty string.

local _, host = ...
local fault = require "moonbase.fault"
local csv_writer = require "moonbase.csv_writer"

local byte, find, sub, gsub, match = string.byte, string.find, string.sub, string.gsub, string.match
local concat, max, min = table.concat, math.max, math.min

local csv = {}

-- The source of an iterator.
local readers = setmetatable({}, { __mode = "k" })

-- The source: a window on the text that grows when a record does not end within it -------------------------------

local window_size = 65536

-- The window grows by doubling, so that a record of any length is read in linear time.
local function more(reader)
  local wanted = max(window_size, #reader.text - reader.at + 1)
  local parts, count = { sub(reader.text, reader.at) }, 0
  while count < wanted do
    local piece = reader.pull(wanted - count)
    if not piece then
      reader.complete = true
      break
    end
    if type(piece) ~= "string" then fault.raise("a source of CSV gives text, not " .. fault.article(type(piece))) end
    parts[#parts + 1] = piece
    count = count + #piece
  end
  reader.text, reader.at = concat(parts), 1
end

local function reader_of(source, options, caller)
  if type(source) == "string" then return { text = source, at = 1, complete = true } end
  local pull
  if type(source) == "function" then
    pull = function() return source() end
  elseif source == nil then
    -- `io.open` returns nil and a message, which the caller needs to see.
    local why = type(options) == "string" and ": " .. options or ""
    fault.raise(string.format(
      "bad argument #1 to '%s' (text, open file or iterator of pieces expected, got no value%s)", caller, why))
  else
    if not fault.has_method(source, "read") then
      fault.wrong(source, "text, open file or iterator of pieces", 1, caller)
    end
    pull = function(size) return source:read(size) end
  end
  return { text = "", at = 1, complete = false, pull = pull }
end

-- Records ------------------------------------------------------------------------------------------------------

-- Raised within a reader, and caught by the function that returns rows.
local function refuse(reader, line, message) error({ line = line, message = message, of = reader }, 0) end

-- The quoted field at `at`: its text, its end, and the number of its lines; nil where the window is too small.
local function quoted(reader, at)
  local text, quote = reader.text, reader.quote
  local from, doubled, start = at + 1, false, at + 1
  while true do
    local stop = find(text, quote, from, true)
    if not stop then
      if reader.complete then refuse(reader, reader.line, "a quote is opened and not closed") end
      return nil
    end
    if stop == #text and not reader.complete then return nil end
    if byte(text, stop + 1) ~= reader.quote_byte then
      local field = sub(text, start, stop - 1)
      local lines = 0
      if find(field, "\n", 1, true) then _, lines = gsub(field, "\n", "\n") end
      if doubled then field = gsub(field, reader.doubled, reader.single) end
      return field, stop + 1, lines
    end
    doubled, from = true, stop + 2
  end
end

-- The beginning of the next record after a line end at `at`; nil where a line feed may follow a carriage return.
local function after_line(reader, at)
  if byte(reader.text, at) == 10 then return at + 1 end
  if at == #reader.text and not reader.complete then return nil end
  return byte(reader.text, at + 1) == 10 and at + 2 or at + 1
end

-- A record from the window: fields (nil for none) and their number; nothing where the window is too small.
local function record(reader)
  local text, at, count = reader.text, reader.at, 0
  local fields, lines = {}, 0
  while true do
    local field, stop
    if byte(text, at) == reader.quote_byte then
      local spanned
      field, stop, spanned = quoted(reader, at)
      if not stop then return nil end
      lines = lines + spanned
    else
      stop = find(text, reader.ends, at)
      if not stop then
        if not reader.complete then return nil end
        stop = #text + 1
      end
      field = sub(text, at, stop - 1)
      if field == reader.null then field = nil end
      if field and find(field, reader.quote, 1, true) then
        refuse(reader, reader.line + lines, "a quote within a field that does not begin with one")
      end
    end
    count = count + 1
    fields[count] = field
    local letter = byte(text, stop)
    if letter == reader.separator_byte then
      at = stop + 1
    elseif not letter then
      if not reader.complete then return nil end
      reader.next_at, reader.next_line = stop, reader.line + lines
      return fields, count
    elseif letter == 10 or letter == 13 then
      local next_at = after_line(reader, stop)
      if not next_at then return nil end
      reader.next_at, reader.next_line = next_at, reader.line + lines + 1
      return fields, count
    else
      refuse(reader, reader.line + lines, "a separator or a line end must follow the closing quote")
    end
  end
end

-- After a fault, skips to the next line that begins outside of the faulty text.
local function skip_line(reader)
  local stop = find(reader.text, "\n", reader.at, true)
  while not stop and not reader.complete do
    more(reader)
    stop = find(reader.text, "\n", reader.at, true)
  end
  reader.from, reader.at, reader.line = reader.at, (stop or #reader.text) + 1, reader.line + 1
end

-- Skips empty lines; false where the window is too small to decide.
local function skip_empty_lines(reader)
  local letter = byte(reader.text, reader.at)
  while letter == 10 or letter == 13 do
    local next_at = after_line(reader, reader.at)
    if not next_at then return false end
    reader.at, reader.line = next_at, reader.line + 1
    letter = byte(reader.text, reader.at)
  end
  return letter ~= nil or reader.complete
end

local function next_record(reader)
  while true do
    -- With a single column an empty line is a row without a value.
    if reader.width == 1 or skip_empty_lines(reader) then
      if reader.at > #reader.text and reader.complete then return nil end
      local fields, count = record(reader)
      if fields then
        local line = reader.line
        reader.from, reader.at, reader.line = reader.at, reader.next_at, reader.next_line
        return fields, count, line
      end
    end
    more(reader)
  end
end

-- Rows ---------------------------------------------------------------------------------------------------------

local function check_header(reader, names, count, line)
  local seen = {}
  for index = 1, count do
    local name = names[index]
    if name == nil or name == "" then refuse(reader, line, "column " .. index .. " has no name") end
    if seen[name] then refuse(reader, line, string.format("two columns are named %q", name)) end
    seen[name] = true
  end
  reader.names, reader.width = names, count
end

local function start(reader)
  reader.started = true
  if not reader.complete then more(reader) end
  if sub(reader.text, 1, 3) == "\xEF\xBB\xBF" then reader.at = 4 end
  if reader.header ~= true then return end
  reader.in_header = true
  local names, count, line = next_record(reader)
  if names then check_header(reader, names, count, line) end
  reader.in_header = false
end

local function next_row(reader)
  if not reader.started then start(reader) end
  local fields, count, line = next_record(reader)
  if not fields then return nil end
  local names = reader.names
  if not names then
    fields.n = count
    -- Without a value the row would be taken for a map with a field `n`.
    return next(fields) == "n" and next(fields, "n") == nil and host.list(fields) or fields, line
  end
  if count ~= reader.width and not reader.ragged then
    local noun = count == 1 and "field" or "fields"
    refuse(reader, line, string.format("%d %s where %d are expected", count, noun, reader.width))
  end
  local row = {}
  for index = 1, min(count, reader.width) do row[names[index]] = fields[index] end
  return row, line
end

---@class moonbase.CSVReadOptions
---@field header? boolean|string[] default true: see `rows`
---@field separator? string one character; default ","
---@field quote? string one character; default '"'
---@field null? string the unquoted field for no value; default: the empty field
---@field ragged? boolean rows may have more or fewer fields than there are columns; default false
---@field on_fault? fun(fault: moonbase.Fault) gets the fault of a row, which is skipped; default: raises

local read_options = {
  header = "boolean|table", separator = "string", quote = "string", null = "string", ragged = "boolean",
  on_fault = "function",
}

local function single(options, key, default, caller)
  local character = options[key] or default
  if #character ~= 1 or find(character, "[\r\n]") then
    fault.raise(string.format("'%s': option '%s' is one character", caller, key))
  end
  return character
end

local function open(source, options, caller)
  local reader = reader_of(source, options, caller)
  options = fault.options(options, read_options, caller)
  local separator = single(options, "separator", ",", caller)
  reader.quote = single(options, "quote", '"', caller)
  if separator == reader.quote then fault.raise("'" .. caller .. "': separator and quote are the same") end
  reader.separator_byte, reader.quote_byte = byte(separator), byte(reader.quote)
  -- A quote is escaped by doubling it; in a pattern both forms need escapes.
  reader.single = gsub(reader.quote, "%%", "%%%%")
  reader.doubled = gsub(reader.quote .. reader.quote, "%p", "%%%0")
  reader.ends = "[\r\n" .. gsub(separator, "%p", "%%%0") .. "]"
  reader.null, reader.ragged, reader.line = options.null or "", options.ragged, 1
  reader.header = options.header == nil or options.header
  if type(reader.header) == "table" then
    local ok, problem = pcall(check_header, reader, reader.header, #reader.header, 0)
    if not ok then fault.raise("'" .. caller .. "': " .. problem.message) end
  end
  return reader, options.on_fault
end

-- The result of a reader's function; or nil, nil and a fault, behind whose line the reader stands then.
local function try(reader, body)
  local ok, row, line = pcall(body, reader)
  if ok then return row, line end
  if type(row) ~= "table" or row.of ~= reader then error(row, 0) end
  if row.line >= reader.line then skip_line(reader) end
  local problem = fault.new { line = row.line, message = row.message }
  if reader.in_header then
    -- Without its header a text has no rows.
    reader.text, reader.at, reader.complete = "", 1, true
  else
    problem.record = match(sub(reader.text, reader.from, reader.at - 1), "^(.-)[\r\n]*$")
  end
  return nil, nil, problem
end

--- Iterates over the rows of a text, an open file, or an iterator that returns pieces of text, without reading all of
--- it first. Returns each row with the line at which it begins.
---
--- The first record names the columns, and rows are tables by name; `header` may also be a list of names. With
--- `header = false` rows are lists with `n`, the number of their fields. Empty lines are skipped, except with a single
--- column, where an empty line is a row without a value.
---
--- ```lua
--- for row, line in csv.rows(assert(io.open("people.csv"))) do print(line, row.name) end
--- ```
---@param source string|file*|fun(): string?
---@param options? moonbase.CSVReadOptions
---@return fun(): table, integer
function csv.rows(source, options)
  local reader, on_fault = open(source, options, "rows")
  local function rows()
    while true do
      local row, line, problem = try(reader, next_row)
      if not problem then return row, line end
      if not on_fault then error(problem, 0) end
      on_fault(problem)
    end
  end
  readers[rows] = reader
  return rows
end

---@class moonbase.CSVForm
---@field columns? string[] nil for rows without names
---@field separator string
---@field null string

--- How an iterator of `rows` reads, for who writes the like of it; nil for any other function. The header is read where
--- that is not done: a mistake in it is raised as a fault.
---@param rows function
---@return moonbase.CSVForm?
function csv.form(rows)
  fault.check(rows, "function", 1, "form")
  local reader = readers[rows]
  if not reader then return nil end
  if not reader.started then
    local _, _, problem = try(reader, start)
    if problem then error(problem, 0) end
  end
  local columns = reader.names and table.move(reader.names, 1, reader.width, 1, {})
  return { columns = columns, separator = string.char(reader.separator_byte), null = reader.null }
end

--- All rows of a text, or nil and a fault.
---@param text string
---@param options? moonbase.CSVReadOptions
---@return table[]? rows
---@return moonbase.Fault? fault
function csv.decode(text, options)
  fault.check(text, "string", 1, "decode")
  local reader, on_fault = open(text, options, "decode")
  local rows = {}
  while true do
    local row, _, problem = try(reader, next_row)
    if row then
      rows[#rows + 1] = row
    elseif not problem then
      return rows[1] and rows or host.list(rows)
    elseif on_fault then
      on_fault(problem)
    else
      return nil, problem
    end
  end
end

--- The csv text of rows, which are tables by column name, or lists. Raises for values without a text form.
---@param rows table[]
---@param options? moonbase.CSVWriteOptions
---@return string
function csv.encode(rows, options)
  fault.check(rows, "table", 1, "encode")
  local parts = {}
  local writer = csv_writer.new(function(text) parts[#parts + 1] = text end, options, "encode")
  for index = 1, #rows do
    if type(rows[index]) ~= "table" then
      fault.raise(string.format("bad argument #1 to 'encode' (list of tables expected, got %s as element %d)",
        fault.got(rows[index]), index))
    end
    writer:row(rows[index])
  end
  writer:finish()
  return concat(parts)
end

--- Writes rows one by one to an open file, or to a function that takes text.
---
--- ```lua
--- local writer = csv.writer(assert(io.open("people.csv", "w")), { columns = { "name", "age" } })
--- writer:row { name = "Scarlet", age = 32 }
--- ```
---@param target file*|fun(text: string)
---@param options? moonbase.CSVWriteOptions
---@return moonbase.CSVWriter
function csv.writer(target, options)
  if type(target) == "function" then return csv_writer.new(target, options, "writer") end
  if not fault.has_method(target, "write") then fault.wrong(target, "open file or function", 1, "writer") end
  return csv_writer.new(function(text)
    local ok, problem = target:write(text)
    if not ok then error(problem, 0) end
  end, options, "writer")
end

return csv
