import MoonbasePlatform
import MoonbaseScripting

extension ExtensionLimits {
  /// The limits of an extension in the format of an option, such as
  /// `colors:instructions=1000000,memory=16M,time=0.5,disable`.
  ///
  /// - Parameter value: The value of `--extension-limit`.
  /// - Returns: The name of the extension, and its limits.
  /// - Throws: A `UsageError` with the format.
  static func named(_ value: String) throws(UsageError) -> (name: String, limits: ExtensionLimits) {
    guard let colon = value.lastIndex(of: ":"), colon > value.startIndex else { throw refusal(of: value) }
    var limits = ExtensionLimits()
    for part in value[value.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false) {
      guard limits.apply(part.split(separator: "=", maxSplits: 1).map(String.init)) else { throw refusal(of: value) }
    }
    return (String(value[..<colon]), limits)
  }

  /// Applies one part, such as `memory=16M` or `disable`. Returns false if it is not valid.
  private mutating func apply(_ part: [String]) -> Bool {
    if part == ["disable"] {
      onExceeding = .disable
      return true
    }
    guard part.count == 2 else { return false }
    switch part[0] {
    case "instructions":
      instructions = Int64(part[1]).flatMap { $0 > 0 ? $0 : nil }
      return instructions != nil
    case "memory":
      memory = ByteCount(argument: part[1]).flatMap { $0.bytes > 0 ? $0.bytes : nil }
      return memory != nil
    case "time":
      time = Double(part[1]).flatMap { $0 > 0 && $0.isFinite ? Duration(seconds: $0) : nil }
      return time != nil
    default: return false
    }
  }

  /// The error for a value, with the expected format.
  private static func refusal(of value: String) -> UsageError {
    UsageError(
      "--extension-limit takes NAME:instructions=N,memory=BYTES,time=SECONDS,disable, or some of these, not '\(value)'")
  }
}
