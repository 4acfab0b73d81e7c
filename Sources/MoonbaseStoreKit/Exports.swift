// One import for authors of stores: the graph with the protocol `PersistentStore`, and what its requirements name: pages,
// snapshots, cells, cursors, sessions, queries and plans.
@_exported public import MoonbaseGraph
@_exported public import MoonbaseModel
