import MoonbasePlatform

/// One thing that a description says, and what it is called in each form of a model.
///
/// Readers, writers, comparison and reports walk lists of aspects, so that a new flag is a property of its description and one
/// line in the list:
///
/// ```swift
/// .flag("indexed", at: \.isIndexed, xcode: "indexed", archived: .key("NSIsIndexed")),
/// ```
///
/// A class, so that walking a list counts one reference and copies no names.
package final class Aspect<Owner>: Sendable {
  /// Where the description holds it.
  package enum Field: Sendable {
    /// A truth value: the one that a new description has, and the one that files of Xcode and archives mean where they name none.
    case flag(any WritableKeyPath<Owner, Bool> & Sendable, usual: Bool, unnamed: Bool)
    /// A text that may be missing.
    case text(any WritableKeyPath<Owner, String?> & Sendable)
    /// A number, where 0 says nothing.
    case number(any WritableKeyPath<Owner, Int> & Sendable)
    /// A number that may be missing.
    case limit(any WritableKeyPath<Owner, Int?> & Sendable)
    /// Something of another type, or with rules of its own: each form reads it in its own way, Xcode's and archives write it so
    /// too.
    indirect case stated(@Sendable (Owner) -> AspectValue?, usual: AspectValue?)
  }

  /// What JSON calls it.
  enum Report {
    /// As Lua does, in camel case: `externalStorage`.
    case byKey
    case named(String)
    /// The report says it in a way of its own.
    case none
  }

  /// How a keyed archive holds it.
  package enum Archived: Sendable {
    /// Under a key of Core Data's; what says nothing is left out.
    case key(String)
    /// The same, but a text that is missing is archived as null.
    case keyOrNull(String)
    /// A bit of the attribute's storage flags.
    case storageFlag(Int)
    /// Under a key of our own, which a framework passes over: Core Data's archive has no known place for it.
    case supplement(String)
  }

  /// The key in a Lua model, which is also what a difference names.
  package let key: String
  /// The same as a list, as field readers ask for it. Empty for what is stated, which has rules of its own.
  let lua: [String]
  /// The key in JSON; nil where a report says it in a way of its own.
  package let report: String?
  /// The names of the XML attribute in a model of Xcode: the first is written, all are read. Empty where Xcode has none, or
  /// one with rules of its own.
  package let xcode: [String]
  /// Nil where the archive says it in a way of its own.
  package let archived: Archived?
  package let field: Field

  private init(_ key: String, report: Report, xcode: [String], archived: Archived?, field: Field) {
    self.key = key
    lua = if case .stated = field { [] } else { [key] }
    self.report =
      switch report {
      case .byKey: Self.camelCase(key)
      case .named(let name): name
      case .none: nil
      }
    self.xcode = xcode
    self.archived = archived
    self.field = field
  }

  private static func camelCase(_ key: String) -> String {
    let words = key.split(separator: "_")
    return words.prefix(1).joined() + words.dropFirst().map(\.capitalized).joined()
  }
}

// MARK: Making one

extension Aspect {
  static func flag(
    _ key: String, at path: any WritableKeyPath<Owner, Bool> & Sendable, usual: Bool = false, unnamed: Bool = false,
    report: Report = .byKey, xcode: String..., archived: Archived? = nil
  ) -> Aspect {
    Aspect(key, report: report, xcode: xcode, archived: archived, field: .flag(path, usual: usual, unnamed: unnamed))
  }

  static func text(
    _ key: String, at path: any WritableKeyPath<Owner, String?> & Sendable, report: Report = .byKey, xcode: String...,
    archived: Archived? = nil
  ) -> Aspect {
    Aspect(key, report: report, xcode: xcode, archived: archived, field: .text(path))
  }

  static func number(
    _ key: String, at path: any WritableKeyPath<Owner, Int> & Sendable, report: Report = .byKey, xcode: String...,
    archived: Archived? = nil
  ) -> Aspect {
    Aspect(key, report: report, xcode: xcode, archived: archived, field: .number(path))
  }

  static func limit(_ key: String, at path: any WritableKeyPath<Owner, Int?> & Sendable) -> Aspect {
    Aspect(key, report: .byKey, xcode: [], archived: nil, field: .limit(path))
  }

  static func stated(
    _ key: String, usual: AspectValue? = nil, report: Report = .byKey,
    _ value: @escaping @Sendable (Owner) -> AspectValue?
  ) -> Aspect {
    Aspect(key, report: report, xcode: [], archived: nil, field: .stated(value, usual: usual))
  }
}

// MARK: What a description says

extension Aspect {
  /// What the description holds, be it usual or not; nil where there is nothing.
  package func value(of owner: Owner) -> AspectValue? {
    switch field {
    case .flag(let path, _, _): .flag(owner[keyPath: path])
    case .text(let path): owner[keyPath: path].map(AspectValue.text)
    case .number(let path): .number(owner[keyPath: path])
    case .limit(let path): owner[keyPath: path].map(AspectValue.number)
    case .stated(let value, _): value(owner)
    }
  }

  /// What the description says: nil for what is as in a new one.
  func said(by owner: Owner) -> AspectValue? {
    switch field {
    case .flag(let path, let usual, _): owner[keyPath: path] == usual ? nil : .flag(!usual)
    case .number(let path) where owner[keyPath: path] == 0: nil
    case .stated(let value, let usual?): value(owner).flatMap { $0 == usual ? nil : $0 }
    default: value(of: owner)
    }
  }

  /// Gives a new description what files of Xcode and archives mean where they name nothing.
  func setUnnamed(in owner: inout Owner) {
    if case .flag(let path, let usual, let unnamed) = field, unnamed != usual { owner[keyPath: path] = unnamed }
  }

  /// Gives one description what the other says.
  func copy(from source: Owner, to target: inout Owner) {
    switch field {
    case .flag(let path, _, _): target[keyPath: path] = source[keyPath: path]
    case .text(let path): target[keyPath: path] = source[keyPath: path]
    case .number(let path): target[keyPath: path] = source[keyPath: path]
    case .limit(let path): target[keyPath: path] = source[keyPath: path]
    case .stated: break
    }
  }
}
