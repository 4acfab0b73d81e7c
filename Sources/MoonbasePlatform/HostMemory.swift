/// The temporary memory of a piece of host work, counted against the memory limit of the script that it is done for:
/// rows read and not yet delivered, values being converted.
///
/// Has no effect without a script on this thread. All memory is released with the value.
package struct HostMemory: ~Copyable {
  private static let stride = 1 << 16
  private static let weigher = HostHook<@Sendable (Int) -> (any Error)?>()

  private var held = 0
  private var told = 0

  /// No memory.
  package init() {}

  /// Counts bytes. Throws the error of a run that must end.
  package mutating func hold(_ bytes: Int) throws {
    held &+= bytes
    if held &- told > Self.stride { try tell() }
  }

  /// Subtracts bytes that were freed, or that are counted elsewhere from now on.
  package mutating func release(_ bytes: Int) {
    held &-= bytes
    // Freeing memory does not end a run.
    if told &- held > Self.stride { try? tell() }
  }

  /// Throws the error of the run if it may not hold this many more bytes. Call it before they are allocated; the caller
  /// counts them afterwards.
  package static func require(_ bytes: Int) throws {
    guard bytes > stride else { return }
    let error = weigh(bytes)
    _ = weigh(-bytes)
    if let error { throw error }
  }

  /// Counts bytes until the run on this thread ends; a negative number subtracts bytes counted within the run. Throws
  /// the error of the run if it may not hold that many more, without counting them.
  package static func keep(_ bytes: Int) throws {
    guard let error = keeper.function?(bytes) else { return }
    _ = keeper.function?(-bytes)
    throw error
  }

  private static let keeper = HostHook<@Sendable (Int) -> (any Error)?>()

  private mutating func tell() throws {
    let growth = held - told
    told = held
    if let error = Self.weigh(growth) { throw error }
  }

  deinit {
    if told > 0 { _ = Self.weigh(-told) }
  }

  private static func weigh(_ bytes: Int) -> (any Error)? { weigher.function?(bytes) }

  /// Sets the functions that count temporary memory, and memory until the end of the run. They receive changes in bytes
  /// and return the error of a run that must end.
  package static func setWeigher(
    _ weigh: @escaping @Sendable (Int) -> (any Error)?, keeper keep: @escaping @Sendable (Int) -> (any Error)?
  ) {
    weigher.set(weigh)
    keeper.set(keep)
  }
}
