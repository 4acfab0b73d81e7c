import MoonbaseModel

/// URIs of objects in quotes: what those of an entity and store have in common is made once.
struct ObjectURIs {
  private struct Origin: Hashable {
    let store: UInt32
    let entity: Symbol
  }

  private var prefixes: [Origin: [UInt8]] = [:]
  private var last: (origin: Origin, prefix: [UInt8])?

  mutating func append(_ id: ManagedObjectID, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: prefix(of: id))
    bytes.append(decimal: id.key)
    bytes.append(UInt8(ascii: "\""))
  }

  /// All but the key, which is the last of it.
  private mutating func prefix(of id: ManagedObjectID) -> [UInt8] {
    let origin = Origin(store: id.storeNumber, entity: id.entitySymbol)
    if let last, last.origin == origin { return last.prefix }
    let uri = id.uriRepresentation.utf8
    let prefix = prefixes[origin] ?? Array(uri.dropLast(String(id.key).utf8.count))
    prefixes[origin] = prefix
    last = (origin, prefix)
    return prefix
  }
}
