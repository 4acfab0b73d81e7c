---@meta
-- Values for which Lua has no type. All support comparison, `tostring` and `..`; `value:key()` is a key for tables.

---@class moonbase.ObjectID
---@field entity string the name of the object's entity
---@field is_temporary boolean whether the object has never been saved
local ObjectID = {}

---@return string
function ObjectID:key() end

---@class moonbase.Date
---@field unix number seconds since 1970
---@field reference number seconds since 2001, as stored
local Date = {}

---@return number
function Date:key() end

---The module `moonbase.date`, whose calendar is documented in its source. A call with a text returns the date, or
---raises.
---@class moonbase.DateModule
---@overload fun(text: string): moonbase.Date
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

---The nearest Lua number.
---@return number
function Decimal:number() end

---The decimal without its sign.
---@return moonbase.Decimal
function Decimal:abs() end

---The decimal rounded down to an integer.
---@return moonbase.Decimal
function Decimal:floor() end

---A call with a text or an integer returns the decimal. A text that would lose digits (more than 38, or beyond the
---powers of ten from -128 to 127) is an error.
---@class moonbase.DecimalModule
---@overload fun(value: string|integer): moonbase.Decimal
local DecimalModule = {}

---@param text string
---@return moonbase.Decimal? decimal
---@return moonbase.Error? err
function DecimalModule.parse(text) end

---@class moonbase.UUID
local UUID = {}

---@return string
function UUID:key() end

---A call with a text returns the UUID, or raises; without a text, a new UUID.
---@class moonbase.UUIDModule
---@overload fun(text?: string): moonbase.UUID
local UUIDModule = {}

---@param text string
---@return moonbase.UUID? uuid
---@return moonbase.Error? err
function UUIDModule.parse(text) end

---@class moonbase.URI
local URI = {}

---@return string
function URI:key() end

---A call with a text returns the URI, or raises.
---@class moonbase.URIModule
---@overload fun(text: string): moonbase.URI
local URIModule = {}

---@param text string
---@return moonbase.URI? uri
---@return moonbase.Error? err
function URIModule.parse(text) end
