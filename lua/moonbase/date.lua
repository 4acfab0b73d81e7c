-- Dates: the values of date attributes, with their calendar. The module has all functions of `moonbase.date`, and more.
-- A date is an instant. Years, days and hours are those of UTC, or of a zone given as an offset ("+02:00", or seconds
-- east of UTC).

local _, host = ...
local fault = require "moonbase.fault"

local format, match = string.format, string.match
local check = fault.check

-- A host may provide one table for both.
---@class moonbase.DateModule
local date = host.open_date or {}
if date ~= host.date then
  for name, value in pairs(host.date) do date[name] = value end
end
local unix = host.date.unix

-- The calendar: whole microseconds since 1970, and days of the proleptic Gregorian calendar -----------------------

local day_length = 86400000000

local function days_from(year, month, day)
  -- Years begin in March, so that leap days come last.
  if month <= 2 then year = year - 1 end
  local era, year_of_era = year // 400, year % 400
  local day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
  return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468
end

local function civil(days)
  local era, rest = (days + 719468) // 146097, (days + 719468) % 146097
  local year_of_era = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
  local day_of_year = rest - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
  local shifted = (5 * day_of_year + 2) // 153
  local month = shifted < 10 and shifted + 3 or shifted - 9
  return year_of_era + era * 400 + (month <= 2 and 1 or 0), month, day_of_year - (153 * shifted + 2) // 5 + 1
end

--- Whether a year has 366 days.
---@param year integer
---@return boolean
function date.is_leap(year)
  check(year, "integer", 1, "is_leap")
  return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
end

local lengths = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

--- The number of days of a month.
---@param year integer
---@param month integer
---@return integer
function date.days_in_month(year, month)
  check(year, "integer", 1, "days_in_month")
  check(month, "integer", 2, "days_in_month")
  if not lengths[month] then
    fault.raise(format("bad argument #2 to 'days_in_month' (a month from 1 to 12 expected, got %d)", month))
  end
  return month == 2 and date.is_leap(year) and 29 or lengths[month]
end

-- `position` is the argument's position, nil for an option or a field.
local function offset_of(offset, caller, position)
  if offset == nil then return 0 end
  if math.type(offset) == "integer" and math.abs(offset) < 86400 then return offset end
  local sign, hours, minutes = match(type(offset) == "string" and offset or "", "^([+-])(%d%d):?(%d%d)$")
  if offset == "Z" then return 0 end
  if not sign or tonumber(hours) > 23 or tonumber(minutes) > 59 then
    local got = type(offset) == "string" and format("%q", offset:sub(1, 40)) or fault.shown(offset)
    local wanted = "an offset such as \"+02:00\", or seconds,"
    if position then
      fault.raise(format("bad argument #%d to '%s' (%s expected, got %s)", position, caller, wanted, got))
    end
    fault.raise(format("'%s': %s expected, got %s", caller, wanted, got))
  end
  return (tonumber(hours) * 3600 + tonumber(minutes) * 60) * (sign == "-" and -1 or 1)
end

local function micros_of(value, caller)
  if not date.is(value) then
    local got = value == nil and "no value" or host.type(value)
    fault.raise(format("bad argument #1 to '%s' (date expected, got %s)", caller, got))
  end
  local seconds = value.unix
  if not (seconds > -9e12 and seconds < 9e12) then fault.raise(format("'%s': the date is out of range", caller)) end
  return math.floor(seconds * 1e6 + 0.5)
end

--- Whether a value is a date.
---@param value any
---@return boolean
function date.is(value) return host.type(value) == "date" end

-- Fields -------------------------------------------------------------------------------------------------------

---@class moonbase.DateFields
---@field year integer
---@field month integer 1 to 12
---@field day integer 1 to 31
---@field hour integer
---@field minute integer
---@field second number an integer if the date has no fraction of a second
---@field weekday? integer 1 (Monday) to 7 (Sunday)
---@field yearday? integer 1 to 366
---@field week? integer the week of ISO 8601, 1 to 53
---@field week_year? integer the year of the week
---@field offset? integer seconds east of UTC

local function week_of(days, year, yearday)
  local weekday = (days + 3) % 7 + 1
  local week = (yearday - weekday + 10) // 7
  local function weeks(of)
    -- A year has 53 weeks if it begins or ends on a Thursday.
    local first = (days_from(of, 1, 1) + 3) % 7 + 1
    return (first == 4 or first == 3 and date.is_leap(of)) and 53 or 52
  end
  if week < 1 then return weekday, weeks(year - 1), year - 1 end
  if week > weeks(year) then return weekday, 1, year + 1 end
  return weekday, week, year
end

local function fields_of(micros, seconds_east)
  micros = micros + seconds_east * 1000000
  local days, rest = micros // day_length, micros % day_length
  local year, month, day = civil(days)
  local yearday = days - days_from(year, 1, 1) + 1
  local weekday, week, week_year = week_of(days, year, yearday)
  local second = rest % 60000000
  return {
    year = year, month = month, day = day, hour = rest // 3600000000, minute = rest // 60000000 % 60,
    second = second % 1000000 == 0 and second // 1000000 or second / 1e6,
    weekday = weekday, yearday = yearday, week = week, week_year = week_year, offset = seconds_east,
  }
end

--- The fields of calendar and clock at a date.
---@param value moonbase.Date
---@param offset? string|integer
---@return moonbase.DateFields
function date.fields(value, offset) return fields_of(micros_of(value, "fields"), offset_of(offset, "fields", 2)) end

-- The result of `fields` may be given back: fields that follow from the rest are passed over.
local new_fields = { year = true, month = true, day = true, hour = true, minute = true, second = true, offset = true,
  weekday = true, yearday = true, week = true, week_year = true }

local function field(fields, name, default, least, most)
  local value = fields[name]
  if value == nil then value = default end
  local integer = math.tointeger(value)
  if not integer or integer < least or integer > most then
    fault.raise(format("'new': %s is %s to %s, not %s", name, least, most, fault.shown(value)))
  end
  return integer
end

---@class moonbase.NewDate
---@field year integer
---@field month? integer
---@field day? integer
---@field hour? integer
---@field minute? integer
---@field second? number
---@field offset? string|integer

--- The date of calendar fields; missing fields are the first month, day, hour, minute, second. Raises for a day that
--- does not exist.
---@param fields moonbase.NewDate
---@return moonbase.Date
function date.new(fields)
  check(fields, "table", 1, "new")
  for name in pairs(fields) do
    if not new_fields[name] then fault.raise(format("'new' has no field '%s'", tostring(name))) end
  end
  local year, month = field(fields, "year", nil, -271821, 275760), field(fields, "month", 1, 1, 12)
  local day = field(fields, "day", 1, 1, date.days_in_month(year, month))
  local hour, minute = field(fields, "hour", 0, 0, 23), field(fields, "minute", 0, 0, 59)
  local second = fields.second or 0
  if not math.type(second) or not (second >= 0 and second < 60) then
    fault.raise("'new': second is 0 to 60, not " .. fault.shown(second))
  end
  local seconds = days_from(year, month, day) * 86400 + hour * 3600 + minute * 60 - offset_of(fields.offset, "new")
  return unix(seconds + second)
end

-- Arithmetic ---------------------------------------------------------------------------------------------------

---@class moonbase.Duration
---@field years? integer
---@field months? integer
---@field weeks? integer
---@field days? integer
---@field hours? number
---@field minutes? number
---@field seconds? number

local duration_fields = {
  years = "integer", months = "integer", weeks = "integer", days = "integer", hours = "integer|float",
  minutes = "integer|float", seconds = "integer|float",
}

--- The date after a duration (before the date if negative). Years and months keep the day, or use the last day of a
--- shorter month; days keep the time of day.
---@param value moonbase.Date
---@param duration moonbase.Duration
---@param offset? string|integer
---@return moonbase.Date
function date.add(value, duration, offset)
  local micros, seconds_east = micros_of(value, "add"), offset_of(offset, "add", 3)
  check(duration, "table", 2, "add")
  fault.options(duration, duration_fields, "add")
  local years, months = duration.years or 0, duration.months or 0
  local days = (duration.weeks or 0) * 7 + (duration.days or 0)
  if math.max(math.abs(years), math.abs(months), math.abs(days)) > 200000000 then
    fault.raise("'add': the duration is out of range")
  end
  if years ~= 0 or months ~= 0 then
    local here = micros + seconds_east * 1000000
    local year, month, day = civil(here // day_length)
    local count = (year + years) * 12 + month - 1 + months
    year, month = count // 12, count % 12 + 1
    day = math.min(day, date.days_in_month(year, month))
    micros = days_from(year, month, day) * day_length + here % day_length - seconds_east * 1000000
  end
  local seconds = (duration.hours or 0) * 3600 + (duration.minutes or 0) * 60 + (duration.seconds or 0)
  return unix((micros + days * day_length) / 1e6 + seconds)
end

local units = { year = true, quarter = true, month = true, week = true, day = true, hour = true, minute = true }

--- The beginning of the year, quarter, month, week (from Monday), day, hour or minute that contains a date.
---@param value moonbase.Date
---@param unit "year"|"quarter"|"month"|"week"|"day"|"hour"|"minute"
---@param offset? string|integer
---@return moonbase.Date
function date.start_of(value, unit, offset)
  local micros, seconds_east = micros_of(value, "start_of"), offset_of(offset, "start_of", 3)
  check(unit, "string", 2, "start_of")
  if not units[unit] then
    fault.raise(format("bad argument #2 to 'start_of' (a unit such as \"month\" expected, got %q)", unit:sub(1, 40)))
  end
  local here = micros + seconds_east * 1000000
  local start
  if unit == "minute" then
    start = here // 60000000 * 60000000
  elseif unit == "hour" then
    start = here // 3600000000 * 3600000000
  else
    local days = here // day_length
    local year, month = civil(days)
    if unit == "week" then
      days = days - (days + 3) % 7
    elseif unit == "month" then
      days = days_from(year, month, 1)
    elseif unit == "quarter" then
      days = days_from(year, (month - 1) // 3 * 3 + 1, 1)
    elseif unit == "year" then
      days = days_from(year, 1, 1)
    end
    start = days * day_length
  end
  return unix((start - seconds_east * 1000000) / 1e6)
end

-- Text ---------------------------------------------------------------------------------------------------------

local function offset_text(seconds_east)
  local minutes = math.abs(seconds_east) // 60
  return format("%s%02d:%02d", seconds_east < 0 and "-" or "+", minutes // 60, minutes % 60)
end

local function year_text(year)
  if year >= 0 and year <= 9999 then return format("%04d", year) end
  return format("%s%06d", year < 0 and "-" or "+", math.abs(year))
end

---@class moonbase.DateTextOptions
---@field offset? string|integer the zone; default: UTC
---@field digits? integer of the fraction of a second, 0 to 6; default 3, as `tostring` writes it
---@field only? "date"|"time"

--- The date as ISO 8601 text, "2001-01-01T00:00:00.000Z".
---@param value moonbase.Date
---@param options? moonbase.DateTextOptions
---@return string
function date.text(value, options)
  local micros = micros_of(value, "text")
  options = fault.options(options, { offset = "string|integer", digits = "integer", only = "string" }, "text")
  local seconds_east, digits = offset_of(options.offset, "text"), options.digits or 3
  if digits < 0 or digits > 6 then fault.raise("'text': option 'digits' is 0 to 6") end
  local step = math.tointeger(10 ^ (6 - digits))
  micros = (micros + step // 2) // step * step
  local fields = fields_of(micros, seconds_east)
  local day = format("%s-%02d-%02d", year_text(fields.year), fields.month, fields.day)
  if options.only == "date" then return day end
  local whole = math.floor(fields.second)
  local time = format("%02d:%02d:%02d", fields.hour, fields.minute, whole)
  if digits > 0 then time = time .. "." .. format("%06d", micros % 1000000):sub(1, digits) end
  if options.only == "time" then return time end
  if options.only then fault.raise("'text': option 'only' is \"date\" or \"time\"") end
  return day .. "T" .. time .. (options.offset == nil and "Z" or offset_text(seconds_east))
end

local month_names = { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
  "November", "December" }
local day_names = { "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday" }

local directives = {
  Y = function(f) return year_text(f.year) end, m = function(f) return format("%02d", f.month) end,
  d = function(f) return format("%02d", f.day) end, H = function(f) return format("%02d", f.hour) end,
  M = function(f) return format("%02d", f.minute) end,
  S = function(f) return format("%02d", math.floor(f.second)) end,
  I = function(f) return format("%02d", (f.hour + 11) % 12 + 1) end,
  p = function(f) return f.hour < 12 and "AM" or "PM" end, y = function(f) return format("%02d", f.year % 100) end,
  j = function(f) return format("%03d", f.yearday) end, u = function(f) return tostring(f.weekday) end,
  V = function(f) return format("%02d", f.week) end, G = function(f) return year_text(f.week_year) end,
  B = function(f) return month_names[f.month] end, b = function(f) return month_names[f.month]:sub(1, 3) end,
  A = function(f) return day_names[f.weekday] end, a = function(f) return day_names[f.weekday]:sub(1, 3) end,
  F = function(f) return format("%s-%02d-%02d", year_text(f.year), f.month, f.day) end,
  T = function(f) return format("%02d:%02d:%02d", f.hour, f.minute, math.floor(f.second)) end,
  z = function(f) return (offset_text(f.offset):gsub(":", "")) end, ["%"] = function() return "%" end,
}

--- The date in a custom format: `%Y %m %d %H %M %S %I %p %y %j %u %V %G %B %b %A %a %F %T %z %%` with the meaning of
--- `os.date`, and English names.
---@param value moonbase.Date
---@param form string
---@param offset? string|integer
---@return string
function date.format(value, form, offset)
  local fields = fields_of(micros_of(value, "format"), offset_of(offset, "format", 3))
  check(form, "string", 2, "format")
  return (form:gsub("%%(.?)", function(letter)
    local write = directives[letter]
    if not write then fault.raise(format("'format' has no '%%%s'", letter)) end
    return write(fields)
  end))
end

--- The duration of ISO 8601 text such as "P1Y2M10DT2H30M" or "P2W", for `add`; or nil and a fault.
---@param text string
---@return moonbase.Duration? duration
---@return moonbase.Fault? fault
function date.parse_duration(text)
  check(text, "string", 1, "parse_duration")
  local sign, days, time = match(text, "^([+-]?)P([%dYMWD]*)(T?[%d.HMS]*)$")
  local function bad()
    return nil, fault.new { message = format("%q is no duration: P1Y2M3DT4H5M6S is expected", text:sub(1, 60)) }
  end
  if not sign or days .. time == "" or time == "T" or #text > 200 then return bad() end
  local factor, duration = sign == "-" and -1 or 1, {}
  local function take(part, names, fraction)
    local from, last = 1, 0
    while from <= #part do
      local digits, letter, stop = match(part, fraction and "^(%d+%.?%d*)(%u)()" or "^(%d+)(%u)()", from)
      local place = letter and names:find(letter, 1, true)
      local number = digits and tonumber(digits)
      if not place or place <= last or #digits > 9 then return false end
      duration[names == "YMWD" and ({ Y = "years", M = "months", W = "weeks", D = "days" })[letter]
        or ({ H = "hours", M = "minutes", S = "seconds" })[letter]] = number * factor
      from, last = stop, place
    end
    return true
  end
  if not take(days, "YMWD", false) or not take(time:sub(2), "HMS", true) then return bad() end
  return duration
end

return date
