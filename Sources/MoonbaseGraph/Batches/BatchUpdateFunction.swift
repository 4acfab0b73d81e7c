public import MoonbaseModel
package import MoonbasePlatform

/// What an attribute becomes in a batch update: a function over attributes of the row as it was.
///
/// ```swift
/// var request = BatchUpdateRequest("Book")
/// request.functionsToUpdate["title"] = BatchUpdateFunction(as: String?.self) { title in title?.capitalized }
/// request.functionsToUpdate["label"] = BatchUpdateFunction(of: "title", "pages") { .string("\($0[0]), \($0[1])") }
/// try context.execute(request)
/// ```
///
/// It looks at what it is given and nothing else: it may be called more than once for a row, and while it runs no context and no store
/// may be asked for anything (`.contextBusy`).
public final class BatchUpdateFunction: Sendable {
  /// Gets the values of the attributes that the function reads, which are valid until it returns, and hands over what it gives.
  package typealias Body = (UnsafeBufferPointer<Snapshot.Cell>, (Snapshot.Cell) throws -> Void) throws -> Void

  /// The names of the attributes that it reads; empty for the one that it sets.
  public let inputs: [String]
  private nonisolated(unsafe) let body: Body  // a script's stays on its thread
  package nonisolated(unsafe) let plain: Plain?  // a script's stays on its thread

  /// Makes a function of values of attributes, in the order of their names.
  public init(of inputs: String..., body: @escaping @Sendable ([Value]) throws -> Value) {
    self.inputs = inputs
    self.body = { cells, take in try take(.value(body(cells.map(\.asValue)))) }
    plain = nil
  }

  /// Makes a function of what the attribute had.
  public init(_ body: @escaping @Sendable (Value) throws -> Value) {
    (inputs, plain) = ([], nil)
    self.body = { cells, take in try take(.value(body(cells[0].asValue))) }
  }

  /// Makes a function of what the attribute had, as a Swift type: no value is what stands for it (`AttributeValue.missing`), any other that cannot be
  /// read as that type is an error.
  public init<Kind: AttributeValue>(as type: Kind.Type, _ body: @escaping @Sendable (Kind) throws -> Kind) {
    (inputs, plain) = ([], nil)
    self.body = { cells, take in
      let value = cells[0].asValue
      guard let known = Kind.read(value) ?? (value.isNull ? Kind.missing : nil) else {
        throw ModelError(.invalidValue, message: "\(value.typePhrase) is no \(Kind.self)")
      }
      try take(.value(body(known).attributeValue))
    }
  }

  /// The function of a script in a form that a store may call for each row instead. Where it knows no answer, or a check says no, the function itself is
  /// called, and says what is wrong.
  package struct Plain {
    package let call: RowCall
    /// How many inputs it gets, from the first on.
    package let inputCount: Int
    /// Asks of the inputs and the result whether they may stand so; nil where nothing is to be asked.
    package var check: ((UnsafeBufferPointer<Snapshot.Cell>, Snapshot.Cell) -> Bool)?

    package init(_ call: RowCall, inputCount: Int) { (self.call, self.inputCount) = (call, inputCount) }
  }

  /// Makes the function of a script, which stays on its thread.
  package init(of inputs: [String], ofScript body: @escaping Body, plain: Plain? = nil) {
    self.inputs = inputs
    self.body = body
    self.plain = plain
  }

  /// Calls it for a row. What it gives is handed over in the form of its attribute.
  ///
  /// Throws what ends the run as it is, what `take` throws, and for all else an error that names attribute and row.
  package func call(
    _ inputs: UnsafeBufferPointer<Snapshot.Cell>, toSet attribute: AttributeDescription, of entity: ResolvedEntity,
    id: () -> ManagedObjectID, _ take: (Snapshot.Cell) throws -> Void
  ) throws {
    var refusal: (any Error)?
    do {
      try ManagedObjectContext.runningFunction {
        try body(inputs) { cell in
          let fitting = try attribute.checked(cell)
          do { try take(fitting) } catch {
            refusal = error
            throw error
          }
        }
      }
    } catch {
      throw refusal ?? Self.failure(of: error, attribute.name, of: entity, id: id)
    }
  }

  private static func failure(
    of error: any Error, _ name: String, of entity: ResolvedEntity, id: () -> ManagedObjectID
  ) -> any Error {
    let id = id()
    let ended = GraphError(endOf: error, in: "batch update", entity: entity.name, property: name, objectID: id)
    if let ended { return ended }
    let script = error as? any ScriptFailure
    let host = script?.hostError ?? error
    if script?.endsRun == true || (host as? any CodedError)?.code.endsRun == true || host is CancellationError {
      return error
    }
    // Only these say what to do about the function; others would be taken for errors of the request's own.
    let code: GraphError.Code =
      switch (host as? any CodedError)?.code {
      case .invalidValue: .invalidValue
      case .contextBusy: .contextBusy
      default: .extensionFailure
      }
    var failure = GraphError(
      code, message: "\(entity.name).\(name): the batch update's function fails for \(id): \(error)",
      entity: entity.name,
      property: name, objectID: id, underlying: error)
    failure.reason = "\(error)"
    return failure
  }
}

extension BatchUpdateFunction: Hashable {
  /// Whether both are the same one.
  public static func == (one: BatchUpdateFunction, other: BatchUpdateFunction) -> Bool { one === other }
  /// Hashes which one it is.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AttributeDescription {
  /// What the attribute holds of it, with no value made of what fits as it is.
  func checked(_ cell: Snapshot.Cell) throws -> Snapshot.Cell {
    switch (type, cell) {
    case (_, .null), (.string, .text), (.integer64, .int), (.boolean, .bool), (.binaryData, .data): return cell
    case (.double, .double(let number)) where !number.isNaN: return cell
    case (.date, .date(let seconds)) where seconds.isFinite: return cell
    default: return .value(try checked(cell.asValue))
    }
  }
}

extension Snapshot.Cell {
  /// The value.
  package var asValue: Value {
    switch self {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .data(let bytes): .data(Data(bytes))
    case .uuid(let uuid): .uuid(uuid)
    case .reference(let id): .objectID(id)
    case .value(let value): value
    }
  }
}
