import MoonbaseModel

/// IDs of objects in quotes, as URIs or in short form. The common part for an entity and a store is created once.
struct ObjectURIs {
  /// Whether IDs are written in short form, such as `Person/12`.
  private let areShort: Bool

  private struct Origin: Hashable {
    let store: UInt32
    let entity: Symbol
  }

  private var prefixes: [Origin: [UInt8]] = [:]
  private var last: (origin: Origin, prefix: [UInt8])?

  init(areShort: Bool = false) { self.areShort = areShort }

  mutating func append(_ id: ManagedObjectID, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: prefix(of: id))
    bytes.append(decimal: id.key)
    bytes.append(UInt8(ascii: "\""))
  }

  private func text(of id: ManagedObjectID) -> String { areShort ? id.short : id.uriRepresentation }

  /// The URI except for the key at its end.
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
  var withShortIDs: Value {
    switch self {
    case .objectID(let id): .string(id.short)
    case .list(let list): .list(list.map(\.withShortIDs))
    case .map(let map): .map(map.mapValues(\.withShortIDs))
    default: self
    }
  }
}
