import MoonbaseModel

/// The memory that objects hold, which counts for the script that they are held for.
extension ManagedObject {
  /// An object without values, and its place in the context.
  static let ownWeight = 320

  /// Counts bytes that the object holds now, or no longer.
  final func weigh(_ bytes: Int) {
    weight &+= bytes
    context?.weigh(bytes)
  }

  /// A value takes the place of another one.
  @inline(__always)
  final func weigh(_ value: Value, insteadOf old: Value, slot: Slot) {
    // A value as the store has it stays in the snapshot.
    let growth = value.weight &- (changed.contains(slot) ? old.weight : 0)
    if growth != 0 { weighAssigned(growth) }
  }

  /// Counts bytes of current values, until they are the saved ones or are dropped.
  final func weighAssigned(_ bytes: Int) {
    assignedWeight &+= bytes
    weigh(bytes)
  }

  /// Weighs the current values after they were replaced as a whole.
  final func weighAssignedAnew() {
    let now = live.isEmpty ? 0 : changed.slots.reduce(24 &* live.count) { $0 &+ live[$1].weight }
    if now != assignedWeight { weighAssigned(now &- assignedWeight) }
  }

  /// Weighs what was computed or waits to be written, as it is now.
  final func weighComputed() {
    let now = caches.reduce(0) { $0 + $1.value.value.weight } + delayed.reduce(0) { $0 + $1.value.weight }
    if now != computedWeight { weigh(now - computedWeight) }
    computedWeight = now
  }

  /// Weighs the relationships as they are now.
  final func weighRelationships() {
    let now = relationships.reduce(0) { $0 + $1.value.weight }
    if now != relationshipsWeight { weigh(now - relationshipsWeight) }
    relationshipsWeight = now
  }
}
