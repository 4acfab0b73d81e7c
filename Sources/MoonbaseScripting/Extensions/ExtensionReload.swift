/// The result of a reload.
///
/// ```swift
/// let reload = try container.reloadExtensions()
/// print(reload)      // reloaded colors 1.1
/// ```
public struct ExtensionReload: Sendable, Hashable, CustomStringConvertible {
  /// How often something else was read before.
  public var generation: Int
  /// The extensions in files that came, went or are other ones, also by a module that they require.
  public var changes: [Change]

  /// An extension that came, went or is another one.
  public struct Change: Sendable, Hashable {
    /// Whether it was added, changed or removed.
    public var kind: Kind
    /// The name that it gives itself; that of its file where it gives none.
    public var name: String
    /// Its version, where it says one; of a removed extension the one that it had.
    public var version: String?
    /// The file, as it was named.
    public var source: String
  }

  /// The change of an extension.
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
  /// Name and version.
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
