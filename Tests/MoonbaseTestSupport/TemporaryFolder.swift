public import MoonbasePlatform

/// A folder that is deleted with the instance.
public final class TemporaryFolder {
  /// The folder's location.
  public let url: URL

  /// Makes the folder.
  public init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The location of a file in the folder.
  public func file(_ name: String = "store.sqlite") -> URL { url.appendingPathComponent(name) }

  /// The names and contents of all files, hidden ones too.
  public func contents() throws -> [String: Data] {
    var result: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      result[name] = (try? Data(contentsOf: file(name))) ?? Data()
    }
    return result
  }
}
