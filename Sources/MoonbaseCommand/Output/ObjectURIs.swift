import MoonbaseModel

/// IDs of objects in quotes, as URIs or in short form. The common part for an entity and a store is created once.
///
/// A prefix is reused for all rows of an entity. The last prefix is kept separately, because most
/// rows in sequence have the same one.
struct ObjectURIs {
  /// Whether IDs are written in short form, such as `Person/12`.
  private let areShort: Bool

  /// The store and the entity, which determine the prefix of a URI.
  private struct Origin: Hashable {
    /// The number of the store in this process.
    let store: UInt32
    /// The entity of the object.
    let entity: Symbol
  }

  /// The known prefixes.
  private var prefixes: [Origin: [UInt8]] = [:]
  /// The prefix of the last object.
  private var last: (origin: Origin, prefix: [UInt8])?

  /// Creates an empty cache of prefixes.
  ///
  /// - Parameter areShort: Whether IDs have the short form.
  init(areShort: Bool = false) { self.areShort = areShort }

  /// Appends an ID with quotes around it.
  ///
  /// - Parameters:
  ///   - id: The ID of a saved object.
  ///   - bytes: The output.
  mutating func append(_ id: ManagedObjectID, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: prefix(of: id))
    bytes.append(decimal: id.key)
    bytes.append(UInt8(ascii: "\""))
  }

  /// The whole ID as a text.
  private func text(of id: ManagedObjectID) -> String { areShort ? id.short : id.uriRepresentation }

  /// The URI except for the key at its end.
  ///
  /// The prefix consists of everything before the key.
  private mutating func prefix(of id: ManagedObjectID) -> [UInt8] {
    let origin = Origin(store: id.storeNumber, entity: id.entitySymbol)
    if let last, last.origin == origin { return last.prefix }
    let prefix = prefixes[origin] ?? Array(text(of: id).utf8.dropLast(String(id.key).utf8.count))
    prefixes[origin] = prefix
    last = (origin, prefix)
    return prefix
  }
}

extension ManagedObjectID {
  /// The entity's name and the key, such as `Person/12`. For an unsaved object, this is the URI.
  var short: String { key > 0 ? "\(entityName)/\(key)" : uriRepresentation }
}

extension Value {
  /// The value with objects replaced by short IDs.
  ///
  /// Objects inside lists and maps are replaced too.
  var withShortIDs: Value {
    switch self {
    case .objectID(let id): .string(id.short)
    case .list(let list): .list(list.map(\.withShortIDs))
    case .map(let map): .map(map.mapValues(\.withShortIDs))
    default: self
    }
  }
}
