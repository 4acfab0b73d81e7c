import MoonbaseLuaShim

/// Connects handles to their state without retaining it.
///
/// Made with the state and retained by all handles. The state may close while handles exist.
final class LuaLink {
  /// The queue of releases from other threads, emptied by the state's runs.
  let queue: OpaquePointer
  /// Sound: set to nil when the state closes, before its memory is freed.
  unowned(unsafe) var state: LuaState? { didSet { home.pointee = state?.raw } }
  /// The state's pointer for fast calls, read without reference counting.
  let home: UnsafeMutablePointer<OpaquePointer?>

  /// Retains the queue.
  init(queue: OpaquePointer) {
    self.queue = queue
    home = .allocate(capacity: 1)
    home.initialize(to: nil)
    mbl_queue_retain(queue)
  }

  deinit {
    home.deallocate()
    mbl_queue_release(queue)
  }
}

/// Retains a Lua value. May be released on any thread; the state frees its registry number at its next run.
///
/// Values in Lua's registry are not collected. Two references to the same value have different indexes.
final class LuaReference {
  /// The state of the value.
  let link: LuaLink
  /// The place in the registry.
  let index: Int32

  /// Takes over the place in the registry.
  init(link: LuaLink, index: Int32) {
    self.link = link
    self.index = index
  }

  deinit { mbl_queue_unref(link.queue, index) }

  /// The number in the state's registry. Throws `.foreign` for another state.
  func index(in state: LuaState) throws(LuaError) -> Int32 {
    guard link === state.link else {
      throw LuaError(.foreign, message: "a value of one Lua state was given to another")
    }
    return index
  }

  /// Throws `.closed` after the end of the state.
  var state: LuaState {
    get throws(LuaError) {
      guard let state = link.state else { throw LuaError(.closed, message: "the Lua state is closed") }
      return state
    }
  }
}
