import MoonbaseGraph
package import MoonbaseLua
package import MoonbaseModel

/// The graph calls scripts through closures and knows no Lua. This protocol tells the graph whether an error ends the
/// run, and which code and place its own error should have.
extension LuaError: ScriptFailure {
  /// The name of a hook as scripts write it.
  package func hookName(_ name: String) -> String { name.inScriptSpelling }

  /// The host error that Lua passed through.
  package var hostError: (any Error)? { underlying }

  /// The place in the script, as `file:line`.
  package var place: String? { script.map { script in line.map { "\(script):\($0)" } ?? script } }

  /// Whether the error is a limit, an interruption or `os.exit`.
  package var endsRun: Bool { kind.limit != nil || kind.exitStatus != nil || kind == .interrupted }

  /// The code of an error that ends the run; nil for other errors.
  package var codeOfEnd: ErrorCode? { kind.limit != nil ? .limitExceeded : kind == .interrupted ? .interrupted : nil }

  /// Whether Lua's stack was exhausted.
  package var isOutOfStack: Bool { kind == .stack }

  /// The advice for extensions.
  package var advice: String? { adviceForExtension }

  /// The code that a script chose when it raised the error.
  package var codeOfScript: ErrorCode? {
    raisedCode.map(ErrorCode.init(rawValue:)) ?? (underlying as? ScriptError)?.codeOfScript
  }
}

/// Errors that the host finds in a script's function do not end the run.
extension ScriptError: ScriptFailure {
  /// No host error.
  package var hostError: (any Error)? { nil }
  /// The place in the script.
  package var place: String? { location.map { "\($0)" } }
  /// Always false.
  package var endsRun: Bool { false }
  /// Always false.
  package var isOutOfStack: Bool { false }
  /// No advice.
  package var advice: String? { nil }
  /// The code, if a limit of an extension caused the error.
  package var codeOfScript: ErrorCode? { [.extensionLimit, .extensionDisabled].contains(code) ? code : nil }
  /// Always nil.
  package var codeOfEnd: ErrorCode? { nil }
  /// The name of a hook as scripts write it.
  package func hookName(_ name: String) -> String { name.inScriptSpelling }
}

extension String {
  /// `willSave` in the spelling of scripts, `will_save`.
  var inScriptSpelling: String {
    reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
  }
}
