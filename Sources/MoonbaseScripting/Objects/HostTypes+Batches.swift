import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression

/// Requests that write to stores without the context: `request:batch_update { ... }`, `request:batch_delete()`,
/// `context:batch_insert(entity, rows)`.
///
/// The context need not have the objects, and hooks do not run, as in Core Data's batch requests. Changed objects that
/// the context has are refreshed afterwards.
extension HostTypes {
  /// Describes the methods of requests. A request with limit or offset is refused for updates.
  func describeBatchChanges() {
    request.method("batch_update", upTo: 1) { [unowned self] box, call in
      let domain = try openDomain()
      let context = try box.context
      let fetch = try box.objectRequest("batch_update")
      guard fetch.fetchLimit == 0, fetch.fetchOffset == 0 else {
        throw ScriptError(
          .invalidRequest,
          message: "batch_update changes all that match: leave limit and offset out, or say it by where")
      }
      guard call.isTable(0) else { throw call.typeError(0, expected: "table of attributes and expressions") }
      var update = BatchUpdateRequest(fetch.entityName, where: fetch.predicate)
      update.includesSubentities = fetch.includesSubentities
      let entity = try context.entity(fetch.entityName)
      for (key, value) in try call.table(0).pairs {
        let property = try domain.property(key, of: entity)
        if let function = try Self.function(value, for: property, in: domain)
          ?? Self.constant(value, for: property, in: domain)
        {
          update.functionsToUpdate[property.name] = function
        } else {
          update.propertiesToUpdate[property.name] = try Self.expression(
            value, for: property, of: entity, in: domain, context)
        }
      }
      // For a whole table the count suffices.
      let isWhole = fetch.predicate == nil
      update.resultType = isWhole ? .count : .objectIDs
      // A function in the update cannot wait for a pending save.
      if !update.functionsToUpdate.isEmpty { domain.contexts.waitForPendingSaves() }
      try domain.batch(in: context, call: &call, changing: isWhole ? entity : nil) { try context.execute(update) }
    }
    request.method("batch_delete", upTo: 0) { [unowned self] box, call in
      let context = try box.context
      var deletion = BatchDeleteRequest(try box.objectRequest("batch_delete"))
      deletion.resultType = .objectIDs
      try openDomain().batch(in: context, call: &call) { try context.execute(deletion) }
    }
  }

  /// Describes `context:batch_insert`. Rows come from a list, or from a function that returns the next row and nil at
  /// the end.
  func describeBatchInsertion() {
    context.method("batch_insert", upTo: 2) { [unowned self] context, call in
      let domain = try openDomain()
      let entity = try Self.entity(of: call, in: context)
      var insertion: BatchInsertRequest
      if call.isTable(1) {
        var rows = try Self.rows(of: call.table(1), call, at: 1, for: entity).makeIterator()
        insertion = BatchInsertRequest(entity.name) { values in
          guard let row = rows.next() else { return true }
          values = try Self.row(row, of: entity, in: domain, context)
          return false
        }
      } else {
        let next = try call.function(1)
        insertion = BatchInsertRequest(entity.name) { values in
          let row = try next.first()
          if case .nil = row { return true }
          values = try Self.row(row, of: entity, in: domain, context)
          return false
        }
      }
      insertion.resultType = .objectIDs
      try domain.batch(in: context, call: &call) { try context.execute(insertion) }
    }
  }

  /// A function receives the attribute's value, or the attributes listed in `inputs` of a table with `get`. Nil for a
  /// value that is no function and no such table.
  private static func function(
    _ value: LuaValue, for property: ResolvedProperty, in domain: ScriptDomain
  ) throws -> BatchUpdateFunction? {
    if let function = value.functionValue { return domain.batchFunction(function, of: [], for: property) }
    guard let table = value.tableValue, case .function(let get) = try table.get("get") else { return nil }
    var inputs: [String] = []
    if let listed = try table.get("inputs").tableValue {
      for input in try listed.elements {
        guard let name = input.textValue else {
          throw ScriptError(
            .invalidRequest,
            message: "batch_update: inputs of \(property.name) lists names of attributes, and not \(input.typePhrase)",
            property: property.name)
        }
        inputs.append(name)
      }
    }
    return domain.batchFunction(get, of: inputs, for: property)
  }

  /// A value of a class, stored through its transformer, which runs for each row; nil for other values.
  private static func constant(
    _ value: LuaValue, for property: ResolvedProperty, in domain: ScriptDomain
  ) throws -> BatchUpdateFunction? {
    guard property.attributeType == .transformable, value.tableValue != nil else { return nil }
    return domain.batchFunction(try domain.state.makeFunction { try $0.return(value) }, of: [], for: property)
  }

  /// A text is parsed as an expression over the attributes of the row. A value of another type is a constant. For
  /// example `"age + 1"`. Throws `.unknownName` for a single word that is no property.
  private static func expression(
    _ value: LuaValue, for property: ResolvedProperty, of entity: ResolvedEntity, in domain: ScriptDomain,
    _ context: ManagedObjectContext
  ) throws -> Expression {
    if let text = value.textValue {
      let expression = try Expression(format: text)
      // A single word may have been meant as text.
      guard case .keyPath(.evaluatedObject, let keys) = expression, keys.count == 1, entity.property(keys[0]) == nil
      else { return expression }
      throw ScriptError(
        .unknownName,
        message: "\(entity.name).\(property.name): the batch update sets it: \(entity.name) has no property \(keys[0])"
          + suggestion(for: keys[0], among: entity.allProperties.map(\.name))
          + "; a text is an expression here: write \"'\(keys[0])'\" for the text",
        entity: entity.name)
    }
    return .constant(try domain.graphValue(from: value, for: property, in: context))
  }

  /// A row as values by name. Throws `.invalidRequest` for a row that is no table.
  private static func row(
    _ row: LuaValue, of entity: ResolvedEntity, in domain: ScriptDomain, _ context: ManagedObjectContext
  ) throws -> [String: Value] {
    guard let table = row.tableValue else {
      throw ScriptError(
        .invalidRequest,
        message:
          "batch_insert: a row of \(entity.name) is a table of values, as in \(entity.exampleOfValues), and not \(row.typePhrase)",
        entity: entity.name)
    }
    return try domain.values(table, of: entity, in: context)
  }
}

extension ScriptDomain {
  /// Runs a batch request and merges its changes into the context, including changes of a whole entity. Returns the
  /// number of objects, or `nil` and the error.
  fileprivate func batch(
    in context: ManagedObjectContext, call: inout LuaCall, changing entity: ResolvedEntity? = nil,
    _ body: () throws -> BatchResult
  ) throws {
    try counting(&call) {
      let result = try body()
      let count = result.count ?? 0
      let changes = result.changes ?? entity.flatMap { count > 0 ? .anything(of: [$0.name]) : nil }
      if let changes { try context.mergeChanges(from: changes) }
      return count
    }
  }

  /// A script's function as a function of a batch update. `plain` is the quick path, for functions that need no
  /// conversion.
  fileprivate func batchFunction(
    _ function: LuaFunction, of inputs: [String], for property: ResolvedProperty
  ) -> BatchUpdateFunction {
    let count = max(1, inputs.count)
    return BatchUpdateFunction(
      of: inputs, ofScript: batchBody(function, inputCount: count, for: property.attributeType),
      plain: function.rowCall.map { BatchUpdateFunction.Plain($0, inputCount: count) })
  }

  /// A closure that calls a script's function with cells of a row and converts its result to a type.
  ///
  /// The body passes its result to `take` as a cell, whose bytes are valid during that call only.
  func batchBody(
    _ function: LuaFunction, inputCount: Int, for type: AttributeType?
  ) -> BatchUpdateFunction.Body {
    let call = LuaFastCall(function, parameters: inputCount)
    return { [self] cells, take in
      try call.run { arguments in
        for (index, cell) in cells.enumerated() { try setArgument(index, of: arguments, to: cell) }
      } reading: { result in
        if let cell = Snapshot.Cell(result) { return try take(cell) }
        if result.isMissing { throw function.mistake("it returned nothing: return nil for no value") }
        let isTaken: Void? = try result.withBytes { bytes in
          if type == .binaryData { return try take(.data(bytes)) }
          guard bytes.isUTF8 else { throw function.mistake("it returned text that is not UTF-8") }
          try take(.text(bytes))
        }
        if isTaken == nil { try take(.value(try function.checking { try graphValue(from: result, for: type) })) }
      }
    }
  }

  /// Returns a number, or `nil` and the error.
  ///
  /// The error also becomes the unread failure of the program, until a script reads it.
  func counting(_ call: inout LuaCall, _ body: () throws -> Int) throws {
    do { call.return(try body()) } catch let error as any CodedError where !error.isMistake && !error.code.endsRun {
      let box = ErrorBox(error, domain: self, calls: state.callsUnderWay())
      unseenFailure = UnseenFailure(error: box, cause: .save)
      call.returnNil()
      try call.return(box, as: types.error)
    }
  }
}

extension Snapshot.Cell {
  /// A result that needs no conversion; nil for other results.
  fileprivate init?(_ result: borrowing LuaResult) {
    if let number = result.integer {
      self = .int(number)
    } else if let number = result.number {
      self = .double(number)
    } else if let truth = result.boolean {
      self = .bool(truth)
    } else if result.isNil, !result.isMissing {
      self = .null
    } else {
      return nil
    }
  }
}
