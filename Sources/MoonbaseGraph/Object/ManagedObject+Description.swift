import MoonbaseModel

extension ManagedObject: CustomStringConvertible {
  /// The entity, the ID and the known values: `Person x-coredata://…/Person/p1 { firstName = "Ada", age = 36 }`.
  ///
  /// The description changes nothing and runs no code of an extension: a fault stays a fault, although the values of
  /// its row are shown, and derived values are omitted. Long texts are truncated.
  public final var description: String {
    guard let values = valuesToShow else { return "\(entity.name) \(objectID) (\(absence))" }
    var text = ""
    for property in entity.properties where !values[property.slot].isNull {
      text += "\(text.isEmpty ? " " : ", ")\(property.name) = \(shown(values[property.slot], as: property))"
      if text.utf8.count > Self.greatestDescription {
        text += ", …"
        break
      }
    }
    return "\(entity.name) \(objectID)\(isDeleted ? " (deleted)" : "") {\(text) }"
  }

  /// The number of UTF-8 bytes after which further properties are omitted.
  private static let greatestDescription = 800

  /// The stored values, with unsaved changes; nil if they cannot be read. The values of a fault are read from the store
  /// without firing it.
  private var valuesToShow: ContiguousArray<Value>? {
    waitForPendingSave()
    guard let context else { return nil }
    noteRead(.state)
    if let currentValues { return currentValues }
    return (try? context.source.snapshot(of: objectID, in: context.view)).map { ContiguousArray($0.values) }
  }

  /// Why there are no values, as text in parentheses.
  private var absence: String {
    guard context == nil else { return "its row cannot be read" }
    return switch departure {
    case .contextGone: "its context is gone"
    case .closed: "its context was closed"
    case .reset: "its context was reset"
    case .deleted: "deleted"
    case .rolledBack: "its insertion was rolled back"
    case .replaced: "it was made before its row: fetch it again"
    }
  }

  /// The value as text. Large values are described by kind and size.
  private func shown(_ value: Value, as property: ResolvedProperty) -> String {
    // The cache entry of a stored derived attribute contains no value.
    let computed = caches[property.slot]?.value ?? .null
    return switch computed.isNull ? value : computed {
    case .string(let text): Self.quoted(text)
    case .data(let data): "\(data.count) bytes"
    case .list(let list): "a list of \(list.count)"
    case .map(let map): "a map of \(map.count)"
    case .object(let object) where object.damage != nil: "a damaged value"
    case .object(let object) where object.load != nil: "bytes in a file"
    case .object(let object): "a \(object.className)"
    case .objectID(let id): id.lastComponents
    case let scalar: scalar.description
    }
  }

  /// At most 60 Unicode scalars, in quotation marks, with special characters escaped.
  private static func quoted(_ text: String) -> String {
    let start = String(text.unicodeScalars.prefix(60))
    return (start.utf8.count < text.utf8.count ? start + "…" : start).quoted { "\\u{\(String($0.value, radix: 16))}" }
  }
}

extension ManagedObjectID {
  /// Entity and key without the store: `Department/p3`.
  fileprivate var lastComponents: String {
    uriRepresentation.split(separator: "/").suffix(2).joined(separator: "/")
  }
}
