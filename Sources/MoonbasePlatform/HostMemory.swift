/// What a piece of the host's work holds on its way, counted so that the memory limit of the script it is done for holds
/// meanwhile: rows that were read and not handed over yet, values being converted.
///
/// Without a script on this thread nothing comes of it. All is given back when the value goes.
package struct HostMemory: ~Copyable {
  private static let stride = 1 << 16
  private static let weigher = HostHook<@Sendable (Int) -> (any Error)?>()

  private var held = 0
  private var told = 0

  /// Holds nothing yet.
  package init() {}

  /// Counts bytes. Throws the error with which the run ends, once it must.
  package mutating func hold(_ bytes: Int) throws {
    held &+= bytes
    if held &- told > Self.stride { try tell() }
  }

  /// Counts bytes that are no longer held, or that are counted elsewhere from now on.
  package mutating func release(_ bytes: Int) {
    held &-= bytes
    // That there is more room ends no run.
    if told &- held > Self.stride { try? tell() }
  }

  /// Throws the error with which the run ends if it may not hold so many bytes more: asked before they are made, and weighed by
  /// whoever makes them.
  package static func require(_ bytes: Int) throws {
    guard bytes > stride else { return }
    let error = weigh(bytes)
    _ = weigh(-bytes)
    if let error { throw error }
  }

  /// Counts bytes that stay when the work is done, until the run on this thread ends; a negative number takes off what was counted
  /// within it. Throws the error with which the run ends if it may not keep so many more: then they are not counted.
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

  /// Says who weighs, and who counts what stays until the end of the run: they are told of growth and the reverse, and return the error
  /// of a run that must end.
  package static func setWeigher(
    _ weigh: @escaping @Sendable (Int) -> (any Error)?, keeper keep: @escaping @Sendable (Int) -> (any Error)?
  ) {
    weigher.set(weigh)
    keeper.set(keep)
  }
}
