import MoonbaseModel

/// Faults that one fetch made: when one of them fires, the rows of its neighbours are read in the same statement.
final class FaultBatch {
  private let ids: [ManagedObjectID]
  private let size: Int
  private var positions: [ManagedObjectID: Int] = [:]

  init(_ ids: [ManagedObjectID], size: Int) {
    self.ids = ids
    self.size = size
    for (position, id) in ids.enumerated() { positions[id] = position }
  }

  /// The IDs of the batch that an object is in.
  func neighbours(of id: ManagedObjectID) -> [ManagedObjectID] {
    guard let position = positions[id] else { return [id] }
    let start = position / size * size
    return Array(ids[start..<min(ids.count, start + size)])
  }
}
