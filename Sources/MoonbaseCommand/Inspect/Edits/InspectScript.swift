import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// The Lua prompt in the page.
///
/// It answers the route `/api/lua`. Code runs in the same Lua state and context as the rest of the
/// page, so that a script can change the objects that the page shows. All answers have the printed
/// output, the returned values, the error and the notices.
struct InspectScript {
  /// The number of objects or rows of a list that are shown.
  private static let greatestCount = 100
  /// The number of columns for a value that is shown as a text.
  private static let width = 100
  /// The session whose prompt runs the code.
  let session: InspectSession

  /// Compiles and runs the code of a request.
  ///
  /// - Returns: `incomplete` if the code ends in the middle of a statement, otherwise the result.
  func run(_ input: InspectInput) throws -> InspectJSON {
    let bytes = Array((input.code ?? "").utf8)
    _ = session.output.drain()
    switch session.prompt.read(bytes, firstLine: 1) {
    case .refused(let message): return answer(error: message)
    case .incomplete: return ["incomplete": true]
    case .chunk(let chunk): return run(chunk, named: String(decoding: bytes.prefix(80), as: UTF8.self))
    }
  }

  /// Runs a compiled chunk. A failure of the chunk is part of the answer.
  ///
  /// - Parameters:
  ///   - chunk: The code.
  ///   - name: The name of the chunk, for the undo step and for errors.
  private func run(_ chunk: LuaFunction, named name: String) -> InspectJSON {
    var shown: [InspectJSON] = []
    let ending = session.prompt.run(chunk) { values in
      for value in values { shown.append(try json(value)) }
    }
    let error: String? =
      switch ending {
      case .done(let notice): notice
      case .failed(_, let message): message
      case .exit: "os.exit ends nothing here: close the page, and press Ctrl-C where moonbase inspect runs"
      }
    let group = session.prompt.ending { _ = try session.prompt.endUndoGroup(named: name) }
    var notices: [String] = []
    if case .failed(_, let message) = group { notices.append(message) }
    if let notice = session.discardChanges() { notices.append(notice) }
    return answer(shown, error: error, notices: notices)
  }

  /// The answer for the page.
  ///
  /// - Parameters:
  ///   - values: The returned values as JSON.
  ///   - error: The message of an error, or nil.
  ///   - notices: Messages for the user, such as a warning about discarded changes.
  private func answer(_ values: [InspectJSON] = [], error: String? = nil, notices: [String] = []) -> InspectJSON {
    [
      "output": .string(session.output.drain()), "values": .array(values), "error": .text(error),
      "notices": .strings(notices),
    ]
  }

  /// A returned value as JSON. Lists of objects and lists of similar tables become rows with
  /// columns, and all other values become a text.
  private func json(_ value: LuaValue) throws -> InspectJSON {
    let domain = session.prompt.domain
    switch try domain.shown(value, most: Self.greatestCount) {
    case .value(.table(let table)):
      if let rows = try LuaRowTable(table, most: Self.greatestCount, in: domain, width: Self.width) {
        return try listing(rows.names, rows.rows, total: rows.total)
      }
      return ["text": .string(try LuaValueText.text(of: value, in: domain, width: Self.width))]
    case .value(let value): return ["text": .string(try LuaValueText.text(of: value, in: domain, width: Self.width))]
    case .text(let text): return ["text": .string(text)]
    case .error(let text): return ["text": .string("error: \(text)")]
    case .object(let object): return try objects([object], total: 1)
    case .objects(let list, let total): return try objects(list, total: total)
    case .rows(let names, let rows, let total): return try listing(names, rows, total: total)
    }
  }

  /// Rows of a Lua table as the page shows the rows of an entity.
  ///
  /// - Parameters:
  ///   - names: The names of the columns.
  ///   - rows: The shown rows.
  ///   - total: The number of all rows.
  private func listing(_ names: [String], _ rows: [[Value]], total: Int) throws -> InspectJSON {
    let cell = InspectCell(session: session)
    let cells = try rows.map { row -> InspectJSON in
      try HostWork.charge(names.count)
      return ["cells": .array(try row.map(cell.json))]
    }
    let columns = names.map { name -> InspectJSON in ["name": .string(name), "type": ""] }
    return ["columns": .array(columns), "rows": .array(cells), "total": .int(total)]
  }

  /// Rows of objects. The columns belong to the nearest entity that all objects share.
  ///
  /// - Parameters:
  ///   - objects: The shown objects.
  ///   - total: The number of all objects.
  private func objects(_ objects: [ManagedObject], total: Int) throws -> InspectJSON {
    guard let first = objects.first else { return ["text": "no objects"] }
    guard objects.allSatisfy({ $0.managedObjectContext === session.context }) else {
      return ["text": .string(objects.map(\.objectID.nameForPeople).joined(separator: ", "))]
    }
    var entity = first.entity
    while let parent = entity.parent, !objects.allSatisfy({ $0.entity.isKind(of: entity) }) {
      entity = session.model.entities[parent]
    }
    let rows = try InspectRows(session, entity, columns: nil).json(ids: objects.map(\.objectID))
    return rows.adding([("total", .int(total)), ("entity", .string(entity.name))])
  }
}
