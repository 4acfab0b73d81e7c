-- Notes, and an index of the words in them.
return {
  version = "1",
  entities = {
    Note = {
      attributes = { title = "string", text = "string" },
      relationships = { words = { to_many = "Word", inverse = "notes" } },
    },
    Word = {
      attributes = { word = { "string", optional = false } },
      relationships = { notes = { to_many = "Note", inverse = "words" } },
      constraints = { { "word" } },
    },
  },
}
