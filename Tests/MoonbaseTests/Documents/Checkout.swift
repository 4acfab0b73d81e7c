import MoonbasePlatform

/// The files of the checkout, for tests of their contents.
enum Checkout {
  static let root = (1...4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }

  /// The paths of all files below some folders of the checkout.
  static func paths(below folders: String...) throws -> [String] {
    try folders.flatMap { folder in
      try FileManager.default.subpathsOfDirectory(atPath: file(folder).path).map { "\(folder)/\($0)" }
    }
  }

  static func file(_ path: String) -> URL { root.appendingPathComponent(path) }

  static func text(_ path: String) throws -> String { try String(contentsOf: file(path), encoding: .utf8) }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: file(path).path) }
}
