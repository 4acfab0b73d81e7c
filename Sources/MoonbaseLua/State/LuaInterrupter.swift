import MoonbaseLuaShim

/// Ends the run of a state from any thread. Has no effect without a run.
///
/// ```swift
/// let interrupter = state.interrupter
/// Thread.detachNewThread { sleep(5); interrupter.interrupt() }
/// try state.load("while true do end", name: "endless.lua")()   // throws LuaError.Kind.interrupted
/// ```
///
/// Retains only a small control block, so that it may outlive the state. Within a call to Swift, the run ends when the
/// call returns or checks its limits.
public final class LuaInterrupter: @unchecked Sendable {  // all fields of the control block are atomic
  /// The shared control block of C.
  private let control: OpaquePointer

  /// Retains the block.
  init(_ control: OpaquePointer) {
    self.control = control
    mbl_control_retain(control)
  }

  deinit { mbl_control_release(control) }

  /// Ends the run with `LuaError.Kind.interrupted`.
  public func interrupt() { mbl_control_interrupt(control) }

  /// Makes the next SIGINT of the process end the run, and a further SIGINT the process, as Lua's interpreter does. nil
  /// restores the previous handling of SIGINT. A process that ignores SIGINT continues to ignore it.
  public static func onSIGINT(_ interrupter: LuaInterrupter?) { mbl_control_on_sigint(interrupter?.control) }

  /// Makes each SIGINT end the run. No SIGINT ends the process, so unsaved changes are kept.
  package static func onEachSIGINT(_ interrupter: LuaInterrupter) { mbl_control_on_each_sigint(interrupter.control) }
}

/// Ending runs.
extension LuaState {
  /// An interrupter for the runs of this state, usable on any thread.
  public var interrupter: LuaInterrupter { LuaInterrupter(mbl_control(raw)) }
}
