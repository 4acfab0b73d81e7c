import MoonbaseGraph
package import MoonbaseLua
package import MoonbaseModel

extension LuaError: ScriptFailure {
  package func hookName(_ name: String) -> String { name.inScriptSpelling }

  package var hostError: (any Error)? { underlying }

  package var place: String? { script.map { script in line.map { "\(script):\($0)" } ?? script } }

  /// A limit, an interruption or `os.exit`.
  package var endsRun: Bool { kind.limit != nil || kind.exitStatus != nil || kind == .interrupted }

  package var codeOfEnd: ErrorCode? { kind.limit != nil ? .limitExceeded : kind == .interrupted ? .interrupted : nil }

  package var isOutOfStack: Bool { kind == .stack }

  package var advice: String? { adviceForExtension }

  package var codeOfScript: ErrorCode? {
    raisedCode.map(ErrorCode.init(rawValue:)) ?? (underlying as? ScriptError)?.codeOfScript
  }
}

/// What the host finds wrong with a script's function ends no run.
extension ScriptError: ScriptFailure {
  package var hostError: (any Error)? { nil }
  package var place: String? { location.map { "\($0)" } }
  package var endsRun: Bool { false }
  package var isOutOfStack: Bool { false }
  package var advice: String? { nil }
  package var codeOfScript: ErrorCode? { [.extensionLimit, .extensionDisabled].contains(code) ? code : nil }
  package var codeOfEnd: ErrorCode? { nil }
  package func hookName(_ name: String) -> String { name.inScriptSpelling }
}

extension String {
  /// `willSave` as scripts write it: `will_save`.
  var inScriptSpelling: String {
    reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
  }
}
