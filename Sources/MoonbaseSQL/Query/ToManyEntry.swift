/// The step of a key path through a to-many relationship, during translation into SQL.
///
/// Made by `QueryTranslator.enter`. It knows the FROM clause of the destinations and two ways to link them to the
/// owner: a correlated condition (`existence`) and a list of owners (`list`). Which one is faster depends on the number
/// of owners.
struct ToManyEntry {
  /// The scope of the relationship's owner.
  let owner: QueryScope
  /// The destinations.
  let scope: QueryScope
  /// The condition that links a destination to its owner.
  private let link: String
  /// Whether a destination may have several owners.
  let isJoin: Bool
  /// The remaining keys of the path.
  let rest: ArraySlice<String>
  /// The pair table that `link` uses, if any. The table is joined: an IN list of destinations would be computed for
  /// every owner.
  private let ownPairs: String
  /// The join that yields the owners of all destinations, if the relationship needs one. `key` is the owner's key.
  private let pairs: String
  /// The column with the owner's key, in the table of destinations or of pairs.
  private let key: String

  /// A relationship whose destinations hold the owner's key. For example the employees of a department, linked by
  /// `t1.ZDEPARTMENT = t0.Z_PK`.
  init(_ toOne: ToOneLayout, owner: QueryScope, scope: QueryScope, rest: ArraySlice<String>) {
    self.owner = owner
    self.scope = scope
    self.rest = rest
    isJoin = false
    key = scope.column(toOne.column)
    link = "\(key) = \(owner.alias).Z_PK"
    ownPairs = ""
    pairs = ""
  }

  /// A relationship with a pair table. A reflexive relationship counts pairs in both directions.
  init(_ join: JoinLayout, owner: QueryScope, scope: QueryScope, rest: ArraySlice<String>, dialect: Dialect) {
    self.owner = owner
    self.scope = scope
    self.rest = rest
    isJoin = true
    let (table, mine, theirs) = (
      join.source, identifier(join.ownerColumn), identifier(join.destinationColumn)
    )
    let name = "p\(scope.alias)"
    if join.isReflexive {
      let forward = "\(scope.alias).Z_PK IN (SELECT \(theirs) FROM \(table) WHERE \(mine) = \(owner.alias).Z_PK)"
      let back = "\(scope.alias).Z_PK IN (SELECT \(mine) FROM \(table) WHERE \(theirs) = \(owner.alias).Z_PK)"
      link = "(\(forward) OR \(back))"
      ownPairs = ""
    } else {
      link = "\(name).\(mine) = \(owner.alias).Z_PK AND \(name).\(theirs) = \(scope.alias).Z_PK"
      ownPairs = "\(table) \(name) \(dialect.joinWithoutCondition) "
    }
    // A pair counts once, from whichever side it was written.
    let more = join.isReflexive ? " UNION SELECT \(theirs), \(mine) FROM \(table)" : ""
    pairs = " JOIN (SELECT \(mine) o, \(theirs) d FROM \(table)\(more)) \(name) ON \(name).d = \(scope.alias).Z_PK"
    key = "\(name).o"
  }

  /// Marks destinations that several rows share through pairs: conditions on them are evaluated for all rows at once.
  func shareDestinations() {
    if isJoin { scope.isShared = !owner.isNarrow }
  }

  /// The condition that the owner has a destination that satisfies a condition. For example `EXISTS (SELECT 1 FROM
  /// ZEMPLOYEE t1 WHERE t1.ZDEPARTMENT = t0.Z_PK AND (t1.ZAGE > ?))`.
  func existence(of condition: SQLFragment) -> SQLFragment {
    "EXISTS (SELECT 1 FROM \(ownPairs)\(scope.from) WHERE \(link) AND " + condition.parenthesized + ")"
  }

  /// The condition of `existence` by a list of all owners that satisfy it. A null owner never matches.
  ///
  /// Unless the owner is the destination of a to-one relationship, the index of its key is excluded: otherwise the
  /// engine would look up each key of the list among the pairs of every row.
  ///
  /// For example `t0.Z_PK IN (SELECT t1.ZDEPARTMENT FROM ZEMPLOYEE t1 WHERE t1.ZDEPARTMENT IS NOT NULL AND (t1.ZAGE >
  /// ?))`.
  func list(of condition: SQLFragment, dialect: Dialect) -> SQLFragment {
    let list = "SELECT \(key) FROM \(scope.from)\(pairs) WHERE \(key) IS NOT NULL AND " + condition.parenthesized
    let sought = owner.isOptional ? "" : dialect.withoutIndex
    return "(\(sought)\(owner.alias).Z_PK IN (" + list + ") AND \(owner.alias).Z_PK IS NOT NULL)"
  }

  /// The aggregate of the destinations that satisfy a condition; `ofNone` where there are none.
  ///
  /// Where several rows share an owner and the condition is the same for all of them (`isFixed`), the aggregates of all
  /// owners are computed once.
  ///
  /// `result` is an aggregate such as `COUNT(*)` or `MAX(t1.ZAGE)`.
  func aggregate(
    _ result: SQLFragment, ofNone none: String? = nil, where condition: SQLFragment? = nil, isFixed: Bool,
    dialect: Dialect
  ) -> SQLFragment {
    let more = condition.map { " AND " + $0.parenthesized } ?? SQLFragment("")
    guard isFixed, owner.isShared else {
      return "(SELECT " + result + " FROM \(ownPairs)\(scope.from) WHERE \(link)" + more + ")"
    }
    let name = "g\(scope.alias)"
    let groups =
      "(SELECT \(key) o, " + result + " v FROM \(scope.from)\(pairs) WHERE \(key) IS NOT NULL" + more
      + " GROUP BY 1) \(name)"
    // There is at most one row. Only some engines allow a column beside COUNT without grouping.
    let found = dialect.takesBareColumns ? "\(name).v" : "MAX(\(name).v)"
    let value = none.map { "CASE COUNT(*) WHEN 0 THEN \($0) ELSE \(found) END" } ?? "\(name).v"
    return "(SELECT \(value) FROM " + groups + " WHERE \(name).o = \(owner.alias).Z_PK)"
  }
}
