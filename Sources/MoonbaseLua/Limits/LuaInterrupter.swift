import MoonbaseLuaShim

/// Ends the run of a state from any thread; without a run it does nothing.
public final class LuaInterrupter: @unchecked Sendable {  // the control block is atomic throughout
  private let control: OpaquePointer

  init(_ control: OpaquePointer) {
    self.control = control
    mbl_control_retain(control)
  }

  deinit { mbl_control_release(control) }

  /// Ends the run with `LuaError.Kind.interrupted`.
  public func interrupt() { mbl_control_interrupt(control) }
}
