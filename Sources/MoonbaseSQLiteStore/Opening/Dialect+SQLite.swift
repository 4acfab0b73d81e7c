import MoonbaseSQL
import MoonbaseSQLite

extension Dialect {
  /// How SQLite speaks.
  static let sqlite = Dialect(
    engine: "SQLite", placeholder: .question, truth: ("1", "0"), nullSafe: ("IS", "IS NOT"), keySets: .json,
    nullOrder: .least, collation: nil, noLimit: .negative, ignore: { " ON CONFLICT (\($0)) DO NOTHING" },
    failing: " OR ABORT",
    arithmetic: .overflowing, matching: .functions, decimals: .keys, writing: .rows,
    // A sign takes a column its index, and the affinity that would round what it is compared with.
    withoutIndex: "+",
    // SQLite 3.40 reads beyond its memory where more terms of an order go through a `LEFT JOIN`: it keeps a bit for each.
    greatestOrder: 63, greatestColumnCount: 2000, keepsRTrees: Connection.hasRTrees)
}
