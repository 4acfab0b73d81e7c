/// The bytes that objects hold, which the registry is told of.
extension ManagedObjectContext {
  /// So many bytes pass before the registry is told.
  private static let weighingStride = 1 << 16

  /// Counts bytes that objects and requests hold now, or no longer.
  package func weigh(_ bytes: Int) {
    weight &+= bytes
    if (weight &- toldWeight).magnitude > UInt(Self.weighingStride) { tellWeight() }
  }

  func tellWeight() {
    let growth = weight - toldWeight
    toldWeight = weight
    extensionRegistry.weigh?(growth)
  }
}
