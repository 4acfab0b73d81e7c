import MoonbaseLua
import MoonbasePlatform

/// A script below `Attacks/`, whose first lines describe the attack and how the script must end.
struct HostileScript: Sendable {
  let path: String
  /// The codes of the errors with which the script may end.
  let endings: [String]
  /// A required part of the error's message.
  let says: String
  /// Limits that differ from the default.
  let limits: [String]
  /// Whether a deadline alone must also end the script.
  let isTimed: Bool
  /// Presets that by design have no protection against the script, each with its reason.
  let absentees: [String: String]

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Attacks")

  static let all: [HostileScript] = {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    let paths = (files?.allObjects ?? []).compactMap { ($0 as? URL)?.path }.filter { $0.hasSuffix(".lua") }
    return paths.sorted().compactMap { try? HostileScript(path: $0) }
  }()

  init(path: String) throws {
    self.path = path
    var words: [String: String] = [:]
    var absentees: [String: String] = [:]
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
      guard line.hasPrefix("--! ") else { continue }
      let parts = line.dropFirst(4).split(separator: ": ", maxSplits: 1).map(String.init)
      if parts[0].hasPrefix("not in ") {
        absentees[String(parts[0].dropFirst(7))] = parts.last
      } else {
        words[parts[0]] = parts.count > 1 ? parts[1] : ""
      }
    }
    endings = (words["ends"] ?? "").split(separator: " ").map(String.init)
    says = words["says"] ?? ""
    limits = (words["with"] ?? "").split(separator: " ").map(String.init)
    isTimed = words["timed"] != nil
    self.absentees = absentees
  }

  func applies(to preset: LuaPreset) -> Bool { absentees[preset.rawValue] == nil }

  /// The maximum memory of Lua in KiB: four times the soft limit.
  var memoryCap: Int {
    let soft = limits.first { $0.hasPrefix("memory=") }?.dropFirst(7).dropLast()
    return soft.flatMap { Int($0) }.map { $0 * 4 * 1_000_000 / 1024 } ?? 16 << 10
  }
}
