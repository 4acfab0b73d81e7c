// One import for an app: everything that a program which embeds the engine names.
@_exported public import MoonbaseGraph
@_exported public import MoonbaseModel
@_exported public import MoonbaseModelFormats
@_exported public import MoonbaseSQLiteStore
@_exported public import MoonbaseLuaModel
@_exported public import MoonbaseScripting
