/// Estimates of the memory that objects hold, which are reported to the registry.
extension ManagedObjectContext {
  /// The growth in bytes after which the registry is notified.
  private static let weighingStride = 1 << 16

  /// Adds bytes that objects and requests hold, or subtracts released bytes. Called for each object and request, so the
  /// registry is notified only of larger changes.
  package func weigh(_ bytes: Int) {
    weight &+= bytes
    if (weight &- toldWeight).magnitude > UInt(Self.weighingStride) { tellWeight() }
  }

  /// Reports the change of weight to the registry. A script that owns the registry is charged.
  func tellWeight() {
    let growth = weight - toldWeight
    toldWeight = weight
    extensionRegistry.weigh?(growth)
  }
}
