-- Reads readings as lines of JSON, checks them by the model, and writes them with their levels. No store is needed:
--
--   moonbase run --model lua/examples/spark/model.lua lua/examples/spark/lines.lua < readings.ndjson
local json = require "moonbase.json"
local levels = require "levels"

local context = moonbase.context
for line in io.lines() do
  local reading = context:insert("Reading", json.decode(line))
  reading.level = levels.of(reading.celsius)
  assert(context:save())
  print(json.encode { sensor = reading.sensor, celsius = reading.celsius, level = reading.level })
  context:delete(reading)
end
assert(context:save())
