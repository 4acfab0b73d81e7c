local date = require "moonbase.date"

local function d(text)
  local value, fault = date.parse(text)
  if not value then error(tostring(fault) .. ": " .. text, 2) end
  return value
end

-- A date, a duration, and the date after it.
local sums = {
  { "2024-01-31", { months = 1 }, "2024-02-29" }, { "2023-01-31", { months = 1 }, "2023-02-28" },
  { "2024-02-29", { years = 1 }, "2025-02-28" }, { "2024-03-31", { months = -1 }, "2024-02-29" },
  { "2023-12-15", { months = 13 }, "2025-01-15" }, { "2024-02-28", { days = 2 }, "2024-03-01" },
  { "2024-01-01", { weeks = -1 }, "2023-12-25" },
  { "2024-01-01T23:30", { hours = 1, minutes = -15 }, "2024-01-02T00:15" },
  { "1970-01-01", { seconds = -0.25 }, "1969-12-31T23:59:59.750" }, { "0001-01-01", { days = -1 }, "0000-12-31" },
}

local starts = {
  { "minute", "2024-08-14T13:45:00" }, { "hour", "2024-08-14T13:00" }, { "day", "2024-08-14" },
  { "week", "2024-08-12" }, { "month", "2024-08-01" }, { "quarter", "2024-07-01" }, { "year", "2024-01-01" },
}

-- A day, and its week of ISO 8601.
local weeks = {
  { "2005-01-01", 2004, 53, 6 }, { "2005-01-02", 2004, 53, 7 }, { "2005-12-31", 2005, 52, 6 },
  { "2007-01-01", 2007, 1, 1 }, { "2008-12-29", 2009, 1, 1 }, { "2009-12-31", 2009, 53, 4 },
  { "2010-01-03", 2009, 53, 7 }, { "2010-01-04", 2010, 1, 1 }, { "2024-12-30", 2025, 1, 1 },
}

return {
  ["it is the type of date attributes"] = function(t)
    t.equal(date.is(moonbase.date.unix(0)), true)
    t.equal(date.is "2001-01-01", false)
    t.equal(date.reference(0) == moonbase.date.reference(0), true)
    t.equal(date.unix(0) == d "1970-01-01", true)
    t.equal(date.now == nil, moonbase.date.now == nil)
  end,
  ["calendar fields"] = function(t)
    local f = date.fields(d "2024-08-14T13:45:30.250Z")
    t.equal(f, { year = 2024, month = 8, day = 14, hour = 13, minute = 45, second = 30.25, weekday = 3, yearday = 227,
      week = 33, week_year = 2024, offset = 0 })
    f = date.fields(d "2024-12-31T23:30:00Z", "+02:00")
    t.equal({ f.year, f.month, f.day, f.hour, f.offset }, { 2025, 1, 1, 1, 7200 })
    f = date.fields(d "1969-12-31T23:59:59Z")
    t.equal({ f.year, f.second }, { 1969, 59 })
    for _, week in ipairs(weeks) do
      f = date.fields(d(week[1]))
      t.equal({ f.week_year, f.week, f.weekday }, { week[2], week[3], week[4] }, week[1])
    end
  end,
  ["a date of fields"] = function(t)
    t.equal(tostring(date.new { year = 2024, month = 2, day = 29, hour = 1, minute = 2, second = 3.5 }),
      "2024-02-29T01:02:03.500Z")
    t.equal(tostring(date.new { year = 1969 }), "1969-01-01T00:00:00.000Z")
    t.equal(tostring(date.new { year = 2024, hour = 1, offset = "+02:00" }), "2023-12-31T23:00:00.000Z")
    t.raises("day is 1 to 28, not 29", date.new, { year = 2023, month = 2, day = 29 })
    t.raises("month is 1 to 12, not 13", date.new, { year = 2023, month = 13 })
    t.raises("year is", date.new, {})
    t.raises("'new' has no field 'mon'", date.new, { year = 2023, mon = 1 })
    t.raises("year is -271821 to 275760, not NaN", date.new, { year = 0 / 0 })
    local value = date.unix(1709251200.5)
    t.equal(date.new(date.fields(value, "+02:00")) == value, true)
    t.raises("second is 0 to 60", date.new, { year = 2023, second = 60 })
    t.raises("an offset such as \"+02:00\", or seconds, expected, got \"CET\"", date.new, { year = 2023, offset = "CET" })
  end,
  ["fields and dates give each other"] = function(t)
    for days = -800000, 3000000, 1013 do
      local value = date.unix(days * 86400 + 4711)
      t.equal(date.new(date.fields(value)) == value, true)
    end
  end,
  ["durations"] = function(t)
    for _, sum in ipairs(sums) do
      t.equal(tostring(date.add(d(sum[1]), sum[2])), tostring(d(sum[3])), sum[1])
    end
    -- The zone determines the day: in Kiribati it is already March.
    t.equal(tostring(date.add(d "2024-02-29T12:00:00Z", { months = 1 }, "+14:00")), "2024-03-31T12:00:00.000Z")
    t.raises("has no option 'day'", date.add, d "2024-01-01", { day = 1 })
    t.raises("'years' is an integer, not 1000000000, which is a float", date.add, d "2024-01-01", { years = 1e9 })
    t.raises("option 'hours' is a number, not a string", date.add, d "2024-01-01", { hours = "1" })
    t.raises("out of range", date.add, d "2024-01-01", { years = math.maxinteger })
    t.raises("date expected, got string", date.add, "2024-01-01", {})
    t.equal(date.parse_duration "P1Y2M3DT4H5M6.5S",
      { years = 1, months = 2, days = 3, hours = 4, minutes = 5, seconds = 6.5 })
    t.equal(date.parse_duration "-P2W", { weeks = -2 })
    t.equal(date.parse_duration "PT36H", { hours = 36 })
    for _, text in ipairs { "", "P", "PT", "P1", "1Y", "P1H", "PT1Y", "P1M1Y", "P1.5Y", "P1YT", "PT1S1M", "P1Y ",
      string.rep("P1Y", 1000) } do
      t.faults("is no duration", date.parse_duration, text)
    end
  end,
  ["where a day, a week, a year begins"] = function(t)
    for _, start in ipairs(starts) do
      t.equal(tostring(date.start_of(d "2024-08-14T13:45:30.250Z", start[1])), tostring(d(start[2])), start[1])
    end
    t.equal(tostring(date.start_of(d "2024-08-14T00:30:00+02:00", "day", "+02:00")), "2024-08-13T22:00:00.000Z")
    t.raises("#2 to 'start_of' (a unit such as \"month\" expected, got \"century\")", date.start_of, d "2024-01-01", "century")
    t.equal({ date.is_leap(1900), date.is_leap(2000), date.days_in_month(2023, 2) }, { false, true, 28 })
  end,
  ["text"] = function(t)
    local value = d "2024-08-14T13:45:30.256789Z"
    t.equal(date.text(value), tostring(value))
    t.equal(date.text(value, { digits = 0 }), "2024-08-14T13:45:30Z")
    t.equal(date.text(value, { digits = 6 }), "2024-08-14T13:45:30.256789Z")
    t.equal(date.text(value, { offset = "-03:30", digits = 1 }), "2024-08-14T10:15:30.3-03:30")
    t.equal(date.text(value, { only = "date" }), "2024-08-14")
    t.equal(date.text(value, { only = "time", digits = 0 }), "13:45:30")
    t.equal(date.text(d "1999-12-31T23:59:59.9996Z"), "2000-01-01T00:00:00.000Z")
    t.equal(date.text(date.new { year = -44, month = 3, day = 15 }, { only = "date" }), "-000044-03-15")
    t.equal(date.text(date.new { year = 12345 }, { only = "date" }), "+012345-01-01")
    for _, wrong in ipairs { 0 / 0, 1 / 0, -1 / 0, 1e300 } do
      t.raises("out of the range of dates", date.unix, wrong)
      t.raises("out of the range of dates", date.reference, wrong)
      t.raises("out of the range of dates", function() return date.unix(0) + wrong end)
    end
    t.raises("out of range", date.text, date.unix(9e13))
    for _, seconds in ipairs { 1e12, 9e13, -1e11, 253402300800 } do
      t.equal(date.parse(tostring(date.unix(seconds))).unix, seconds + 0.0)
    end
    t.equal(tostring(date.unix(1e12)), "+033658-09-27T01:46:40.000Z")
    t.equal(date.format(value, "%a %d %b %Y, %I:%M %p, %j %u %V/%G %z %%"),
      "Wed 14 Aug 2024, 01:45 PM, 227 3 33/2024 +0000 %")
    t.equal(date.format(value, "%A %B %y %F %T", "+12:00"), "Thursday August 24 2024-08-15 01:45:30")
    t.raises("has no '%Q'", date.format, value, "%Q")
  end,
  ["text of all kinds is read"] = function(t)
    for _, text in ipairs { "2001-01-01", "2001-01-01T00:00", "2001-01-01 00:00:00", "2001-01-01T02:00:00+02:00",
      "2001-01-01T00:00:00.000Z", "2000-12-31T24:00:00Z" } do
      t.equal(date.parse(text) == date.reference(0), true, text)
    end
    for _, text in ipairs { "", "2001-13-01", "2001-02-29", "2001-1-1", "yesterday", "2001-01-01T25:00", "20010101" } do
      local value, err = date.parse(text)
      t.equal(value, nil)
      t.equal(err.message:find("'" .. text .. "' is no date of the forms 2024-02-29, ", 1, true), 1)
    end
  end,
}
