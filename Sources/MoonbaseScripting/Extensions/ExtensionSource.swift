public import MoonbasePlatform

/// Where extension files come from.
public struct ExtensionSource: Sendable {
  enum Kind: Sendable {
    case file(URL)
    case directory(URL)
    case text(ScriptSource)
  }

  let kind: Kind

  /// One file.
  public static func file(_ url: URL) -> ExtensionSource { ExtensionSource(kind: .file(url)) }

  /// Every `.lua` file in a folder, by name.
  public static func directory(_ url: URL) -> ExtensionSource { ExtensionSource(kind: .directory(url)) }

  /// A text in memory; `name` stands for it in messages.
  public static func text(_ text: String, name: String) -> ExtensionSource {
    ExtensionSource(kind: .text(ScriptSource(name: name, text: text)))
  }

  /// Reads the source anew.
  func read() throws(ScriptError) -> [ScriptSource] {
    switch kind {
    case .text(let source): return [source]
    case .file(let url): return [try ScriptSource(contentsOf: url)]
    case .directory(let url):
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: url.path)
      } catch {
        throw ScriptError(.cannotReadFile, "\(url.relativePath) is no folder of extensions that can be read")
      }
      var sources: [ScriptSource] = []
      for name in names.sorted() where name.hasSuffix(".lua") {
        sources.append(try ScriptSource(contentsOf: url.appendingPathComponent(name)))
      }
      return sources
    }
  }
}
