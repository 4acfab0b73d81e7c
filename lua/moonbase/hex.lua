-- Bytes as hexadecimal digits.

local fault = require "moonbase.fault"

local find, format, gsub, sub = string.find, string.format, string.gsub, string.sub

local hex = {}

local lower, upper, bytes_of = {}, {}, {}
for code = 0, 255 do
  local letter = string.char(code)
  lower[letter], upper[letter] = format("%02x", code), format("%02X", code)
  local high, low = format("%x", code >> 4), format("%x", code & 15)
  for _, first in ipairs { high, high:upper() } do
    for _, second in ipairs { low, low:upper() } do bytes_of[first .. second] = letter end
  end
end

---@class moonbase.HexOptions
---@field upper? boolean digits A to F; default false

--- Two digits for each byte.
---@param bytes string
---@param options? moonbase.HexOptions
---@return string
function hex.encode(bytes, options)
  fault.check(bytes, "string", 1, "encode")
  options = fault.options(options, { upper = "boolean" }, "encode")
  return (gsub(bytes, ".", options.upper and upper or lower))
end

--- The bytes of hexadecimal digits, or nil and a fault.
---@param text string
---@return string? bytes
---@return moonbase.Fault? fault
function hex.decode(text)
  fault.check(text, "string", 1, "decode")
  local bad = find(text, "%X")
  if bad then
    return nil, fault.new { message = format("%q is no hexadecimal digit", sub(text, bad, bad)), offset = bad }
  end
  if #text % 2 == 1 then return nil, fault.new { message = "a single digit is left over", offset = #text } end
  return (gsub(text, "..", bytes_of))
end

return hex
