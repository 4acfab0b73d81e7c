// Script values and the reader of Lua models are in a target below the graph, for programs that only read models.
@_exported public import MoonbaseLuaModel
