-- A rule for books, and a derived attribute. The file may be changed while the service runs.
local longest = 5000

return {
  name = "books",
  version = "1.0",
  entities = {
    Book = {
      validate = {
        pages = function(pages) return pages <= longest, "must be " .. longest .. " at most" end,
      },
      derived = {
        label = {
          type = "string",
          inputs = { "title", "author.name" },
          pure = true,
          get = function(title, author) return author and title .. " (" .. author .. ")" or title end,
        },
      },
    },
  },
}
