import MoonbaseModel

/// IDs of objects in quotes, as URIs or short: the part that all of an entity and a store have in common is made once.
struct ObjectURIs {
  /// Whether IDs are short, as `Person/12`.
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

  /// All but the key, which is the last of it.
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
  /// The entity's name and the key, as `Person/12`. An object that is not saved has its URI.
  var short: String { key > 0 ? "\(entityName)/\(key)" : uriRepresentation }
}

extension Value {
  /// The value with short IDs in the place of objects.
  var withShortIDs: Value {
    switch self {
    case .objectID(let id): .string(id.short)
    case .list(let list): .list(list.map(\.withShortIDs))
    case .map(let map): .map(map.mapValues(\.withShortIDs))
    default: self
    }
  }
}
