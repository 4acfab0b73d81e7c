import MoonbaseGraph
import MoonbaseHistory
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// A range of a history requested by a script. Nothing is read until it is iterated.
///
/// `context:history{...}` returns this object. Each call of `each`, `all` or `count` starts a new walk at the token, so
/// that repeated calls see transactions recorded in between.
final class HistoryBox {
  private let contextBox: ContextBox
  private let token: PersistentHistoryToken?
  private let request: FetchRequest?
  private let limit: Int

  /// Makes a range. A nil token begins at the oldest transaction; a limit of 0 means all changes.
  init(_ box: ContextBox, after token: PersistentHistoryToken?, matching request: FetchRequest?, limit: Int) {
    (contextBox, self.token, self.request, self.limit) = (box, token, request, limit)
  }

  /// A walk over the changes, oldest first. Throws `.invalidRequest` if the context is gone, and errors in the request.
  func walk() throws -> HistoryChanges {
    HistoryChanges(try HistoryWalk(contextBox.live(), from: .token(token), matching: request), limit: limit)
  }
}

/// The single changes of a history.
///
/// A flat view of `HistoryWalk`, which reads transactions in chunks. Changes of a chunk wait in `waiting`; the memory
/// is that of one chunk.
final class HistoryChanges {
  private var walk: HistoryWalk
  /// The changes of the last chunk that are not returned yet, each with its transaction.
  private var waiting: ArraySlice<(PersistentHistoryTransaction, PersistentHistoryChange)> = []
  /// The number of changes that may still be returned.
  private var left: Int

  /// Begins at the walk's position. `limit` counts changes, not transactions; 0 means no limit.
  init(_ walk: HistoryWalk, limit: Int) {
    self.walk = walk
    left = limit > 0 ? limit : .max
  }

  /// The next change with its transaction; nil at the end or at the limit.
  func next() throws -> (PersistentHistoryTransaction, PersistentHistoryChange)? {
    guard left > 0 else { return nil }
    while waiting.isEmpty {
      guard let transactions = try walk.next() else { return nil }
      waiting = transactions.flatMap { transaction in (transaction.changes ?? []).map { (transaction, $0) } }[...]
    }
    left -= 1
    return waiting.removeFirst()
  }
}

/// `context:history { after = token, author =, where =, limit = }` and `context.history_token`.
extension HostTypes {
  /// Describes `context:history`, `context:delete_history` and `context.history_token`.
  ///
  ///
  /// ~`delete_history` takes `before` (a token), `keep` (a number of transactions) or `keep_size` (bytes), and returns
  /// the number of deleted transactions. Without any of them the call throws `.invalidRequest`.
  func describeHistoryOfContext() {
    context.method("history", upTo: 1) { [unowned self] context, call in
      var token: PersistentHistoryToken?
      var conditions: [Predicate] = []
      var limit = 0
      if !call.isNil(0) {
        let table = try call.table(0)
        let reader = ScriptTableReader(table: table, source: ScriptSource(name: "context:history", text: ""), path: [])
        try reader.check(["after", "author", "where", "limit"])
        token = try reader.string("after").map { try Self.token($0, "after") }
        if let author = try reader.string("author") {
          conditions.append(try Predicate(format: "transaction.author == %@", .string(author)))
        }
        if let text = try reader.string("where") { conditions.append(try Predicate(format: text)) }
        limit = try Self.number(table.get("limit"), "limit")
      }
      let request = conditions.isEmpty ? nil : PersistentHistoryChange.fetchRequest(where: .and(conditions))
      let box = HistoryBox(self.context.box(context), after: token, matching: request, limit: limit)
      // Errors in the request are raised here instead of during iteration.
      _ = try HistoryWalk(context, from: .token(token), matching: request)
      try call.return(box, as: history)
    }
    context.method("delete_history", upTo: 1) { [unowned self] context, call in
      guard call.isTable(0) else { throw call.typeError(0, expected: "table that says what is kept") }
      let table = try call.table(0)
      let reader = ScriptTableReader(
        table: table, source: ScriptSource(name: "context:delete_history", text: ""), path: [])
      try reader.check(["before", "keep", "keep_size"])
      var requests: [PersistentHistoryChangeRequest] = []
      if let text = try reader.string("before") {
        requests.append(.deleteHistory(before: try Self.token(text, "before")))
      }
      let keep = try Self.number(table.get("keep"), "keep"), size = try Self.number(table.get("keep_size"), "keep_size")
      if keep > 0 { requests.append(.deleteHistory(keepingLast: keep)) }
      if size > 0 { requests.append(.deleteHistory(keepingBytes: size)) }
      guard !requests.isEmpty else {
        throw ScriptError(.invalidRequest, message: "delete_history: say what is deleted, by before, keep or keep_size")
      }
      try openDomain().counting(&call) {
        try requests.reduce(0) { count, request in
          var request = request
          request.resultType = .count
          return try count + (context.execute(request).count ?? 0)
        }
      }
    }
    context.property(
      "history_token",
      get: { context, call in
        guard let token = try context.coordinator.currentPersistentHistoryToken() else { return call.returnNil() }
        call.return(token.description)
      })
  }

  /// Describes the methods of a range: `each()` for loops, `all()` as a list, `count()`.
  func describeHistory() {
    history.method("each", upTo: 0) { [unowned self] box, call in
      let domain = try openDomain()
      let changes = try box.walk()
      try call.return(
        try domain.state.function(weight: 4096) { [unowned self] call in
          guard let (transaction, change) = try changes.next() else { return call.returnNil() }
          try call.return(.table(try table(of: change, in: transaction)))
        })
    }
    history.method("all", upTo: 0) { [unowned self] box, call in
      let changes = try box.walk()
      var found: [LuaValue] = []
      var memory = HostMemory()
      while let (transaction, change) = try changes.next() {
        try memory.hold(MemoryLayout<LuaValue>.stride)
        found.append(.table(try table(of: change, in: transaction)))
      }
      try call.return(.table(try openDomain().state.list(found)))
    }
    history.method("count", upTo: 0) { box, call in
      let changes = try box.walk()
      var count = 0
      while try changes.next() != nil { count += 1 }
      call.return(count)
    }
  }

  /// A change as a table: `{ kind = "update", entity = "Person", id = …, properties = { "age" }, tombstone = {}, … }`.
  ///
  ///
  /// The transaction's fields are repeated in each change, so that a script needs no second level.
  private func table(
    of change: PersistentHistoryChange, in transaction: PersistentHistoryTransaction
  ) throws -> LuaTable {
    let domain = try openDomain()
    let table = try domain.state.table(fields: 10)
    func set(_ key: String, _ value: Value) throws { try table.set(key, to: domain.luaValue(from: value)) }
    try set("kind", .string(change.changeType.name))
    try set("entity", .string(change.changedObjectID.entityName))
    try set("id", .objectID(change.changedObjectID))
    try set("properties", .list(change.updatedProperties.map(Value.string)))
    try set("tombstone", .map(change.tombstone))
    try set("transaction", .int(transaction.transactionNumber))
    try set("date", .date(transaction.timestamp))
    if let author = transaction.author { try set("author", .string(author)) }
    if let name = transaction.contextName { try set("context_name", .string(name)) }
    try set("token", .string(transaction.token.description))
    return table
  }

  /// The token that a script passed as text. Throws `.invalidRequest`, naming the option `key`.
  private static func token(_ text: String, _ key: String) throws -> PersistentHistoryToken {
    if let token = PersistentHistoryToken(text) { return token }
    throw ScriptError(
      .invalidRequest, message: "history: \(key) is a token, as context.history_token gives one, not '\(text)'")
  }

  /// Returns 0 for nil. A positive integer option. Throws `.invalidRequest`, naming the option `key`, for other values.
  private static func number(_ value: LuaValue, _ key: String) throws -> Int {
    if case .nil = value { return 0 }
    guard case .integer(let number) = value, number > 0, let result = Int(exactly: number) else {
      throw ScriptError(.invalidRequest, message: "history: \(key) is a number above 0, not \(value)")
    }
    return result
  }
}
