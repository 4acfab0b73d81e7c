import MoonbaseScripting

/// The costs of a command's extensions, for `--profile`.
enum CommandProfile {
  static let profile: ExtensionProfile = {
    isMade = true
    return ExtensionProfile()
  }()

  /// Whether anything was counted. To make a profile only to find it empty would be a part of each command's start. It
  /// is set before the threads of a command begin, and read when they have ended.
  nonisolated(unsafe) private static var isMade = false

  /// Prints a table of what was counted to standard error; nothing where nothing was called.
  static func report() {
    let entries = isMade ? profile.entries : []
    guard !entries.isEmpty else { return }
    var table = TableLines(columns: ["function", "calls", "seconds", "instructions", "errors", "extension"])
    var bytes: [UInt8] = []
    for entry in entries {
      let cells = [
        entry.function, "\(entry.cost.calls)", milliseconds(entry.cost.seconds), "\(entry.cost.instructions)",
        "\(entry.cost.errors)", entry.source,
      ]
      table.add(
        cells, isNumber: [false, true, true, true, true, false], isID: cells.map { _ in false }, to: &bytes)
    }
    table.finish(&bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    Terminal.complain(text.hasSuffix("\n") ? String(text.dropLast()) : text)
  }

  /// Seconds with three digits behind the point.
  private static func milliseconds(_ seconds: Double) -> String {
    let count = Int((seconds * 1000).rounded())
    let rest = String(count % 1000)
    return "\(count / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
