package import MoonbaseModel
import MoonbasePlatform

extension BatchUpdateFunction {
  /// Makes a function of the attribute's previous value as a Swift type.
  ///
  /// Null becomes `AttributeValue.defaultWhenNull`. Any other value that the type cannot represent is an error.
  public convenience init<Kind: AttributeValue>(as type: Kind.Type, _ body: @escaping @Sendable (Kind) throws -> Kind) {
    self.init { value in
      guard let known = Kind.read(value) ?? (value.isNull ? Kind.defaultWhenNull : nil) else {
        throw ModelError(.invalidValue, message: "\(value.typePhrase) is no \(Kind.self)")
      }
      return try body(known).attributeValue
    }
  }

  /// Calls the function for a row, and passes the result to `take` in the form of its attribute.
  ///
  /// Throws errors that end the run and errors of `take` unchanged, and all others as an error that names attribute and
  /// row.
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

  /// The error of a function, with entity, attribute and row.
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
    // Only these codes tell the cause in the function; any other would look like an error of the request.
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
  /// Whether both are the same instance.
  public static func == (one: BatchUpdateFunction, other: BatchUpdateFunction) -> Bool { one === other }
  /// Hashes the identity of the instance.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AttributeDescription {
  /// The stored form of a cell for the attribute, without making a value if the cell fits as it is.
  package func checked(_ cell: Snapshot.Cell) throws -> Snapshot.Cell {
    switch (type, cell) {
    case (_, .null), (.string, .text), (.integer64, .int), (.boolean, .bool), (.binaryData, .data): return cell
    case (.double, .double(let number)) where !number.isNaN: return cell
    case (.date, .date(let seconds)) where seconds.isFinite: return cell
    default: return .value(try checked(cell.asValue))
    }
  }
}
