import MoonbasePlatform

/// A setting of a description, with its name in each model format.
///
/// Readers, writers, comparison and reports iterate over lists of aspects, so that a new flag needs a property of its
/// description and a line in the list:
///
/// ```swift
/// .flag("indexed", at: \.isIndexed, xcode: "indexed", archived: .key("NSIsIndexed")),
/// ```
///
/// A class, so that iterating over a list copies no names.
package final class Aspect<Owner>: Sendable {
  /// The access to the setting in a description.
  package enum Field: Sendable {
    /// A boolean, with the default of a new description, and the default of Xcode's files and archives without the
    /// setting.
    case flag(any WritableKeyPath<Owner, Bool> & Sendable, usual: Bool, unnamed: Bool)
    /// An optional text.
    case text(any WritableKeyPath<Owner, String?> & Sendable)
    /// A number, where 0 is the default.
    case number(any WritableKeyPath<Owner, Int> & Sendable)
    /// An optional number.
    case limit(any WritableKeyPath<Owner, Int?> & Sendable)
    /// A setting of another type, or with its own rules. Each format has its own code for reading it, and Xcode's
    /// format and archives also for writing it.
    indirect case stated(@Sendable (Owner) -> AspectValue?, usual: AspectValue?)
  }

  /// The setting's name in JSON.
  enum Report {
    /// The Lua key in camel case: `externalStorage`.
    case byKey
    /// The key with this name.
    case named(String)
    /// The report has its own code for the setting.
    case none
  }

  /// The representation in a keyed archive.
  package enum Archived: Sendable {
    /// Under a key of Core Data; defaults are omitted.
    case key(String)
    /// Under a key of Core Data; a missing text is archived as null.
    case keyOrNull(String)
    /// A bit of the attribute's storage flags.
    case storageFlag(Int)
    /// Under our own key, which frameworks ignore, because Core Data's archive has no known place for it.
    case supplement(String)
  }

  /// The key in a Lua model, which also names differences.
  package let key: String
  /// The key as a list, for field readers. Empty for settings with their own rules.
  let lua: [String]
  /// The key in JSON; nil if the report has its own code for the setting.
  package let report: String?
  /// The names of the XML attribute in an Xcode model: the first is written, all are read. Empty if Xcode has none, or
  /// has its own rules.
  package let xcode: [String]
  /// The representation in an archive; nil if the archive has its own code for the setting.
  package let archived: Archived?
  /// The access to the setting.
  package let field: Field

  /// An aspect with all of its parts.
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

  /// The key in camel case: `external_storage` becomes `externalStorage`.
  private static func camelCase(_ key: String) -> String {
    let words = key.split(separator: "_")
    return words.prefix(1).joined() + words.dropFirst().map(\.capitalized).joined()
  }
}

// MARK: Making one

extension Aspect {
  /// A boolean setting.
  ///
  /// - Parameters:
  ///   - key: The key in Lua.
  ///   - path: The property of the description.
  ///   - usual: The value in a new description.
  ///   - unnamed: The value in Xcode's files and archives without the setting.
  static func flag(
    _ key: String, at path: any WritableKeyPath<Owner, Bool> & Sendable, usual: Bool = false, unnamed: Bool = false,
    report: Report = .byKey, xcode: String..., archived: Archived? = nil
  ) -> Aspect {
    Aspect(key, report: report, xcode: xcode, archived: archived, field: .flag(path, usual: usual, unnamed: unnamed))
  }

  /// A setting with an optional text.
  static func text(
    _ key: String, at path: any WritableKeyPath<Owner, String?> & Sendable, report: Report = .byKey, xcode: String...,
    archived: Archived? = nil
  ) -> Aspect {
    Aspect(key, report: report, xcode: xcode, archived: archived, field: .text(path))
  }

  /// A setting with a number, where 0 is the default.
  static func number(
    _ key: String, at path: any WritableKeyPath<Owner, Int> & Sendable, report: Report = .byKey, xcode: String...,
    archived: Archived? = nil
  ) -> Aspect {
    Aspect(key, report: report, xcode: xcode, archived: archived, field: .number(path))
  }

  /// A setting with an optional number, which only Lua and JSON have.
  static func limit(_ key: String, at path: any WritableKeyPath<Owner, Int?> & Sendable) -> Aspect {
    Aspect(key, report: .byKey, xcode: [], archived: nil, field: .limit(path))
  }

  /// A setting with its own rules, whose value a function computes.
  static func stated(
    _ key: String, usual: AspectValue? = nil, report: Report = .byKey,
    _ value: @escaping @Sendable (Owner) -> AspectValue?
  ) -> Aspect {
    Aspect(key, report: report, xcode: [], archived: nil, field: .stated(value, usual: usual))
  }
}

// MARK: What a description says

extension Aspect {
  /// The value in a description, including defaults; nil if there is none.
  package func value(of owner: Owner) -> AspectValue? {
    switch field {
    case .flag(let path, _, _): .flag(owner[keyPath: path])
    case .text(let path): owner[keyPath: path].map(AspectValue.text)
    case .number(let path): .number(owner[keyPath: path])
    case .limit(let path): owner[keyPath: path].map(AspectValue.number)
    case .stated(let value, _): value(owner)
    }
  }

  /// The value in a description; nil for the default.
  ///
  /// Writers use it, so that a file states only what differs from a new description.
  func said(by owner: Owner) -> AspectValue? {
    switch field {
    case .flag(let path, let usual, _): owner[keyPath: path] == usual ? nil : .flag(!usual)
    case .number(let path) where owner[keyPath: path] == 0: nil
    case .stated(let value, let usual?): value(owner).flatMap { $0 == usual ? nil : $0 }
    default: value(of: owner)
    }
  }

  /// Sets the default of Xcode's files and archives in a new description.
  ///
  /// Only flags may have such a default.
  func setUnnamed(in owner: inout Owner) {
    if case .flag(let path, let usual, let unnamed) = field, unnamed != usual { owner[keyPath: path] = unnamed }
  }

  /// Copies the setting between descriptions.
  ///
  /// Settings with their own rules are not copied.
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
