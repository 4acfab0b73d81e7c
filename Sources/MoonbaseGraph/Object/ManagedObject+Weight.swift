import MoonbaseModel

/// Estimates of the memory that objects hold, which is charged to the script that holds them.
extension ManagedObject {
  /// An estimate of the bytes of an object without values: 96 for the instance, and up to 36 for its place in a
  /// `KeyMap`.
  static let ownWeight = 136

  /// Adds bytes that the object holds, or subtracts released bytes. Very cheap for objects that are not weighed.
  final func weigh(_ bytes: Int) {
    if bytes != 0, isWeighed { context?.weigh(bytes) }
  }

  /// The object's bytes that the context counts. 0 for an object that the context does not weigh.
  package final var weight: Int {
    isWeighed ? Self.ownWeight &+ row.weight &+ (record?.weight ?? 0) : 0
  }

  /// Updates the weight of cached and delayed values.
  final func weighComputed() {
    guard let record else { return }
    var now = record.caches.sum { $0.pointee.value.weight }
    if !record.delayed.isEmpty { now += record.delayed.sum { $0.pointee.weight } }
    weigh(now - record.computedWeight)
    record.computedWeight = now
  }

  /// Updates the weight of relationships.
  final func weighRelationships() {
    guard let record else { return }
    let now = record.relationships.reduce(0) { $0 + $1.value.weight }
    weigh(now - record.relationshipsWeight)
    record.relationshipsWeight = now
  }
}
