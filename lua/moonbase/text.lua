-- Text for people. Lua's own strings are bytes: `upper`, `#` and `<` know ASCII only. Here positions and lengths count
-- user-perceived characters (a letter with its accents is one), and the order is that of a dictionary.

local _, host = ...
local fault = require "moonbase.fault"

local byte, find, gsub, match, sub = string.byte, string.find, string.gsub, string.match, string.sub
local concat, check, format = table.concat, fault.check, string.format

local text = {}

-- Case, accents, forms -----------------------------------------------------------------------------------------

--- The text in lower case, in upper case, and with each word capitalized.
---@param s string
---@return string
function text.lower(s) return host.lower(s) end

---@param s string
---@return string
function text.upper(s) return host.upper(s) end

---@param s string
---@return string
function text.title(s) return host.title(s) end

--- The text without the differences that the options ignore: "c" case, "d" accents, as in predicates (`CONTAINS[cd]`).
--- Texts without further differences fold to equal texts, so the result can serve as a key.
---@param s string
---@param options? string "c" (the default), "d" or "cd"
---@return string
function text.fold(s, options) return host.fold(s, options or "c") end

--- The text in a Unicode normal form; texts that look the same then have the same bytes.
---@param s string
---@param form? "NFC"|"NFD"|"NFKC"|"NFKD" default "NFC"
---@return string
function text.normalize(s, form) return host.normalize(s, form or "NFC") end

--- Whether the bytes are UTF-8.
---@param s string
---@return boolean
function text.is_valid(s)
  check(s, "string", 1, "is_valid")
  return utf8.len(s) ~= nil
end

--- The text with U+FFFD in place of invalid UTF-8.
---@param s string
---@return string
function text.repair(s) return host.repair(s) end

-- Characters ---------------------------------------------------------------------------------------------------

--- The number of characters.
---@param s string
---@return integer
function text.length(s) return host.length(s) end

--- The characters, one string each.
---@param s string
---@return string[]
function text.characters(s) return host.characters(s) end

--- The characters from `first` to `last`, counted as in `string.sub`: from 1, or from the end if negative.
---@param s string
---@param first integer
---@param last? integer default -1
---@return string
function text.sub(s, first, last) return host.sub(s, first, last or -1) end

--- The text in the reverse order of its characters.
---@param s string
---@return string
function text.reverse(s)
  check(s, "string", 1, "reverse")
  local all = host.characters(s)
  local count, reversed = #all, {}
  for index = 1, count do reversed[index] = all[count - index + 1] end
  return concat(reversed)
end

local function padding(s, width, fill, name)
  check(s, "string", 1, name)
  check(width, "integer", 2, name)
  if fill ~= nil then
    check(fill, "string", 3, name)
    if host.length(fill) ~= 1 then
      fault.raise("bad argument #3 to '" .. name .. "' (one character expected, got " .. host.length(fill) .. ")")
    end
  end
  local missing = width - host.length(s)
  if missing <= 0 then return "" end
  return string.rep(fill or " ", missing)
end

--- The text padded with `fill` (one character, default a space) before or after it, to a width in characters. A longer
--- text is unchanged.
---@param s string
---@param width integer
---@param fill? string
---@return string
function text.pad_start(s, width, fill) return padding(s, width, fill, "pad_start") .. s end

---@param s string
---@param width integer
---@param fill? string
---@return string
function text.pad_end(s, width, fill) return s .. padding(s, width, fill, "pad_end") end

-- Comparing ----------------------------------------------------------------------------------------------------

--- -1, 0 or 1 by the order of a dictionary, in which the Finder sorts names: accents and case matter last, and digits
--- count as numbers ("2" before "10"). Only texts of the same characters are equal. The order is the same on all
--- machines; a locale, such as "de" or "sv", gives that language's order.
---@param one string
---@param other string
---@param locale? string
---@return integer
function text.compare(one, other, locale) return host.compare(one, other, locale or "") end

--- Sorts a list of texts in place by `compare`; `key` returns the text to compare for an element of any type.
---@generic T
---@param list T[]
---@param key? fun(element: T): string
---@param locale? string
---@return T[]
function text.sort(list, key, locale)
  check(list, "table", 1, "sort")
  fault.check_optional(key, "function", 2, "sort")
  fault.check_optional(locale, "string", 3, "sort")
  locale = locale or ""
  local compare = host.compare
  local function sortable(value, index)
    if type(value) ~= "string" then
      fault.raise(format("bad argument #1 to 'sort' (%s %d is %s, not a string)",
        key and "the key of element" or "element", index, value == nil and "nil" or fault.article(type(value))))
    end
    return value
  end
  if not key then
    for index = 1, #list do sortable(list[index], index) end
    table.sort(list, function(one, other) return compare(one, other, locale) < 0 end)
    return list
  end
  local decorated = {}
  for index, element in ipairs(list) do decorated[index] = { sortable(key(element), index), index, element } end
  table.sort(decorated, function(one, other)
    local order = compare(one[1], other[1], locale)
    -- Equal elements keep their order.
    if order == 0 then return one[2] < other[2] end
    return order < 0
  end)
  for index, entry in ipairs(decorated) do list[index] = entry[3] end
  return list
end

-- The two texts folded by the options; unchanged without options.
local function folded(one, other, options, name)
  check(one, "string", 1, name)
  check(other, "string", 2, name)
  if options == nil or options == "" then return one, other end
  check(options, "string", 3, name)
  if find(options, "[^cd]") then
    fault.raise(format("bad argument #3 to '%s' (\"c\", \"d\" or \"cd\" expected, got %q)", name, sub(options, 1, 40)))
  end
  return host.fold(one, options), host.fold(other, options)
end

--- Whether two texts are equal; options as for `fold`, none by default.
---@param one string
---@param other string
---@param options? string
---@return boolean
function text.equals(one, other, options)
  one, other = folded(one, other, options, "equals")
  return one == other
end

---@param s string
---@param part string
---@param options? string
---@return boolean
function text.contains(s, part, options)
  s, part = folded(s, part, options, "contains")
  return find(s, part, 1, true) ~= nil
end

---@param s string
---@param prefix string
---@param options? string
---@return boolean
function text.starts_with(s, prefix, options)
  s, prefix = folded(s, prefix, options, "starts_with")
  return sub(s, 1, #prefix) == prefix
end

---@param s string
---@param suffix string
---@param options? string
---@return boolean
function text.ends_with(s, suffix, options)
  s, suffix = folded(s, suffix, options, "ends_with")
  return #suffix <= #s and sub(s, #s - #suffix + 1) == suffix
end

-- White space --------------------------------------------------------------------------------------------------

-- Unicode's white space, beside ASCII's, by its bytes.
local wide_spaces = { ["\u{85}"] = true, ["\u{A0}"] = true, ["\u{1680}"] = true, ["\u{2028}"] = true,
  ["\u{2029}"] = true, ["\u{202F}"] = true, ["\u{205F}"] = true, ["\u{3000}"] = true }
for code = 0x2000, 0x200A do wide_spaces[utf8.char(code)] = true end

-- The position of the first character that is not white space, at `at` or later.
local function skip_spaces(s, at)
  while true do
    at = find(s, "[^ \t-\r]", at)
    if not at then return #s + 1 end
    if byte(s, at) < 0x80 then return at end
    if wide_spaces[sub(s, at, at + 1)] then
      at = at + 2
    elseif wide_spaces[sub(s, at, at + 2)] then
      at = at + 3
    else
      return at
    end
  end
end

-- The end of the last character that is not white space.
local function last_of(s, from)
  local at = #s
  while at >= from do
    local letter = byte(s, at)
    if letter == 32 or letter >= 9 and letter <= 13 then
      at = at - 1
    elseif letter < 0x80 then
      return at
    elseif wide_spaces[sub(s, at - 1, at)] then
      at = at - 2
    elseif wide_spaces[sub(s, at - 2, at)] then
      at = at - 3
    else
      return at
    end
  end
  return from - 1
end

--- The text without Unicode white space at both ends, at its beginning, or at its end.
---@param s string
---@return string
function text.trim(s)
  check(s, "string", 1, "trim")
  local first = skip_spaces(s, 1)
  return sub(s, first, last_of(s, first))
end

---@param s string
---@return string
function text.trim_start(s)
  check(s, "string", 1, "trim_start")
  return sub(s, skip_spaces(s, 1))
end

---@param s string
---@return string
function text.trim_end(s)
  check(s, "string", 1, "trim_end")
  return sub(s, 1, last_of(s, 1))
end

-- Parts --------------------------------------------------------------------------------------------------------

---@class moonbase.SplitOptions
---@field limit? integer the maximum number of parts; the last part is the rest
---@field omit_empty? boolean omits empty parts
---@field pattern? boolean the separator is a Lua pattern

local split_options = { limit = "integer", omit_empty = "boolean", pattern = "boolean" }

--- The parts between separators; without a separator the words between white space.
---@param s string
---@param separator? string
---@param options? moonbase.SplitOptions
---@return string[]
function text.split(s, separator, options)
  check(s, "string", 1, "split")
  options = fault.options(options, split_options, "split", 3)
  local parts = {}
  if separator == nil then
    local at = skip_spaces(s, 1)
    while at <= #s do
      if options.limit and #parts + 1 >= options.limit then
        parts[#parts + 1] = sub(s, at, last_of(s, at))
        break
      end
      -- A word ends at ASCII white space, or at the first byte of wider white space.
      local stop = at
      repeat
        stop = find(s, "[ \t-\r\xC2\xE1\xE2\xE3]", stop + 1) or #s + 1
      until stop > #s or byte(s, stop) < 0x80 or skip_spaces(s, stop) > stop
      parts[#parts + 1] = sub(s, at, stop - 1)
      at = skip_spaces(s, stop)
    end
    return parts
  end
  check(separator, "string", 2, "split")
  if separator == "" then fault.raise("bad argument #2 to 'split' (a separator has at least one character)") end
  local from, plain = 1, not options.pattern
  while not (options.limit and #parts + 1 >= options.limit) do
    local first, last = find(s, separator, from, plain)
    if not first then break end
    if last < first then fault.raise("bad argument #2 to 'split' (the pattern matches nothing at all)") end
    if first > from or not options.omit_empty then parts[#parts + 1] = sub(s, from, first - 1) end
    from = last + 1
  end
  if from <= #s or not options.omit_empty then parts[#parts + 1] = sub(s, from) end
  return parts
end

--- Iterates over the lines, which end with "\n", "\r\n" or "\r"; a line end at the end of the text begins no line.
---@param s string
---@return fun(): string?
function text.lines(s)
  check(s, "string", 1, "lines")
  local at = 1
  return function()
    if at > #s then return nil end
    local stop = find(s, "[\r\n]", at) or #s + 1
    local line = sub(s, at, stop - 1)
    at = stop + (sub(s, stop, stop + 1) == "\r\n" and 2 or 1)
    return line
  end
end

--- The text with all or the first `count` occurrences of a part replaced; neither argument is a pattern.
---@param s string
---@param part string
---@param by string
---@param count? integer
---@return string
function text.replace(s, part, by, count)
  check(s, "string", 1, "replace")
  check(part, "string", 2, "replace")
  check(by, "string", 3, "replace")
  if part == "" then fault.raise("bad argument #2 to 'replace' (a part has at least one character)") end
  if count ~= nil and not math.type(count) then fault.wrong(count, "number", 4, "replace") end
  local pieces, from, left = {}, 1, count or math.huge
  while left > 0 do
    local first, last = find(s, part, from, true)
    if not first then break end
    pieces[#pieces + 1], pieces[#pieces + 2] = sub(s, from, first - 1), by
    from, left = last + 1, left - 1
  end
  pieces[#pieces + 1] = sub(s, from)
  return concat(pieces)
end

--- A Lua pattern that matches exactly the text.
---@param s string
---@return string
function text.escape(s)
  check(s, "string", 1, "escape")
  return (gsub(s, "%p", "%%%0"))
end

--- The text cut to a width in characters, with an ellipsis if characters are missing; without the ellipsis if the width
--- has no room for it and a character. The result is never wider.
---@param s string
---@param width integer at least 0
---@param ellipsis? string default "…"
---@return string
function text.truncate(s, width, ellipsis)
  check(s, "string", 1, "truncate")
  check(width, "integer", 2, "truncate")
  if width < 0 then fault.raise("bad argument #2 to 'truncate' (a width is at least 0, got " .. width .. ")") end
  if ellipsis == nil then ellipsis = "…" else check(ellipsis, "string", 3, "truncate") end
  if host.length(s) <= width then return s end
  local room = width - host.length(ellipsis)
  if room < 1 then return host.sub(s, 1, width) end
  return host.sub(s, 1, room) .. ellipsis
end

--- Whether the text has only white space.
---@param s string
---@return boolean
function text.is_blank(s)
  check(s, "string", 1, "is_blank")
  return match(s, "^[ \t-\r]*$") ~= nil or skip_spaces(s, 1) > #s
end

return text
