-- The plugin generates the class Member from this file. The row `generated-class` compares it with HandWrittenMember.
local attributes = {
  firstName = { "string" },
  lastName = { "string" },
  age = { "integer64", optional = false, default = 0 },
  born = { "date" },
  height = { "double", optional = false, default = 0 },
}

return {
  version = "1",
  entities = {
    Member = {
      class = "Member",
      attributes = attributes,
    },
  },
}
