import MoonbaseModel

/// The memory that objects hold, which counts for the script that they are held for.
extension ManagedObject {
  /// An object without values, and its place in the context.
  static let ownWeight = 224

  /// Counts bytes that the object holds now, or no longer.
  final func weigh(_ bytes: Int) {
    if bytes != 0, isWeighed { context?.weigh(bytes) }
  }
}
