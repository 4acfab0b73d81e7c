// The module for authors of stores: the whole graph, with the protocol `PersistentStore` and the types of its
// requirements (pages, snapshots, cells, cursors, sessions, queries, plans).
@_exported public import MoonbaseGraph
@_exported public import MoonbaseModel
