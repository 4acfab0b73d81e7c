-- Versions as Debian compares them, a rule for package names, and a ratio that is computed where it is asked for.

local DebianVersion = {}
DebianVersion.__index = DebianVersion
DebianVersion.__name = "DebianVersion"

--- "1:2.30-1+b2" is epoch 1, upstream version 2.30 and revision 1+b2; nil where the text is no version.
function DebianVersion.parse(text)
  if not text:find("^[%w:.+~-]+$") then return nil end
  local epoch, rest = text:match("^(%d+):(.+)$")
  rest = rest or text
  local upstream, revision = rest:match("^(.+)%-([^-]+)$")
  upstream = upstream or rest
  if not upstream:find("^%d") then return nil end
  return setmetatable(
    { text = text, epoch = tonumber(epoch) or 0, upstream = upstream, revision = revision or "" }, DebianVersion)
end

function DebianVersion.__tostring(version) return version.text end

--- The weight of a character: `~` sorts before the end of the text, letters before all other characters.
local function weight(character)
  if character == "" then return 0 end
  if character == "~" then return -1 end
  return character:byte() + (character:find("%a") and 0 or 256)
end

--- Less than, equal to or greater than 0: stretches of text and stretches of digits in turn (Debian policy, 5.6.12).
local function compare_parts(one, other)
  local i, j = 1, 1
  while i <= #one or j <= #other do
    while one:find("^%D", i) or other:find("^%D", j) do
      local first = weight(one:match("^%D", i) or "")
      local second = weight(other:match("^%D", j) or "")
      if first ~= second then return first - second end
      i, j = i + 1, j + 1
    end
    local first, second = one:match("^%d*", i), other:match("^%d*", j)
    i, j = i + #first, j + #second
    -- Digits may be more than an integer holds: without leading zeros the longer number is the greater one.
    first, second = first:gsub("^0+", ""), second:gsub("^0+", "")
    if #first ~= #second then return #first - #second end
    if first ~= second then return first < second and -1 or 1 end
  end
  return 0
end

local function compare(one, other)
  if one.epoch ~= other.epoch then return one.epoch - other.epoch end
  local order = compare_parts(one.upstream, other.upstream)
  return order ~= 0 and order or compare_parts(one.revision, other.revision)
end

function DebianVersion.__eq(one, other) return compare(one, other) == 0 end
function DebianVersion.__lt(one, other) return compare(one, other) < 0 end
function DebianVersion.__le(one, other) return compare(one, other) <= 0 end

return {
  name = "packages",
  version = "1.0",
  requires = { moonbase = "1" },

  classes = { DebianVersion = DebianVersion },

  transformers = {
    DebianVersionTransformer = {
      class = "DebianVersion",
      transform = function(version) return version.text end,
      reverse = function(bytes) return DebianVersion.parse(bytes) end,
    },
  },

  entities = {
    Package = {
      validate = {
        name = function(value)
          return value:find("^[%l%d][%l%d+.-]+$") ~= nil,
            "must be two or more lower-case letters, digits, '+', '-' and '.', beginning with a letter or digit"
        end,
      },
      derived = {
        -- Bytes on disk for each byte that is downloaded.
        expansion = {
          type = "double", inputs = { "installedSize", "size" }, pure = true, strict = true,
          get = function(installed, size) return size > 0 and installed * 1024 / size or 0.0 end,
        },
      },
    },
    Maintainer = {
      normalize = {
        email = function(value) return value:lower() end,
      },
    },
  },
}
