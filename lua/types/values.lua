---@meta
-- Values that Lua has no type for. All compare, print and join with `..`; `value:key()` serves as a table's key.

---@class moonbase.ObjectID
---@field entity string the name of the object's entity
---@field is_temporary boolean whether the object was never saved
local ObjectID = {}

---@return string
function ObjectID:key() end

---@class moonbase.Date
---@field unix number seconds since 1970
---@field reference number seconds since 2001, as stored
local Date = {}

---@return number
function Date:key() end

---@class moonbase.DateModule
local DateModule = {}

---@param seconds number seconds since 1970
---@return moonbase.Date
function DateModule.unix(seconds) end

---@param seconds number seconds since 2001
---@return moonbase.Date
function DateModule.reference(seconds) end

---@param text string ISO 8601
---@return moonbase.Date? date
---@return moonbase.Error? err
function DateModule.parse(text) end

---Not in the preset `pure`, which has no clock.
---@return moonbase.Date
function DateModule.now() end

---@class moonbase.Decimal
local Decimal = {}

---@return string
function Decimal:key() end

---The nearest number.
---@return number
function Decimal:number() end

---The decimal without its sign.
---@return moonbase.Decimal
function Decimal:abs() end

---The greatest whole decimal that is not greater.
---@return moonbase.Decimal
function Decimal:floor() end

---A text that does not fit with all of its digits (38, and powers of ten from -128 to 127) is an error.
---@param value string|integer
---@return moonbase.Decimal
function moonbase.decimal(value) end

---@class moonbase.UUID
local UUID = {}

---@return string
function UUID:key() end

---@param text? string default: a new one
---@return moonbase.UUID
function moonbase.uuid(text) end

---@class moonbase.URI
local URI = {}

---@return string
function URI:key() end

---@param text string
---@return moonbase.URI
function moonbase.uri(text) end
