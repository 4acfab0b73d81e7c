-- The model of the examples in lua/types.
return {
  entities = {
    Person = {
      attributes = {
        name = { "string", optional = false },
        age = { "integer16", max = 150 },
        email = "string",
        -- Computed by rules.lua.
        label = "string",
        tags = { "transformable", transformer = "JSONTransformer" },
      },
      relationships = {
        department = { to = "Department", inverse = "people" },
        friends = { to_many = "Person", inverse = "friends" },
        tasks = { to_many = "Task", inverse = "person", ordered = true, delete = "cascade" },
      },
      fetched_properties = { adults = { "Person", "age >= 18" } },
    },
    Department = {
      attributes = { name = "string" },
      relationships = { people = { to_many = "Person", inverse = "department" } },
    },
    Task = {
      attributes = { title = "string" },
      relationships = { person = { to = "Person", inverse = "tasks" } },
    },
  },
  fetch_requests = { older_than = { "Person", "age > $AGE" } },
}
