-- The plugin makes the classes Book and Author, and BookshelfClasses, of this file when the target is built.
return {
  version = "1",
  entities = {
    Book = {
      class = "Book",
      attributes = {
        title = { "string", optional = false, min_length = 1 },
        pages = { "integer32", optional = false, default = 0 },
        status = { "string", optional = false, one_of = { "wanted", "reading", "read" }, default = "wanted" },
        -- The extension computes it.
        label = { "string", transient = true },
      },
      relationships = { author = { to = "Author", inverse = "books" } },
    },
    Author = {
      class = "Author",
      attributes = { name = { "string", optional = false } },
      relationships = { books = { to_many = "Book", inverse = "author", delete = "cascade" } },
      constraints = { { "name" } },
    },
  },
}
