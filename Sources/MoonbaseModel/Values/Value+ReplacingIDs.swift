extension Value {
  /// The value with IDs replaced if the closure returns a replacement, also within lists and maps; nil if no ID is
  /// replaced.
  package func replacingIDs(_ replacement: (ManagedObjectID) -> ManagedObjectID?) -> Value? {
    switch self {
    case .objectID(let id): return replacement(id).map(Value.objectID)
    case .list(let list):
      let replaced = list.map { $0.replacingIDs(replacement) }
      guard replaced.contains(where: { $0 != nil }) else { return nil }
      return .list(zip(list, replaced).map { $1 ?? $0 })
    case .map(let map):
      let replaced = map.compactMapValues { $0.replacingIDs(replacement) }
      return replaced.isEmpty ? nil : .map(map.merging(replaced) { _, new in new })
    default: return nil
    }
  }
}
