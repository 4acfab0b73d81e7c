---@meta
-- Values for which Lua has no type. All support comparison, `tostring` and `..`; `value:key()` is a key for tables.

---```lua
---print(ann:id().entity, ann:id().is_temporary)  --> Person false
---```
---@class moonbase.ObjectID
---@field entity string the name of the object's entity
---@field is_temporary boolean whether the object has never been saved
local ObjectID = {}

---A text that serves as a key of a table.
---```lua
---local seen = { [ann:id():key()] = true }
---print(seen[ann:id():key()])  --> true
---```
---@return string
function ObjectID:key() end

---```lua
---local date = moonbase.date("2001-01-01T00:00:10Z")
---print(date.unix, date.reference)  --> 978307210.0 10.0
---```
---@class moonbase.Date
---@field unix number seconds since 1970
---@field reference number seconds since 2001, as stored
local Date = {}

---A number that serves as a key of a table.
---```lua
---local day = moonbase.date("2026-05-01")
---print(({ [day:key()] = "May Day" })[moonbase.date("2026-05-01"):key()])  --> May Day
---```
---@return number
function Date:key() end

---The module `moonbase.date`, whose calendar is documented in its source. A call with a text returns the date, or
---raises.
---@class moonbase.DateModule
---@overload fun(text: string): moonbase.Date
local DateModule = {}

---The date of a number of seconds since 1970.
---```lua
---print(moonbase.date.unix(0))  --> 1970-01-01T00:00:00.000Z
---```
---@param seconds number seconds since 1970
---@return moonbase.Date
function DateModule.unix(seconds) end

---The date of a number of seconds since 2001, as stores keep dates.
---```lua
---print(moonbase.date.reference(0).unix)  --> 978307200.0
---```
---@param seconds number seconds since 2001
---@return moonbase.Date
function DateModule.reference(seconds) end

---The date of a text; nil and an error where the text is no date.
---```lua
---print(moonbase.date.parse("2026-05-01") < moonbase.date.now())  --> true
---print((moonbase.date.parse("yesterday")))  --> nil
---```
---@param text string ISO 8601
---@return moonbase.Date? date
---@return moonbase.Error? err
function DateModule.parse(text) end

---Not in the preset `pure`, which has no clock.
---```lua
---print(moonbase.date.now() > moonbase.date("2026-01-01"))  --> true
---```
---@return moonbase.Date
function DateModule.now() end

---@class moonbase.Decimal
local Decimal = {}

---A text that serves as a key of a table.
---```lua
---print(({ [moonbase.decimal("1.50"):key()] = "half" })[moonbase.decimal("1.5"):key()])  --> half
---```
---@return string
function Decimal:key() end

---The nearest number.
---```lua
---print(moonbase.decimal("0.1"):number())  --> 0.1
---```
---@return number
function Decimal:number() end

---The decimal without its sign.
---```lua
---print(moonbase.decimal("-2.50"):abs())  --> 2.5
---```
---@return moonbase.Decimal
function Decimal:abs() end

---The greatest whole decimal that is not greater.
---```lua
---print(moonbase.decimal("-2.5"):floor())  --> -3
---```
---@return moonbase.Decimal
function Decimal:floor() end

---A call with a text or an integer returns the decimal. A text that would lose digits (more than 38, or beyond the
---powers of ten from -128 to 127) is an error.
---@class moonbase.DecimalModule
---@overload fun(value: string|integer): moonbase.Decimal
local DecimalModule = {}

---The decimal of a text; nil and an error where the text is no decimal.
---```lua
---print(moonbase.decimal.parse("12.30"))  --> 12.3
---```
---@param text string
---@return moonbase.Decimal? decimal
---@return moonbase.Error? err
function DecimalModule.parse(text) end

---@class moonbase.UUID
local UUID = {}

---A text that serves as a key of a table.
---```lua
---local id = moonbase.uuid("6F9619FF-8B86-D011-B42D-00C04FC964FF")
---print(id:key() == moonbase.uuid(tostring(id)):key())  --> true
---```
---@return string
function UUID:key() end

---A call with a text returns the UUID, or raises; without a text, a new UUID.
---@class moonbase.UUIDModule
---@overload fun(text?: string): moonbase.UUID
local UUIDModule = {}

---The UUID of a text; nil and an error where the text is no UUID.
---```lua
---print((moonbase.uuid.parse("none")))  --> nil
---```
---@param text string
---@return moonbase.UUID? uuid
---@return moonbase.Error? err
function UUIDModule.parse(text) end

---@class moonbase.URI
local URI = {}

---A text that serves as a key of a table.
---```lua
---print(moonbase.uri("https://example.org"):key() == moonbase.uri("https://example.org"):key())  --> true
---```
---@return string
function URI:key() end

---A call with a text returns the URI, or raises.
---@class moonbase.URIModule
---@overload fun(text: string): moonbase.URI
local URIModule = {}

---The URI of a text; nil and an error where the text is no URI.
---```lua
---print(moonbase.uri.parse("https://example.org/a"))  --> https://example.org/a
---```
---@param text string
---@return moonbase.URI? uri
---@return moonbase.Error? err
function URIModule.parse(text) end
