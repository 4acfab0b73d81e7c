import MoonbaseModel

/// The memory that objects hold, which counts for the script that they are held for.
extension ManagedObject {
  /// An object without values takes 96 bytes, its place in the context up to 36 where keys follow each other (`KeyMap`).
  static let ownWeight = 136

  /// Counts bytes that the object holds now, or no longer.
  final func weigh(_ bytes: Int) {
    if bytes != 0, isWeighed { context?.weigh(bytes) }
  }

  /// The bytes that the context was told of.
  package final var weight: Int {
    isWeighed ? Self.ownWeight &+ row.weight &+ (record?.weight ?? 0) : 0
  }

  /// Weighs what was computed or waits to be written, as it is now.
  final func weighComputed() {
    guard let record else { return }
    var now = record.caches.sum { $0.pointee.value.weight }
    if !record.delayed.isEmpty { now += record.delayed.sum { $0.pointee.weight } }
    weigh(now - record.computedWeight)
    record.computedWeight = now
  }

  /// Weighs the relationships as they are now.
  final func weighRelationships() {
    guard let record else { return }
    let now = record.relationships.reduce(0) { $0 + $1.value.weight }
    weigh(now - record.relationshipsWeight)
    record.relationshipsWeight = now
  }
}
