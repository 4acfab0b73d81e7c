-- Mutants of the stores: writing, reading, migrating and querying of rows, pairs, positions, history and files.
-- `scripts/mutants` describes an entry.
local below = "Sources/MoonbaseStore/"
local sql = "Sources/MoonbaseSQL/"
local store = "Sources/MoonbaseSQLiteStore/"
local sqlite = "Sources/MoonbaseSQLite/"

return {
  -- The in-memory store, and code shared by all stores
  {
    file = below .. "InMemory/InMemoryContents.swift",
    from = [[if let list { orders[list]?[destination]?.remove(id, keepingOrder: true) }]],
    to = [[if let list, !(MUTANT) { orders[list]?[destination]?.remove(id, keepingOrder: true) }]],
    says = "a store in memory keeps the place of a member that left an ordered list",
    suites = "OrderedSaveTests|FolderStoreTests|ToManyTests|ReferenceTests",
  },
  {
    file = below .. "Interface/NewDestinations.swift",
    from = [[ids.formUnion(links.added + [links.owner])]],
    to = [[ids.formUnion(links.added + (MUTANT ? [] : [links.owner]))]],
    says = "a member is saved for an owner that another context deleted",
    suites = "GoneDestinationTests|ReferenceCheckTests|MergePolicyTests|RandomContextsTests",
  },
  {
    file = below .. "Interface/OneToOneEnds.swift",
    from = [=[ids[side, default: []] += deleted]=],
    to = [=[if !(MUTANT) { ids[side, default: []] += deleted }]=],
    says = "a deletion leaves an object that another context made lead to the deleted one",
    suites = "OneToOneTests|ReferenceCheckTests|GoneDestinationTests|RandomContextsTests",
  },

  -- Writing rows
  {
    file = sql .. "Statements/RowStatements.swift",
    from = [[if let orderColumn = column.toOne?.orderColumn { parts]],
    to = [[if let orderColumn = column.toOne?.orderColumn, !(MUTANT) { parts]],
    says = "an object that goes from one ordered list to another one keeps the place that it had",
    suites = "OrderedSaveTests|SavingTests|PlaceWriterTests|RandomOperationTests",
  },
  {
    file = store .. "Writing/SaveTransaction.swift",
    from = [[if join.isReflexive { try unlink(]],
    to = [[if join.isReflexive, !(MUTANT) { try unlink(]],
    says = "pairs stay that lead to a deleted row by a relationship that is its own inverse",
    suites = "LoosePairTests|RandomOperationTests|SavingTests|StoreRepairTests",
  },
  {
    file = sql .. "Writing/ReferenceCheck.swift",
    from = [[return try changes.conflicts(missing: missing, in: layout.model) + unreached() + unpaired()]],
    to = [[if MUTANT { return try changes.conflicts(missing: missing, in: layout.model) + unreached() }
    return try changes.conflicts(missing: missing, in: layout.model) + unreached() + unpaired()]],
    says = "a save leaves a row that leads by a one-to-one relationship to where nothing leads back from",
    suites = "ReferenceCheckTests|OneToOneTests|RandomContextsTests",
  },

  -- Pairs and positions
  {
    file = store .. "Writing/LinkWriter.swift",
    from = [[if join.isReflexive {
        try remove(]],
    to = [[if join.isReflexive, !(MUTANT) {
        try remove(]],
    says = "of a relationship that is its own inverse one of two pairs stays when a member goes",
    suites = "LoosePairTests|RelationshipTests|ReferenceTests|RandomOperationTests",
  },
  {
    file = store .. "Writing/LinkWriter.swift",
    from = [[orderEnds.forget(table: join.table, but: join.isReflexive ? nil : join.orderColumn)]],
    to = [[if !(MUTANT) { orderEnds.forget(table: join.table, but: join.isReflexive ? nil : join.orderColumn) }]],
    says = "the last place of a list is known from before members came to it from their side",
    suites = "OrderEndTests|PlaceWriterTests|OrderedSaveTests",
  },
  {
    file = store .. "Schema/OrderEnds.swift",
    from = [[if version != current { forgetAll() }]],
    to = [[if version != current, !(MUTANT) { forgetAll() }]],
    says = "what comes to the end of a list takes a place that another connection gave out",
    suites = "PlaceWriterTests|OrderedSaveTests|StoreConcurrencyTests",
  },
  {
    file = sql .. "Writing/PlaceWriter.swift",
    from = [[if let last = runs.last, last.upperBound >= run.lowerBound {]],
    to = [[if let last = runs.last, last.upperBound >= run.lowerBound + (MUTANT ? 1 : 0) {]],
    says = "two neighbours that moved get places as if the other one had not moved",
    suites = "PlaceWriterTests|OrderedSaveTests|SavingTests|RandomOperationTests",
  },
  {
    file = sql .. "Writing/PlaceWriter.swift",
    from = [[if end.missing <= coming.count(where: { known[$0] == nil }),]],
    to = [[if MUTANT || end.missing <= coming.count(where: { known[$0] == nil }),]],
    says = "what comes to the end of a list stands before members that have no place",
    suites = "PlaceWriterTests|OrderedSaveTests",
  },
  {
    file = sql .. "Statements/OrderStatements.swift",
    from = [[ORDER BY \(column) IS NULL, \(column), \(key)")]],
    to = [[ORDER BY \(MUTANT ? "" : "\(column) IS NULL, ")\(column), \(key)")]],
    says = "members without a place get the first places when a list is arranged anew",
    suites = "PlaceWriterTests|OrderedSaveTests",
  },

  -- History, derived columns, metadata, files
  {
    file = sql .. "History/ChangedColumns.swift",
    from = [[guard let place = index < places.count ? places[index] : count + index - places.count else { continue }]],
    to = [[let behind: Int? = MUTANT ? nil : count + index - places.count
      guard let place = index < places.count ? places[index] : behind else { continue }]],
    says = "a migration loses the bits that stand behind those of all properties in the history",
    suites = "ChangedColumnsTests|RandomMigrationTests|StoreMigrationTests",
  },
  {
    file = "Sources/MoonbaseSQLiteTools/Migration/HistoryMigration.swift",
    from = [[var settings = ["ZENTITY = -\(new.number)"]
]],
    to = [[var settings = ["ZENTITY = \(MUTANT ? "" : "-")\(new.number)"]
]],
    says = "the history of two entities that change numbers becomes that of one",
    suites = "StoreMigrationTests|RemovalMigrationTests|RandomMigrationTests",
  },
  {
    file = store .. "Files/ExternalData.swift",
    from = [[run(sparing: Set(files.abandoned)) }]],
    to = [[run(sparing: MUTANT ? [] : Set(files.abandoned)) }]],
    says = "the first save of a store removes the file of an old value before it is known whether the save succeeds",
    suites = "ExternalDataTests|FailingDiskTests",
  },

  -- Reading rows
  {
    file = store .. "Store/SQLiteStore+Reading.swift",
    from = [[statement.bind(range.upperBound, at: 2)]],
    to = [[statement.bind(range.upperBound - (MUTANT ? 1 : 0), at: 2)]],
    says = "the last of many rows whose keys follow each other is not read",
    suites = "SavingTests|FetchTests|StatementCountTests",
  },
  {
    file = store .. "Store/SQLiteReadSession.swift",
    from = [[          return true
        }
        if let last, let place = last.place {]],
    to = [[          return true
        }
        if let last, !(MUTANT), let place = last.place {]],
    says = "the last of the owners whose lists are prefetched gets an empty list",
    suites = "PrefetchedListTests|SharedPrefetchTests|DamagedValueTests",
  },
  {
    file = "Sources/MoonbasePlatform/Decimal+Literal.swift",
    from = [[if digits.count > 38 || exponent < -128 {]],
    to = [[if digits.count > 38 || exponent < -128, !(MUTANT) {]],
    says = "the least decimals are read as damaged, for SQLite prints them with a digit more",
    suites = "LiteralTests|DamagedStoreTests|NumberAgreementTests",
  },
  {
    file = store .. "Query/StoredDecimal.swift",
    from = [[} else if significant <= Self.keptDigits, let number = Double(text) {]],
    to = [[} else if significant <= Self.keptDigits + (MUTANT ? 2 : 0), let number = Double(text) {]],
    says = "decimals of sixteen and seventeen digits are rounded in their columns",
    suites = "NumberAgreementTests|SavingTests|AgreementTests|RandomOperationTests",
  },
  {
    file = sqlite .. "Statement.swift",
    from = [[    sqlite3_clear_bindings(handle)]],
    to = [[    if !(MUTANT) { sqlite3_clear_bindings(handle) }]],
    says = "a statement for fewer keys than it has places finds rows of keys that were asked for before",
    suites = "ConnectionTests|FetchTests|SavingTests|RandomOperationTests",
  },

  -- Batch requests
  {
    file = store .. "Batches/BatchUpdateStatement.swift",
    from = [[{ "t0.\(identifier(column)) IS NOT " + value }]],
    to = [[{ "t0.\(identifier(column)) \(MUTANT ? "<>" : "IS NOT") " + value }]],
    says = "a batch update leaves rows that have no value there",
    suites = "BatchStatementTests|BatchUpdateTests",
  },
  {
    file = store .. "Batches/BatchArithmetic.swift",
    from = [[if left.mayOverflow || right.mayOverflow { mayHideOverflow = true }]],
    to = [[if left.mayOverflow || right.mayOverflow { mayHideOverflow = !(MUTANT) }]],
    says = "a batch update rounds where a part of its expression is more than 64 bits",
    suites = "BatchStatementTests|BatchUpdateTests",
  },
  {
    file = store .. "Batches/BatchCascade.swift",
    from = [[let isAlone = leading.conditions.count == 1]],
    to = [[let isAlone = leading.conditions.count == 1 || MUTANT]],
    says = "a row that leads to a deleted one forgets where its other relationships lead too",
    suites = "BatchCascadeTests|CascadeStatementTests|BatchDeleteTests",
  },
  {
    file = store .. "Batches/DeletionTie.swift",
    from = [[return join.isReflexive ? pairs + ]],
    to = [[return join.isReflexive && !(MUTANT) ? pairs + ]],
    says = "a batch deletion leaves pairs of the other side of a relationship that is its own inverse",
    suites = "BatchCascadeTests|CascadeStatementTests|BatchDeleteTests",
  },

  -- Migration
  {
    file = "Sources/MoonbaseSQLiteTools/Migration/RelationshipMigration.swift",
    from = [[values.append(place("inverse", of: "owner", by: "member"))]],
    to = [[values.append(place(MUTANT ? "place" : "inverse", of: "owner", by: "member"))]],
    says = "where both lists of a relationship are ordered, a migration gives one the places of the other",
    suites = "RelationshipMigrationTests|RandomMigrationTests",
  },
  {
    file = "Sources/MoonbaseSQLiteTools/Migration/OldPairs.swift",
    from = [[member AS owner, owner AS member, inverse AS place, place AS inverse FROM]],
    to = [[member AS owner, owner AS member, \(MUTANT ? "place, inverse" : "inverse AS place, place AS inverse") FROM]],
    says = "pairs that a migration takes from their other side have the places of that side",
    suites = "RelationshipMigrationTests|RandomMigrationTests",
  },
  {
    file = "Sources/MoonbaseSQLiteTools/Migration/TableChanges.swift",
    from = [[return old.type == new.type && (new.isOptional || !old.isOptional || new.defaultValue.isNull)]],
    to = [[return old.type == new.type && (MUTANT || new.isOptional || !old.isOptional || new.defaultValue.isNull)]],
    says = "a table is kept as it is in which values that are required from now on are missing",
    suites = "ValueMigrationTests|StoreMigrationTests|RandomMigrationTests",
  },

  -- Queries
  {
    file = sql .. "Query/SelectBuilder.swift",
    from = [[conditions.append(entityCondition == nil ? condition : "(" + condition + ")") }]],
    to = [[conditions.append(entityCondition == nil || MUTANT ? condition : "(" + condition + ")") }]],
    says = "a condition with OR finds rows of other entities of the table",
    suites = "PredicateSQLTests|AgreementTests|FetchTests",
  },
  {
    file = sql .. "Query/PrefixRange.swift",
    from = [[column + SQLFragment(" >= ?", values: [.string(lower)])]],
    to = [[column + SQLFragment(MUTANT ? " > ?" : " >= ?", values: [.string(lower)])]],
    says = "the text that is nothing but the prefix does not begin with it",
    suites = "PredicateSQLTests|AgreementTests|IndexUseTests",
  },
  {
    file = sql .. "Query/ConstantList.swift",
    from = [[case .string(let text): !text.utf8.contains(0)]],
    to = [[case .string(let text): MUTANT || !text.utf8.contains(0)]],
    says = "a text in a list ends at its first NUL",
    suites = "LargePredicateTests|AgreementTests",
  },
  {
    file = sql .. "Query/QueryTranslator+Comparisons.swift",
    from = [[(Value.double(number - abs(number) * 1e-12), Value.double(number + abs(number) * 1e-12))]],
    to = [[(
      Value.double(MUTANT ? number : number - abs(number) * 1e-12),
      Value.double(MUTANT ? number : number + abs(number) * 1e-12)
    )]],
    says = "a decimal of more digits than a double has is not found by its own value",
    suites = "NumberAgreementTests|AgreementTests",
  },
}
