return {
  entities = {
    Reading = {
      attributes = {
        sensor = { "string", optional = false },
        celsius = { "double", optional = false },
        level = "string",
      },
      indexes = { { "sensor" } },
    },
  },
}
