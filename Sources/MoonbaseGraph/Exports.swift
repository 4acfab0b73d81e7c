// A program that imports the graph also works with rows, the protocol of stores and their errors, which lie below the
// graph.
@_exported public import MoonbaseStore
