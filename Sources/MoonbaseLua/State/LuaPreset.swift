import MoonbaseLuaShim

/// How much of Lua a state offers.
public enum LuaPreset: String, Sendable, CaseIterable {
  /// Deterministic: no clock, no files, random numbers from a fixed seed.
  case pure
  /// Lua's safe libraries; files only as granted.
  case standard
  /// As `standard`, with inert `package` and `debug` tables for third-party modules that look at them.
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
