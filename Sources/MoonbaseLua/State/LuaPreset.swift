import MoonbaseLuaShim

/// The part of Lua that a state provides.
///
/// ```swift
/// let model = try LuaState(preset: .pure)          // the same results in every run
/// let program = try LuaState(preset: .trusted, limits: .none)
/// ```
public enum LuaPreset: String, Sendable, CaseIterable {
  /// Deterministic: no clock, no files, random numbers from a fixed seed.
  case pure
  /// Lua's safe libraries; granted files only.
  case standard
  /// As `standard`, with inert `package` and `debug` tables for third-party modules that access them, and modules that
  /// share the globals of the requiring script.
  case compat
  /// All of Lua, for the user's own programs only.
  case trusted
}

/// The presets of C.
extension LuaPreset {
  /// The value for the shim.
  var plain: MBLPreset {
    switch self {
    case .pure: .pure
    case .standard: .standard
    case .compat: .compat
    case .trusted: .trusted
    }
  }
}
