-- Base64 (RFC 4648), with the usual alphabet or the one for URLs and file names.

local fault = require "moonbase.fault"

local byte, char, find, sub = string.byte, string.char, string.find, string.sub
local concat = table.concat

local base64 = {}

local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

-- Two letters for each value of twelve bits, and back the value of each letter.
local function alphabet(last_two)
  local all, pairs_of, values = letters .. last_two, {}, {}
  for high = 0, 63 do
    for low = 0, 63 do
      pairs_of[high << 6 | low] = sub(all, high + 1, high + 1) .. sub(all, low + 1, low + 1)
    end
    values[byte(all, high + 1)] = high
  end
  local foreign = "[^A-Za-z0-9=" .. string.gsub(last_two, "%p", "%%%0") .. "]"
  return { pairs_of = pairs_of, values = values, foreign = foreign }
end

local made = {}
local function alphabet_for(url)
  local key = url and "url" or "plain"
  made[key] = made[key] or alphabet(url and "-_" or "+/")
  return made[key]
end

---@class moonbase.Base64Options
---@field url? boolean `-` and `_` for `+` and `/`, and no padding unless asked for
---@field padding? boolean whether `=` fills up the last group; default: true without `url`

local known_options = { url = "boolean", padding = "boolean" }

local function read_options(options, caller)
  options = fault.options(options, known_options, caller)
  local padding = options.padding
  if padding == nil then padding = not options.url end
  return alphabet_for(options.url), padding
end

--- The text of bytes.
---@param bytes string
---@param options? moonbase.Base64Options
---@return string
function base64.encode(bytes, options)
  fault.check(bytes, "string", 1, "encode")
  local letters_of, padding = read_options(options, "encode")
  local pairs_of, parts, count = letters_of.pairs_of, {}, 0
  local whole = #bytes - #bytes % 3
  for at = 1, whole, 3 do
    local a, b, c = byte(bytes, at, at + 2)
    parts[count + 1] = pairs_of[a << 4 | b >> 4]
    count = count + 2
    parts[count] = pairs_of[(b & 15) << 8 | c]
  end
  local a, b = byte(bytes, whole + 1, #bytes)
  if b then
    parts[count + 1] = pairs_of[a << 4 | b >> 4] .. sub(pairs_of[(b & 15) << 8], 1, 1) .. (padding and "=" or "")
  elseif a then
    parts[count + 1] = pairs_of[a << 4] .. (padding and "==" or "")
  end
  return concat(parts)
end

local function stray(text, at)
  return fault.new { message = string.format("%q is no letter of the alphabet", sub(text, at, at)), offset = at }
end

--- The bytes of a text, or nil and what is wrong with it. White space, letters of the other alphabet, missing padding
--- and bits that no encoder would set are refused.
---@param text string
---@param options? moonbase.Base64Options
---@return string? bytes
---@return moonbase.Fault? fault
function base64.decode(text, options)
  fault.check(text, "string", 1, "decode")
  local letters_of, padding = read_options(options, "decode")
  local values, stop = letters_of.values, #text
  -- A foreign letter is reported before the errors that follow from it.
  local foreign = find(text, letters_of.foreign)
  if foreign then return nil, stray(text, foreign) end
  if padding then
    if #text % 4 ~= 0 then
      return nil, fault.new { message = "the length is no multiple of 4: padding or text is missing", offset = #text }
    end
    stop = (find(text, "==?$") or #text + 1) - 1
  end
  if stop % 4 == 1 then return nil, fault.new { message = "a single letter is left over", offset = stop } end
  local parts, count = {}, 0
  local whole = stop - stop % 4
  for at = 1, whole, 4 do
    local a, b, c, d = byte(text, at, at + 3)
    a, b, c, d = values[a], values[b], values[c], values[d]
    if not (a and b and c and d) then
      local bad = at + (not a and 0 or not b and 1 or not c and 2 or 3)
      return nil, stray(text, bad)
    end
    count = count + 1
    parts[count] = char(a << 2 | b >> 4, (b & 15) << 4 | c >> 2, (c & 3) << 6 | d)
  end
  if stop > whole then
    local a, b, c = byte(text, whole + 1, stop)
    local rest = c and 3 or 2
    a, b, c = values[a], values[b], c and values[c] or rest == 2 and 0 or nil
    if not (a and b and c) then
      local bad = whole + (not a and 1 or not b and 2 or 3)
      return nil, stray(text, bad)
    end
    if (rest == 2 and b & 15 or c & 3) ~= 0 then
      return nil, fault.new { message = "the last letter has bits that stand for nothing", offset = stop }
    end
    parts[count + 1] = sub(char(a << 2 | b >> 4, (b & 15) << 4 | c >> 2), 1, rest - 1)
  end
  return concat(parts)
end

return base64
