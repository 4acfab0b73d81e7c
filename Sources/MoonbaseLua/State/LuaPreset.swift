import MoonbaseLuaShim

/// How much of Lua a state offers.
///
/// ```swift
/// let model = try LuaState(preset: .pure)          // the same results in every run
/// let program = try LuaState(preset: .trusted, limits: .none)
/// ```
public enum LuaPreset: String, Sendable, CaseIterable {
  /// Deterministic: no clock, no files, random numbers from a fixed seed.
  case pure
  /// Lua's safe libraries; files only as granted.
  case standard
  /// As `standard`, with inert `package` and `debug` tables for third-party modules that look at them, and modules that share the
  /// globals of the script that requires them.
  case compat
  /// All of Lua. For programs of the user's own only.
  case trusted
}

extension LuaPreset {
  var plain: MBLPreset {
    switch self {
    case .pure: .pure
    case .standard: .standard
    case .compat: .compat
    case .trusted: .trusted
    }
  }
}
