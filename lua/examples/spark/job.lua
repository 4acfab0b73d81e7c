-- Gives each reading a level. The executors of Spark work on the chunks:
--
--   spark-submit lua/examples/spark/driver.py lua/examples/spark/job.lua 'postgresql://ann@db/plant?schema=readings'
local levels = require "levels"

return {
  request = "Reading",
  chunk = function(readings)
    for _, reading in ipairs(readings) do reading.level = levels.of(reading.celsius) end
  end,
}
