import MoonbaseLuaShim

/// Ends the run of a state from any thread; without a run it does nothing.
///
/// ```swift
/// let interrupter = state.interrupter
/// Thread.detachNewThread { sleep(5); interrupter.interrupt() }
/// try state.load("while true do end", name: "endless.lua")()   // throws LuaError.Kind.interrupted
/// ```
public final class LuaInterrupter: @unchecked Sendable {  // all fields of the control block are atomic
  private let control: OpaquePointer

  init(_ control: OpaquePointer) {
    self.control = control
    mbl_control_retain(control)
  }

  deinit { mbl_control_release(control) }

  /// Ends the run with `LuaError.Kind.interrupted`.
  public func interrupt() { mbl_control_interrupt(control) }

  /// Lets the next SIGINT of the process end the run, and the one after that the process, as Lua's interpreter does. nil restores
  /// what SIGINT did before. A process that ignores SIGINT goes on ignoring it.
  public static func onSIGINT(_ interrupter: LuaInterrupter?) { mbl_control_on_sigint(interrupter?.control) }

  /// Lets each SIGINT end the run. No SIGINT ends the process, so unsaved changes stay.
  package static func onEachSIGINT(_ interrupter: LuaInterrupter) { mbl_control_on_each_sigint(interrupter.control) }
}

extension LuaState {
  /// Ends the runs of this state from any thread.
  public var interrupter: LuaInterrupter { LuaInterrupter(mbl_control(raw)) }
}
