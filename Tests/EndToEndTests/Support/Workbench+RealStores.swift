import MoonbasePlatform
import MoonbaseTestSupport

extension Workbench {
  /// Stores that Core Data wrote: at `MOONBASE_FIXTURES`, or beside the checkout.
  static var realStores: URL {
    let named = TestLength.fixtures.map { URL(fileURLWithPath: $0) }
    let folder = named ?? checkout.deletingLastPathComponent().appendingPathComponent("shared/fixtures")
    return folder.appendingPathComponent("stores")
  }

  /// Copies such a store to `s.sqlite`; returns false if it does not exist.
  func takeRealStore(_ name: String) throws -> Bool {
    for ending in [".sqlite", ".sqlite-wal"] {
      let source = Self.realStores.appendingPathComponent(name + ending)
      guard FileManager.default.fileExists(atPath: source.path) else { continue }
      try Data(contentsOf: source).write(to: file("s" + ending))
    }
    return FileManager.default.fileExists(atPath: file("s.sqlite").path)
  }
}
