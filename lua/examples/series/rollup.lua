-- Adds all samples up, a row for each sensor and day:
--
--   scripts/moonbase import Sample samples.csv --store series.sqlite --model lua/examples/series/model.lua
--   scripts/moonbase batch run lua/examples/series/rollup.lua --store series.sqlite
--
-- Ended at any moment and resumed, it has counted each sample once.
local date = require "moonbase.date"

return {
  request = "Sample",
  start = function(context)
    for day in context:fetch("Day"):each() do context:delete(day) end
  end,
  chunk = function(samples, context)
    local days = {}
    for _, sample in ipairs(samples) do
      local start = date.start_of(sample.time, "day")
      local key = sample.sensor .. " " .. tostring(start)
      local day = days[key] or context:upsert("Day", { "sensor", "day" }, { sensor = sample.sensor, day = start })
      days[key] = day
      day.count, day.sum = day.count + 1, day.sum + sample.value
      day.low = math.min(day.low or sample.value, sample.value)
      day.high = math.max(day.high or sample.value, sample.value)
    end
  end,
}
