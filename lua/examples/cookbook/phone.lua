-- Makes the store that the recipe has from a phone: notes in folders, with a history.
local model = {
  entities = {
    Note = {
      attributes = { title = "string", text = "string", modified = "date" },
      relationships = { folder = { to = "Folder", inverse = "notes" } },
    },
    Folder = {
      attributes = { name = "string" },
      relationships = { notes = { to_many = "Note", inverse = "folder", ordered = true } },
    },
  },
}
local context = moonbase.open { store = "phone.sqlite", model = model }.context
local folder = context:insert("Folder", { name = "Ideas" })
for index, title in ipairs { "A boat", "a kite", "A raft" } do
  local modified = moonbase.date("2026-05-0" .. index)
  folder.notes:add(context:insert("Note", { title = title, text = title .. " of paper", modified = modified }))
end
assert(context:save())
