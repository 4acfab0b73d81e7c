import MoonbaseSQL
import MoonbaseSQLite

/// The dialect of SQL that this store uses.
extension Dialect {
  /// The SQL of SQLite.
  ///
  /// Used by the store and by statements that are only tested. `greatestColumnCount` is SQLite's default limit, and
  /// `keepsRTrees` depends on how the library was built.
  package static let sqlite = Dialect(
    engine: "SQLite", placeholder: .question, truth: ("1", "0"), nullSafe: ("IS", "IS NOT"), keySets: .json,
    nullOrder: .least, collation: nil, noLimit: .negative, ignore: { " ON CONFLICT (\($0)) DO NOTHING" },
    failing: " OR ABORT",
    arithmetic: .overflowing, matching: .functions, decimals: .keys, writing: .rows,
    // A sign before a column excludes its index, and the affinity that would round the other operand.
    withoutIndex: "+",
    // SQLite 3.40 keeps a bit for each term of an order, and reads out of bounds for more terms over a `LEFT JOIN`.
    greatestOrder: 63, greatestColumnCount: 2000, keepsRTrees: Connection.hasRTrees)
}
