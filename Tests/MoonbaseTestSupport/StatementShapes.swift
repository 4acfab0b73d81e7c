import MoonbasePlatform

/// The shapes of statements that a store in PostgreSQL may send. A cluster of Citus refuses other shapes, or other
/// PostgreSQL-compatible servers lack them.
///
/// All stores that the behaviour suites make in PostgreSQL report their statements here. After a refused statement no
/// further store can be made, so that the test run fails and names the statement.
public final class StatementShapes: Sendable {
  /// The shapes of this process.
  public static let shared = StatementShapes()

  private let statements = Lock<Set<String>>([])
  private let refused = Lock<String?>(nil)

  /// Makes an empty collection.
  public init() {}

  /// The different statements so far, with placeholders for values.
  public var all: Set<String> { statements.withLock { $0 } }

  /// Notes a statement.
  public func note(_ sql: String) {
    guard statements.withLock({ $0.insert(sql).inserted }), let reason = Self.refusal(of: sql) else { return }
    refused.withLock { $0 = $0 ?? "\(reason): \(sql)" }
  }

  /// Throws after a refused statement.
  public func check() throws {
    if let statement = refused.withLock({ $0 }) { throw Refused(statement: statement) }
  }

  /// A statement that a store must not send.
  struct Refused: Error {
    let statement: String
  }

  private static let refusals: [(words: String, reason: String)] = [
    ("CREATE TRIGGER", "a trigger"), ("CREATE RULE", "a rule"), ("CREATE FUNCTION", "a function of the server"),
    ("CREATE EXTENSION", "an extension of the server"), ("CREATE SEQUENCE", "a sequence"), ("NEXTVAL(", "a sequence"),
    ("SERIAL", "a sequence"), ("DEFERRABLE", "a deferrable constraint"), ("DEFERRED", "a deferrable constraint"),
    ("REFERENCES ", "a foreign key"), ("GENERATED ", "a generated column"),
    ("EXCLUDE USING", "an exclusion constraint"),
    ("ADVISORY", "an advisory lock"), ("LOCK TABLE", "a table lock"), ("LISTEN", "LISTEN"), ("NOTIFY", "NOTIFY"),
    ("WITH RECURSIVE", "a recursive query"), ("LATERAL", "a lateral join"), ("MERGE INTO", "MERGE"),
    ("SERIALIZABLE", "the isolation SERIALIZABLE"), (" WITH HOLD", "a cursor beyond its transaction"),
    ("TEMP ", "a temporary table"), ("TEMPORARY", "a temporary table"), ("UNLOGGED", "an unlogged table"),
    ("INHERITS", "inheritance of tables"), ("GROUPING SETS", "grouping sets"), ("TABLESAMPLE", "a sample of a table"),
    ("CTID", "the place of a row"),
  ]

  /// The reason why a store must not send a statement. Nil for a permitted statement.
  public static func refusal(of sql: String) -> String? {
    // A store works without the hints of a server: their errors are ignored.
    if ["LISTEN \"moonbase_", "NOTIFY \"moonbase_"].contains(where: sql.hasPrefix) { return nil }
    let upper = sql.uppercased()
    if let found = refusals.first(where: { upper.contains($0.words) }) { return found.reason }
    // The catalogue of the server is no part of the store.
    if upper.contains("PG_CLASS") { return nil }
    if upper.contains("INSERT INTO"), upper.contains("ON CONFLICT"), upper.contains("DO UPDATE"),
      upper.contains("SELECT")
    {
      return "an upsert of a query"
    }
    return nil
  }

  /// Whether a subquery of a statement uses a table of the query around it.
  ///
  /// Citus runs such a subquery where both tables are on one node, which is so within a distributed schema.
  public static func hasCorrelatedSubquery(_ sql: String) -> Bool {
    var depth = 0
    var starts: [(depth: Int, index: String.Index)] = []
    for index in sql.indices {
      if sql[index] == "(" {
        depth += 1
        if sql[sql.index(after: index)...].hasPrefix("SELECT") { starts.append((depth, index)) }
      } else if sql[index] == ")" {
        if let last = starts.last, last.depth == depth {
          starts.removeLast()
          let inner = sql[last.index..<index]
          let used = Set(inner.matches(of: #/\b(t[0-9]+)\./#).map { String($0.1) })
          let made = Set(inner.matches(of: #/\s(t[0-9]+)(?=[\s,)]|$)/#).map { String($0.1) })
          if !used.isSubset(of: made) { return true }
        }
        depth -= 1
      }
    }
    return false
  }
}
