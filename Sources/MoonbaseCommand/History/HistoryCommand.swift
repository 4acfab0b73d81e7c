import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// The command `moonbase history`. It has three functions, which exclude each other: to print
/// changes, to print a token, or to delete transactions. A history is written by a store whose
/// option for persistent history is set.
///
/// A token is a place in the history, so a script can print changes repeatedly without gaps: it
/// keeps the token of the last call and passes it to `--since`. docs/graph.md describes histories
/// in "Persistent history".
struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Prints what was changed in a store that keeps a history, or deletes a part of that.",
    discussion: """
      moonbase history people.sqlite --where 'changeType == 2 AND (transaction.author != "import" OR transaction.author == nil)'

      A predicate may name changedEntity, changedObjectID, changeID, changeType (0 insert, 1 update, 2 delete), updatedProperties, tombstone \
      (what is left of a deleted object: tombstone.name), and transaction.author, .contextName, .timestamp, .transactionNumber, .bundleID, \
      .processID, .storeID. A comparison with a text matches no transaction without an author: ask for those with == nil.
      """)

  @OptionGroup var place: StoreArgument

  /// The name of the store for messages, from the argument or from the project.
  private var store: String { place.place.name }

  @Option(help: ArgumentHelp("Only what was saved after it: a token of --token, or a date.", valueName: "token|date"))
  var since: HistoryPlace?

  @Option(parsing: .unconditional, help: "Only what this author saved.")
  var author: String?

  @Option(help: "Only changes of this entity's objects.", completion: .entities)
  var entity: String?

  @Option(name: .customLong("where"), parsing: .unconditional, help: "Only changes that match a predicate.")
  var predicate: String?

  @Option(help: "How many changes at most.")
  var limit: Int?

  @Flag(
    help: ArgumentHelp(
      "Print old and new values too, where they are known.",
      discussion:
        "A history keeps no values: new are those that no later change replaced, old those that are left of a deleted object."
    ))
  var values = false

  @Flag(help: "Print a token that stands behind all that there is, and nothing else.")
  var token = false

  @Option(help: ArgumentHelp("Delete what was saved before it, and print nothing.", valueName: "token|date"))
  var deleteBefore: HistoryPlace?

  @Option(help: "Delete all but so many of the last transactions, and print nothing.")
  var keep: Int?

  @Option(
    help: ArgumentHelp(
      "Delete all but the last transactions that are no larger together, and print nothing; K, M and G will do.",
      valueName: "bytes"))
  var keepSize: ByteCount?

  @OptionGroup var output: ObjectOptionGroup

  @OptionGroup var file: FileOptionGroup

  @Flag(help: "With --token, or where a part is deleted: print JSON. Changes are printed so by --format json.")
  var json = false

  @Flag(name: StoreOption.allowsCloudKit.parserName, help: StoreOption.allowsCloudKit.parserHelp)
  var allowsCloudKit = false

  /// Whether an option asks to delete a part of the history.
  private var deletes: Bool { deleteBefore != nil || keep != nil || keepSize != nil }
  /// Whether an option restricts the printed changes. This cannot be combined with `--token` or
  /// with a deletion.
  private var narrows: Bool {
    since != nil || author != nil || entity != nil || predicate != nil || limit != nil || values
  }

  /// Rejects combinations of options that contradict each other, before the store is opened.
  func validate() throws {
    if file.readOnly, deletes { throw ValidationError("what deletes writes: leave --read-only out") }
    if let limit, limit < 1 { throw ValidationError("--limit takes a number above 0, not \(limit)") }
    if let keep, keep < 1 { throw ValidationError("--keep takes a number above 0, not \(keep)") }
    if let keepSize, keepSize.bytes < 1 { throw ValidationError("--keep-size takes a number of bytes above 0") }
    if json, !token, !deletes { throw ValidationError("changes are rows: --format json or ndjson prints them") }
    if token, deletes || narrows { throw ValidationError("--token prints nothing else: leave the other options out") }
    if deletes, narrows {
      throw ValidationError(
        "history is deleted up to a place, not by a condition: leave --since, --author and their like out")
    }
    if allowsCloudKit, !deletes {
      throw ValidationError("--allow-cloudkit is for what writes: history only reads here")
    }
  }

  /// Runs the command under the limits for time and memory.
  func run() throws { try file.limits.run { _ in try look() } }

  /// Opens the store and does what the options ask for. Extensions of the store are not needed,
  /// because no objects are saved.
  private func look() throws {
    let settings = try settings()
    try settings.requireStores()
    // The command writes no objects.
    var description = try settings.container
    description.missingExtensions = .ignored
    if values {
      var model = try description.openModel()
      // If a class belongs to an extension that is not loaded, its values are shown in their stored form.
      model.allowsUnknownClasses = true
      description.model = .value(model)
    }
    let container = try PersistentContainer(description)
    let context = try ManagedObjectContext(container.coordinator, extensions: container.extensions)
    guard let last = try container.coordinator.currentPersistentHistoryToken() else {
      throw GraphError(
        .invalidRequest, message: "\(store) keeps no history: moonbase run or each with --keep-history begins one")
    }
    if token {
      return Terminal.print(
        json ? try Terminal.json(["store": store, "token": last.description]) : last.description)
    }
    try deletes ? delete(in: context) : print(from: context)
  }

  /// The settings of the store. It is opened for writing only if a part of the history is deleted.
  private func settings() throws(UsageError) -> StoreSettings {
    var settings = try file.settings(place.place)
    settings.readOnly = !deletes
    settings.allowsCloudKit = allowsCloudKit
    return settings
  }

  /// Deletes transactions by place, by number or by size, in this order.
  ///
  /// - Parameter context: A context over the opened store.
  private func delete(in context: ManagedObjectContext) throws {
    var requests: [PersistentHistoryChangeRequest] = []
    switch deleteBefore {
    case .token(let token): requests.append(.deleteHistory(before: token))
    case .date(let date): requests.append(.deleteHistory(before: date))
    case nil: break
    }
    if let keep { requests.append(.deleteHistory(keepingLast: keep)) }
    if let keepSize { requests.append(.deleteHistory(keepingBytes: Int(clamping: keepSize.bytes))) }
    var count = 0
    for var request in requests {
      request.resultType = .count
      count += try context.execute(request).count ?? 0
    }
    if json {
      return Terminal.print(try Terminal.json(ReportValue(.map(["store": .string(store), "deleted": .count(count)]))))
    }
    Terminal.complain("moonbase: \(count) transaction\(count == 1 ? "" : "s") deleted")
  }

  // MARK: Printing

  /// The names of the printed columns. With `--values`, the columns with old and new values follow.
  private static let columns = [
    "transaction", "date", "author", "context", "change", "_id", "properties", "tombstone",
  ]

  /// Prints the changes of the selected part of the history.
  ///
  /// - Parameter context: A context over the opened store.
  /// - Throws: An exit code for a failure if a value could not be read.
  private func print(from context: ManagedObjectContext) throws {
    let start: HistoryWalk.Start =
      switch since {
      case .token(let token): .token(token)
      case .date(let date): .date(date)
      case nil: .token(nil)
      }
    let walk = try HistoryWalk(context, from: start, matching: condition(in: context.model))
    let writer = RowPrinter(try output.form, columns: Self.columns + (values ? ["old", "new"] : []))
    let isWhole = try values ? printValues(of: walk, from: start, context, writer) : printChanges(of: walk, writer)
    try writer.finish()
    for message in writer.losses.messages { Terminal.complain("moonbase: \(message)") }
    if !isWhole { throw ExitCode(ExitStatus.failed) }
  }

  /// Prints the changes without values.
  ///
  /// - Returns: Always true, like a run in which all values could be read.
  private func printChanges(of walk: HistoryWalk, _ writer: RowPrinter) throws -> Bool {
    try each(of: walk) { transaction, changes in
      for change in changes { try writer.write(Self.row(change, of: transaction)) }
      return true
    }
    return true
  }

  /// Returns false if a value could not be read.
  ///
  /// The end of the history is determined once, before the first row is printed. Transactions that
  /// other processes save later are not printed.
  private func printValues(
    of walk: HistoryWalk, from start: HistoryWalk.Start, _ context: ManagedObjectContext, _ writer: RowPrinter
  ) throws -> Bool {
    var values = try HistoryValues(context, from: start)
    let end = values.end
    try each(of: walk) { transaction, changes in
      guard values.covers(transaction, upTo: end) else { return false }
      try values.each(of: changes) { row in
        try writer.write(Self.row(row.change, of: transaction) + [row.old, row.new])
      }
      return true
    }
    return !values.failed
  }

  /// Passes the changes to `body` until it returns false or the requested number is reached.
  ///
  /// Passes transactions in their order. If the limit is reached inside a transaction, only its
  /// first changes are passed.
  private func each(
    of walk: HistoryWalk,
    _ body: (PersistentHistoryTransaction, ArraySlice<PersistentHistoryChange>) throws -> Bool
  ) throws {
    var walk = walk
    var left = limit ?? .max
    while left > 0, let transactions = try walk.next() {
      for transaction in transactions {
        let changes = (transaction.changes ?? []).prefix(left)
        guard try body(transaction, changes) else { return }
        left -= changes.count
      }
    }
  }

  /// The predicate for changes that the options describe, or nil if all changes are selected.
  ///
  /// - Throws: `.unknownName` for the option `--entity`, and the errors of the predicate parser.
  private func condition(in model: ResolvedModel) throws -> FetchRequest? {
    var parts: [Predicate] = []
    if let author { parts.append(try Predicate(format: "transaction.author == %@", .string(author))) }
    if let entity {
      guard let known = model.entity(entity) else { throw GraphError.unknownEntity(entity, in: model) }
      let names = model.entities[known.subtree].map { Value.string($0.name) }
      parts.append(try Predicate(format: "changedEntity IN %@", .list(names)))
    }
    if let predicate { parts.append(try Predicate(format: predicate)) }
    return parts.isEmpty ? nil : PersistentHistoryChange.fetchRequest(where: .and(parts))
  }

  /// The values of a change in the order of `columns`.
  private static func row(
    _ change: PersistentHistoryChange, of transaction: PersistentHistoryTransaction
  ) -> [Value] {
    func text(_ text: String?) -> Value { text.map(Value.string) ?? .null }
    return [
      .int(transaction.transactionNumber), .date(transaction.timestamp), text(transaction.author),
      text(transaction.contextName), .string(change.changeType.name), .objectID(change.changedObjectID),
      change.updatedProperties.isEmpty ? .null : .list(change.updatedProperties.map(Value.string)),
      change.tombstone.isEmpty ? .null : .map(change.tombstone),
    ]
  }
}

/// The start or the end of a part of a history.
///
/// A token or a date, as the options `--since` and `--delete-before` accept. A date is tried first,
/// because a token never has the form of a date.
enum HistoryPlace: ExpressibleByArgument {
  /// The end of the transaction to which a token refers.
  case token(PersistentHistoryToken)
  /// A point in time, which is compared with the dates of transactions.
  case date(Date)

  /// Parses an argument. Returns nil if it is neither a date in ISO form nor a token.
  init?(argument: String) {
    if let date = ISODate.parse(argument) {
      self = .date(date)
    } else if let token = PersistentHistoryToken(argument) {
      self = .token(token)
    } else {
      return nil
    }
  }
}
