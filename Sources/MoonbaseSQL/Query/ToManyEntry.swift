/// The step of a key path through a to-many relationship, on its way into SQL.
struct ToManyEntry {
  /// The row whose relationship it is.
  let owner: QueryScope
  /// The destinations.
  let scope: QueryScope
  /// The condition that links a destination to its owner.
  private let link: String
  /// Whether a destination may have several owners.
  let isJoin: Bool
  /// The keys that are left.
  let rest: ArraySlice<String>
  /// The table of pairs that `link` speaks of, if there is one. It is joined: as a list that each owner's destinations have to be
  /// in, it would be built for every owner.
  private let ownPairs: String
  /// What lists the owners of all destinations: a join, if it takes one, and the owner's key.
  private let pairs: String
  private let key: String

  /// A relationship whose destinations hold the owner's key.
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

  /// A relationship with a table of pairs.
  init(_ join: JoinLayout, owner: QueryScope, scope: QueryScope, rest: ArraySlice<String>) {
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
      ownPairs = "\(table) \(name) JOIN "
    }
    // A pair counts once, from whichever side it was written.
    let more = join.isReflexive ? " UNION SELECT \(theirs), \(mine) FROM \(table)" : ""
    pairs = " JOIN (SELECT \(mine) o, \(theirs) d FROM \(table)\(more)) \(name) ON \(name).d = \(scope.alias).Z_PK"
    key = "\(name).o"
  }

  /// Several rows lead to one destination, through pairs: what is asked of it is found for all of them at once.
  func shareDestinations() {
    if isJoin { scope.isShared = !owner.isNarrow }
  }

  /// Whether the owner has a destination of which the condition is true.
  func existence(of condition: SQLFragment) -> SQLFragment {
    "EXISTS (SELECT 1 FROM \(ownPairs)\(scope.from) WHERE \(link) AND " + condition.parenthesized + ")"
  }

  /// The same, asked by a list of all owners that have one. An owner that is not there has none.
  ///
  /// An owner that pairs lead to is looked for in the list: the engine would else look for each of the list among the pairs of
  /// every row.
  func list(of condition: SQLFragment, dialect: Dialect) -> SQLFragment {
    let list = "SELECT \(key) FROM \(scope.from)\(pairs) WHERE \(key) IS NOT NULL AND " + condition.parenthesized
    let sought = owner.isOptional ? "" : dialect.withoutIndex
    return "(\(sought)\(owner.alias).Z_PK IN (" + list + ") AND \(owner.alias).Z_PK IS NOT NULL)"
  }

  /// What is computed of the destinations of which the condition is true; `ofNone` where there are none.
  ///
  /// Where several rows share an owner and the condition is the same for all of them (`isFixed`), it is computed once for each
  /// owner, all in one go.
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
    // Of the one row that there is at most; only some engines take its column by itself beside a count.
    let found = dialect.takesBareColumns ? "\(name).v" : "MAX(\(name).v)"
    let value = none.map { "CASE COUNT(*) WHEN 0 THEN \($0) ELSE \(found) END" } ?? "\(name).v"
    return "(SELECT \(value) FROM " + groups + " WHERE \(name).o = \(owner.alias).Z_PK)"
  }
}
