import MoonbasePlatform
import MoonbaseScripting

/// The profile of a command's extensions, for `--profile`.
///
/// All containers of the command share the profile, so a report covers the whole command.
enum CommandProfile {
  /// The profile, which is created when it is first needed.
  static let profile: ExtensionProfile = {
    isMade.withLock { $0 = true }
    return ExtensionProfile()
  }()

  /// Whether the profile was created. A command that does not need a profile must not create one for its report,
  /// because this would slow its start.
  private static let isMade = Lock(false)

  /// Prints a table of the profile to standard error. Prints nothing if no function was called.
  static func report() {
    let entries = isMade.withLock { $0 } ? profile.entries : []
    guard !entries.isEmpty else { return }
    var table = TableLines(columns: ["function", "calls", "seconds", "instructions", "errors", "extension"])
    var bytes: [UInt8] = []
    for entry in entries {
      let cells = [
        entry.function, "\(entry.cost.calls)", milliseconds(entry.cost.duration.seconds), "\(entry.cost.instructions)",
        "\(entry.cost.errors)", entry.source,
      ]
      table.add(
        cells, isNumber: [false, true, true, true, true, false], isID: cells.map { _ in false }, to: &bytes)
    }
    table.finish(&bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    Terminal.complain(text.hasSuffix("\n") ? String(text.dropLast()) : text)
  }

  /// A number of seconds with three digits after the decimal point.
  private static func milliseconds(_ seconds: Double) -> String {
    let count = Int((seconds * 1000).rounded())
    let rest = String(count % 1000)
    return "\(count / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
  }
}
