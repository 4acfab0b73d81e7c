// The module for authors of stores: the graph with its requests and lists, the protocol `PersistentStore`, and the
// types of its requirements (pages, snapshots, cells, cursors, sessions, queries, plans), which `MoonbaseStore` has.
@_exported public import MoonbaseBatchRequests
@_exported public import MoonbaseFetchedResults
@_exported public import MoonbaseGraph
@_exported public import MoonbaseHistory
@_exported public import MoonbaseModel
@_exported public import MoonbaseStore
