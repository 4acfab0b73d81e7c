-- An element that is no text.
--! ends: lua.runtime
--! says: concat
return table.concat({ 1, {} })
