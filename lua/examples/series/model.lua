-- Samples of sensors, and what they come to for each day.
return {
  version = "1",
  entities = {
    Sample = {
      attributes = {
        sensor = { "string", optional = false },
        time = { "date", optional = false },
        value = { "double", optional = false },
      },
      indexes = { byTime = { "sensor", "time" } },
    },
    Day = {
      attributes = {
        sensor = { "string", optional = false },
        day = { "date", optional = false },
        count = { "integer64", optional = false, default = 0 },
        sum = { "double", optional = false, default = 0.0 },
        low = "double",
        high = "double",
      },
      constraints = { { "sensor", "day" } },
    },
  },
}
