import MoonbaseGraph
package import MoonbaseLua

extension LuaError: ScriptFailure {
  package var hostError: (any Error)? { underlying }

  /// A limit, an interruption or `os.exit`.
  package var endsRun: Bool { kind.limit != nil || kind.exitStatus != nil || kind == .interrupted }

  package var isOutOfStack: Bool { kind == .stack }
}
