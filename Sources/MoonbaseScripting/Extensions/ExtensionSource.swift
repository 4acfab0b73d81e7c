import MoonbaseModel
public import MoonbaseGraph
public import MoonbaseLua
public import MoonbasePlatform

/// The source of an extension: a Lua file, or Swift code.
///
/// ```swift
/// let extensions: [ExtensionSource] = [
///   .file(colorsURL),
///   .entity("Person") {
///     var person = EntityExtension()
///     person.validate["age"] = { age, _ in age == 13 ? .init("is unlucky") : nil }
///     return person
///   },
/// ]
/// ```
///
/// A value that only names its source. Files are read when a `ScriptExtensions` is made, and again at each reload; a
/// folder is then listed anew.
public struct ExtensionSource: Sendable {
  /// The kinds of sources.
  enum Kind: Sendable {
    case file(URL)
    case directory(URL)
    case path(String)
    case text(ScriptSource)
    case closures(ClosureExtensions)
    case type(name: String, type: any (Decodable & Sendable).Type)
  }

  /// The kind of source, with its content or its place.
  let kind: Kind
  /// Nil takes the limits of the container's description, if any.
  var limits: ExtensionLimits?
  /// The files that the extension may use through `io`; nil for none.
  var grants: LuaFileAccess?

  /// A file with its own limits and with grants of files and variables. Without grants the extension has no `io`.
  public static func file(
    _ url: URL, limits: ExtensionLimits? = nil, grants: LuaFileAccess? = nil
  ) -> ExtensionSource {
    ExtensionSource(kind: .file(url), limits: limits, grants: grants)
  }

  /// Every `.lua` file in a folder, in order of their names, each with these limits and grants.
  public static func directory(
    _ url: URL, limits: ExtensionLimits? = nil, grants: LuaFileAccess? = nil
  ) -> ExtensionSource {
    ExtensionSource(kind: .directory(url), limits: limits, grants: grants)
  }

  /// A file, or every `.lua` file in a folder. The kind is determined when it is opened.
  package static func path(_ path: String) -> ExtensionSource { ExtensionSource(kind: .path(path)) }

  /// A file or folder with limits and grants.
  package static func path(_ path: String, limits: ExtensionLimits?, grants: LuaFileAccess?) -> ExtensionSource {
    ExtensionSource(kind: .path(path), limits: limits, grants: grants)
  }

  /// The file or folder found at this path, with the limits and grants of the path.
  package func located(as found: ExtensionSource) -> ExtensionSource {
    ExtensionSource(kind: found.kind, limits: limits, grants: grants)
  }

  /// The path, as given, of a source whose kind is not determined yet.
  package var path: String? { if case .path(let path) = kind { path } else { nil } }

  /// A text in memory. `name` identifies it in messages.
  public static func text(
    _ text: String, name: String, limits: ExtensionLimits? = nil, grants: LuaFileAccess? = nil
  ) -> ExtensionSource {
    ExtensionSource(kind: .text(ScriptSource(name: name, text: text)), limits: limits, grants: grants)
  }

  /// Rules, hooks and derived attributes of an entity, written in Swift. `make` is called for every context.
  ///
  /// Rules and hooks in Swift run before those of scripts. A derived attribute that the model lacks is added as a
  /// transient attribute.
  public static func entity(_ name: String, _ make: @escaping @Sendable () -> EntityExtension) -> ExtensionSource {
    closures { $0.extend(name, make) }
  }

  /// A transformer written in Swift. `make` is called for every context.
  public static func transformer(_ make: @escaping @Sendable () -> ValueTransformer) -> ExtensionSource {
    closures { $0.register(make) }
  }

  /// A class of values written in Swift. `make` is called for every context.
  public static func valueClass(_ make: @escaping @Sendable () -> ValueClass) -> ExtensionSource {
    closures { $0.register(make) }
  }

  /// A type of the program that a class of a script names in its field `swift`. `Value.decode()` decodes values of the
  /// class as this type.
  ///
  /// ```swift
  /// // in Lua: Color.swift = "Color"
  /// let extensions: [ExtensionSource] = [.file(colorsURL), .codable("Color", Color.self)]
  /// ```
  public static func codable(_ name: String, _ type: any (Decodable & Sendable).Type) -> ExtensionSource {
    ExtensionSource(kind: .type(name: name, type: type))
  }

  /// The registered types, by name.
  static func types(of sources: [ExtensionSource]) -> [String: any (Decodable & Sendable).Type] {
    sources.reduce(into: [:]) { all, source in
      if case .type(let name, let type) = source.kind { all[name] = type }
    }
  }

  /// Several extensions written in Swift.
  public static func closures(_ closures: ClosureExtensions) -> ExtensionSource {
    ExtensionSource(kind: .closures(closures))
  }

  /// A source made of a single Swift extension.
  private static func closures(_ add: (inout ClosureExtensions) -> Void) -> ExtensionSource {
    var closures = ClosureExtensions()
    add(&closures)
    return .closures(closures)
  }

  /// The extensions given as Swift code.
  static func closures(of sources: [ExtensionSource]) -> ClosureExtensions {
    sources.reduce(into: ClosureExtensions()) { all, source in
      if case .closures(let closures) = source.kind { all.add(closures) }
    }
  }

  /// Reads the source. Throws for a file larger than the limit. A folder gives a source per file, in the order of
  /// names. `limit` is in bytes. Throws `.cannotOpenFile` for a folder that cannot be listed.
  func read(limit: Int?) throws(ScriptError) -> [ScriptSource] {
    var sources = try readAsIs(limit: limit)
    for index in sources.indices { (sources[index].extensionLimits, sources[index].grants) = (limits, grants) }
    return sources
  }

  /// Reads without limits and grants.
  private func readAsIs(limit: Int?) throws(ScriptError) -> [ScriptSource] {
    switch kind {
    case .closures, .type: return []
    case .text(let source): return [source]
    case .file(let url): return [try ScriptSource(contentsOf: url, limit: limit)]
    case .path(let path): return [try ScriptSource(contentsOf: URL(literalPath: path), limit: limit)]
    case .directory(let url):
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: url.path)
      } catch {
        throw ScriptError(.cannotOpenFile, message: "\(url.relativePath) is no folder of extensions that can be read")
      }
      var sources: [ScriptSource] = []
      for name in names.sorted() where name.hasSuffix(".lua") {
        sources.append(try ScriptSource(contentsOf: url.appendingPathComponent(name), limit: limit))
      }
      return sources
    }
  }
}
