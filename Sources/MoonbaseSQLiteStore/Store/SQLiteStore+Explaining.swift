public import MoonbaseGraph
import MoonbaseSQL
import MoonbaseSQLite

/// SQLite's part of the explanation of a fetch plan.
extension SQLiteStore {
  /// SQLite's plan of the statement: its tables in the order of the scan, the indexes used, and the sorts without an
  /// index (`USE TEMP B-TREE`). The parts of a step follow below the step. An example is `SCAN ZPERSON USING INDEX
  /// Z_Person_byName`. Nothing of the data is read.
  public func steps(of plan: QueryPlan) throws -> [String] {
    let select = try select(plan.query)
    let statement = plan.query.columns == nil ? select.rows(plan.query) : select.values(plan.query)
    return try read { session in
      try session.running("EXPLAIN QUERY PLAN " + statement, for: plan.query) { rows in
        var depths: [Int64: Int] = [:]
        var steps: [String] = []
        while try rows.step() {
          let depth = depths[rows.integer(1)].map { $0 + 1 } ?? 0
          depths[rows.integer(0)] = depth
          steps.append(String(repeating: "  ", count: depth) + rows.text(3))
        }
        return steps
      }
    }
  }
}
