/// The SQL dialect of a database engine, which translation and statements depend on.
///
/// Where a dialect has no SQL with the same meaning as evaluation in memory, translation throws `Untranslatable` and
/// the context evaluates the condition. The store of the engine supplies the value: MoonbaseSQL contains no engine.
///
/// A value without state, made once for each engine and shared by all stores of the engine. A new engine needs a
/// dialect and a store, and no change to the translation.
package struct Dialect: Sendable {
  /// The form of parameters in a statement.
  package enum Placeholder: Sendable {
    /// `?`
    case question
    /// `$1`, `$2`, ...
    case numbered
  }

  /// The form of a list of constants as a single parameter.
  package enum KeySets: Sendable {
    /// JSON, unpacked by `json_each`. A function of this process decodes elements that JSON cannot hold.
    case json
    /// An array.
    case arrays
  }

  /// The position of null values in an order.
  package enum NullOrder: Sendable {
    /// Before all values, by default.
    case least
    /// As written in the statement.
    case written
  }

  /// The form of a query with an offset and no limit.
  package enum NoLimit: Sendable {
    /// A limit of -1.
    case negative
    /// No limit clause.
    case absent
  }

  /// The behaviour of arithmetic beyond the range of numbers.
  package enum Arithmetic: Sendable {
    /// Integers become floating-point numbers and a division by zero is NULL, as in memory. Only sums of integers fail.
    case overflowing
    /// The statement fails. Therefore only sums of narrow integers, which are exact, are left to the engine. The engine
    /// compares an integer and a floating-point number as floating-point numbers, so constants are converted to the
    /// column's type.
    case checked
  }

  /// The number of rows that a statement writes.
  package enum Writing: Sendable {
    /// A prepared statement runs once for each row: a call of the engine costs little.
    case rows
    /// A statement writes as many rows as the greatest number of parameters allows, because each call is a round trip.
    case sets(parameters: Int)
  }

  /// Whether statements can call functions of this process: string operators, predicate functions, scripts.
  package enum Matching: Sendable {
    case functions
    case cannot
  }

  /// The comparison of decimals.
  package enum Decimals: Sendable {
    /// By keys that functions of this process compute.
    case keys
    /// By the engine, exactly.
    case exact
  }

  /// The name of the engine in messages.
  package var engine: String
  /// Statements are built with `?` and converted at the end (`statement(_:)`).
  package var placeholder: Placeholder
  /// The literals for true and false.
  package var truth: (yes: String, no: String)
  /// The operators for equality and inequality that treat two nulls as equal.
  package var nullSafe: (equal: String, distinct: String)
  /// How the translator writes `IN` with constants.
  package var keySets: KeySets
  /// Memory sorts nulls before all values; the clause in the statement makes an engine do the same.
  package var nullOrder: NullOrder
  /// The collation that compares texts by code points. Nil where this is the default.
  package var collation: String?
  /// How an offset without a limit is written.
  package var noLimit: NoLimit
  /// The clause of an insertion that ignores an existing row, from the columns of the key.
  package var ignore: @Sendable (_ keys: String) -> String
  /// The clause after INSERT and UPDATE that makes a conflict fail the statement, whatever the table declares.
  package var failing: String
  /// Decides which sums and which arithmetic are translated.
  package var arithmetic: Arithmetic
  /// Without functions, string operators other than equality and order stay in memory.
  package var matching: Matching
  /// Decides whether a condition on a decimal calls a function for each row.
  package var decimals: Decimals
  /// Decides how many rows a prepared statement of a save holds.
  package var writing: Writing
  /// The prefix of a column that excludes its index, where the engine would choose the wrong index.
  package var withoutIndex: String
  /// The greatest number of terms in an order, including the key of the row.
  package var greatestOrder: Int
  /// The greatest number of columns in a table.
  package var greatestColumnCount: Int

  /// Whether the engine has R-trees as virtual tables.
  package var keepsRTrees = false
  /// Whether an index serves the equality that treats two nulls as equal.
  package var findsMissing = true
  /// Whether a column may be selected beside aggregates without being grouped by. The value is that of any row.
  package var takesBareColumns = true
  /// Whether texts may contain the character NUL.
  package var keepsNUL = true
  /// The join of two tables whose condition stands after WHERE. SQLite would not reorder the tables of a CROSS JOIN.
  /// Other engines take no JOIN without ON.
  package var joinWithoutCondition = "JOIN"
  /// The types of columns by the kinds of their values. Nil where a column may hold values of any type.
  private var columnTypes: (@Sendable (ColumnKind?) -> String)?

  /// Makes a dialect. The caller states what has no sensible default; the other settings are those of SQLite.
  package init(
    engine: String, placeholder: Placeholder, truth: (yes: String, no: String),
    nullSafe: (equal: String, distinct: String), keySets: KeySets, nullOrder: NullOrder, collation: String?,
    noLimit: NoLimit, ignore: @escaping @Sendable (_ keys: String) -> String, failing: String = "",
    arithmetic: Arithmetic, matching: Matching, decimals: Decimals, writing: Writing, withoutIndex: String = "",
    greatestOrder: Int = .max,
    greatestColumnCount: Int, keepsRTrees: Bool = false, keepsNUL: Bool = true, findsMissing: Bool = true,
    takesBareColumns: Bool = true, joinWithoutCondition: String = "JOIN",
    columnTypes: (@Sendable (ColumnKind?) -> String)? = nil
  ) {
    self.engine = engine
    (self.placeholder, self.truth, self.nullSafe) = (placeholder, truth, nullSafe)
    (self.keySets, self.nullOrder, self.collation, self.noLimit) = (keySets, nullOrder, collation, noLimit)
    (self.ignore, self.failing) = (ignore, failing)
    (self.arithmetic, self.matching, self.decimals) = (arithmetic, matching, decimals)
    (self.writing, self.findsMissing, self.takesBareColumns) = (writing, findsMissing, takesBareColumns)
    (self.withoutIndex, self.greatestOrder) = (withoutIndex, greatestOrder)
    (self.greatestColumnCount, self.keepsRTrees, self.keepsNUL) = (greatestColumnCount, keepsRTrees, keepsNUL)
    (self.joinWithoutCondition, self.columnTypes) = (joinWithoutCondition, columnTypes)
  }

  /// Whether the columns of a table hold values of their declared types only.
  package var hasColumnTypes: Bool { columnTypes != nil }

  /// The declared type of a column. The kind is nil for keys, entity numbers and places.
  package func type(_ kind: ColumnKind?) -> String { columnTypes?(kind) ?? kind?.declaredType ?? "INTEGER" }
}
