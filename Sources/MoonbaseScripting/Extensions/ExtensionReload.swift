/// The result of a reload.
///
/// ```swift
/// let reload = try container.reloadExtensions()
/// print(reload)      // reloaded colors 1.1
/// ```
public struct ExtensionReload: Sendable, Hashable, CustomStringConvertible {
  /// The number of the generation: the number of earlier readings with changes.
  public var generation: Int
  /// The extension files that were added, removed or changed, including changes of a required module.
  public var changes: [Change]

  /// An extension that was added, removed or changed.
  public struct Change: Sendable, Hashable {
    /// Whether it was added, changed or removed.
    public var kind: Kind
    /// The declared name, or the name of the file.
    public var name: String
    /// The declared version; for a removed extension its last version; nil if there is none.
    public var version: String?
    /// The file, as the caller named it.
    public var source: String
  }

  /// The kind of change.
  public enum Kind: String, Sendable, CaseIterable {
    case added, changed, removed
  }

  /// The changes as a text, such as `reloaded colors 1.1, dates; removed old`.
  public var description: String {
    let there = changes.filter { $0.kind != .removed }.map(\.title)
    let gone = changes.filter { $0.kind == .removed }.map(\.title)
    let parts = [
      there.isEmpty ? nil : "reloaded \(there.joined(separator: ", "))",
      gone.isEmpty ? nil : "removed \(gone.joined(separator: ", "))",
    ]
    let text = parts.compactMap(\.self).joined(separator: "; ")
    return text.isEmpty ? "reloaded the extensions, of which none changed" : text
  }
}

extension ExtensionReload.Change {
  /// The name and the version.
  fileprivate var title: String { version.map { "\(name) \($0)" } ?? name }

  fileprivate init(_ kind: ExtensionReload.Kind, _ loaded: LoadedExtension) {
    (self.kind, name, version, source) = (kind, loaded.name, loaded.version, loaded.source)
  }
}

extension ExtensionReload {
  init(from former: ScriptExtensions.Generation, to new: ScriptExtensions.Generation) {
    let before = Dictionary(former.sources.map { ($0.name, $0.text) }) { first, _ in first }
    let outdated = former.modules.outdatedUsers()
    generation = new.number
    changes = new.listing.compactMap { loaded in
      guard let text = before[loaded.source] else { return Change(.added, loaded) }
      let isSame = new.sources.contains { $0.name == loaded.source && $0.text == text }
      return isSame && !outdated.contains(loaded.source) ? nil : Change(.changed, loaded)
    }
    let names = Set(new.listing.map(\.source))
    changes += former.listing.filter { !names.contains($0.source) }.map { Change(.removed, $0) }
  }
}
