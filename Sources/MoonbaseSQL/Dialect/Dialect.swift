/// What an engine says in words of its own, and what it cannot say: a value that translation and statements are given.
///
/// Whatever a dialect lacks words for with the meaning that memory has, translation refuses (`Untranslatable`), and the context does
/// it. The store that speaks to the engine makes the value: MoonbaseSQL knows no engine.
package struct Dialect: Sendable {
  /// How parameters stand in a statement.
  package enum Placeholder: Sendable {
    /// `?`
    case question
    /// `$1`, `$2`, ...
    case numbered
  }

  /// How a list of constants is one parameter.
  package enum KeySets: Sendable {
    /// JSON, which `json_each` takes apart. What JSON cannot hold a function of this process makes of its elements.
    case json
    /// An array.
    case arrays
  }

  /// Where rows without a value stand in an order.
  package enum NullOrder: Sendable {
    /// Before all others, without a word.
    case least
    /// Where a word says that they should.
    case written
  }

  /// How a query says that it has an offset and no limit.
  package enum NoLimit: Sendable {
    /// By a limit of -1.
    case negative
    /// By leaving the limit away.
    case absent
  }

  /// What arithmetic does beyond the range of its numbers.
  package enum Arithmetic: Sendable {
    /// Integers grow into floating-point numbers, and what is divided by zero is NULL: as in memory. Only sums of integers fail.
    case overflowing
    /// The statement fails: then only sums of narrow integers, which are exact, are left to the engine. It compares an integer with a
    /// floating-point number as two of these, so that constants are brought to the type of the column.
    case checked
  }

  /// In what portions rows are written.
  package enum Writing: Sendable {
    /// A prepared statement is stepped row by row: a call of the engine costs nothing.
    case rows
    /// A statement takes as many rows as it has parameters for, so many at most: each costs a round trip.
    case sets(parameters: Int)
  }

  /// Whether statements can call functions of this process: operators on texts, functions of predicates, scripts.
  package enum Matching: Sendable {
    case functions
    case cannot
  }

  /// How decimals are compared.
  package enum Decimals: Sendable {
    /// By keys that functions of this process make.
    case keys
    /// By the engine, exactly.
    case exact
  }

  /// What the engine is called in messages.
  package var engine: String
  package var placeholder: Placeholder
  /// The words for true and false.
  package var truth: (yes: String, no: String)
  /// Equality that takes two missing values for equal, and its contrary.
  package var nullSafe: (equal: String, distinct: String)
  package var keySets: KeySets
  package var nullOrder: NullOrder
  /// What stands behind a text so that it is compared by code points; nil where all are.
  package var collation: String?
  package var noLimit: NoLimit
  /// What stands behind an insertion whose row may be there already, given the columns that tell.
  package var ignore: @Sendable (_ keys: String) -> String
  /// What stands behind INSERT and UPDATE so that a conflict fails the statement, whatever the table says of conflicts.
  package var failing: String
  package var arithmetic: Arithmetic
  package var matching: Matching
  package var decimals: Decimals
  package var writing: Writing
  /// What keeps an index of a column from being used, where the engine would choose the wrong one.
  package var withoutIndex: String
  /// An order may have so many terms, the key of the row among them.
  package var greatestOrder: Int
  /// A table may have so many columns.
  package var greatestColumnCount: Int

  /// Whether it has R-trees as virtual tables.
  package var keepsRTrees = false
  /// Whether an index finds what equality asks for that takes two missing values for equal.
  package var findsMissing = true
  /// Whether a column may stand beside aggregates without being grouped by: it is that of some row.
  package var takesBareColumns = true
  /// Whether its texts may hold the character NUL.
  package var keepsNUL = true

  /// Says how an engine speaks.
  package init(
    engine: String, placeholder: Placeholder, truth: (yes: String, no: String),
    nullSafe: (equal: String, distinct: String), keySets: KeySets, nullOrder: NullOrder, collation: String?,
    noLimit: NoLimit, ignore: @escaping @Sendable (_ keys: String) -> String, failing: String = "",
    arithmetic: Arithmetic, matching: Matching, decimals: Decimals, writing: Writing, withoutIndex: String = "",
    greatestOrder: Int = .max,
    greatestColumnCount: Int, keepsRTrees: Bool = false, keepsNUL: Bool = true, findsMissing: Bool = true,
    takesBareColumns: Bool = true
  ) {
    self.engine = engine
    (self.placeholder, self.truth, self.nullSafe) = (placeholder, truth, nullSafe)
    (self.keySets, self.nullOrder, self.collation, self.noLimit) = (keySets, nullOrder, collation, noLimit)
    (self.ignore, self.failing) = (ignore, failing)
    (self.arithmetic, self.matching, self.decimals) = (arithmetic, matching, decimals)
    (self.writing, self.findsMissing, self.takesBareColumns) = (writing, findsMissing, takesBareColumns)
    (self.withoutIndex, self.greatestOrder) = (withoutIndex, greatestOrder)
    (self.greatestColumnCount, self.keepsRTrees, self.keepsNUL) = (greatestColumnCount, keepsRTrees, keepsNUL)
  }
}
