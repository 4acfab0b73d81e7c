import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// Creates a project from the table in its file.
///
/// It checks the keys and the kinds of all values, and reports the first mistake with its position.
/// The keys are `store`, `model`, `extensions`, `sandbox` and `format`. docs/commands.md describes
/// them.
struct ProjectReader {
  /// A mistake with its position.
  typealias Failure = LuaDataReader.Failure

  /// The path of the project file.
  let file: String
  /// The name of the file for messages.
  let name: String
  /// The folder of the file, which `ProjectPath` uses.
  let folder: String

  /// The keys of a project.
  private static let keys = ["store", "model", "extensions", "sandbox", "format"]

  /// Interprets the table of a project file.
  ///
  /// - Parameter data: The value that the file returns.
  /// - Returns: The project.
  /// - Throws: A `Failure` for the first mistake.
  func project(_ data: LuaData) throws(Failure) -> Project {
    var project = Project(file: file, folder: folder)
    for (key, value) in try fields(of: data, Self.keys, "a project") {
      switch key {
      case "store": project.stores = try stores(value)
      case "model": project.model = try path(value, "model", "--model", "model")
      case "extensions": project.extensions = try extensions(value)
      case "sandbox": project.sandbox = try sandbox(value)
      default: project.format = try choice(value, key)
      }
    }
    return project
  }

  // MARK: Keys

  /// The stores: a path, or a table with a path for each configuration.
  private func stores(_ data: LuaData) throws(Failure) -> [Project.Store] {
    guard case .table(let entries) = data.content else {
      return [Project.Store(path: try path(data, "store", "--store", "store"))]
    }
    var stores: [Project.Store] = []
    for entry in entries {
      guard let key = entry.key else {
        throw Failure(
          message: "store is a text, or a table of texts by configuration, as { Local = \"local.sqlite\" }",
          place: entry.place)
      }
      stores.append(Project.Store(configuration: key, path: try path(entry.value, "store", "--store", "store")))
    }
    return stores
  }

  /// The extensions: a path, or a list of paths and tables.
  private func extensions(_ data: LuaData) throws(Failure) -> [Project.Extension] {
    if case .string = data.content { return [try makeExtension(data)] }
    var all: [Project.Extension] = []
    for element in try list(of: data, "extensions") { all.append(try makeExtension(element)) }
    return all
  }

  /// The keys of an extension.
  private static let extensionKeys = ["path", "limits", "grants"]

  /// An extension: a path, or a table with a path, limits and grants.
  private func makeExtension(_ data: LuaData) throws(Failure) -> Project.Extension {
    guard case .table(var entries) = data.content else {
      return Project.Extension(path: try path(data, "extension", "--extension", "extensions"))
    }
    // `{ "colors.lua", limits = ... }` means `{ path = "colors.lua", limits = ... }`.
    if let first = entries.first, first.key == nil { entries[0].key = "path" }
    let fields = try fields(
      of: LuaData(content: .table(entries), place: data.place), Self.extensionKeys, "an extension")
    guard let named = fields.first(where: { $0.key == "path" })?.value else {
      throw Failure(message: "an extension has a path, as { \"colors.lua\", limits = { } }", place: data.place)
    }
    var result = Project.Extension(path: try path(named, "extension", "--extension", "extensions"))
    for (key, value) in fields {
      if key == "limits" { result.limits = try limits(value) }
      if key == "grants" { result.grants = try grants(value) }
    }
    return result
  }

  /// The limits of an extension.
  private func limits(_ data: LuaData) throws(Failure) -> ExtensionLimits {
    var limits = ExtensionLimits()
    for (key, value) in try fields(of: data, ["instructions", "memory", "time", "disable"], "limits") {
      switch key {
      case "instructions": limits.instructions = try positive(value, key).0
      case "memory": limits.memory = try memory(value)
      case "time": limits.time = Duration(seconds: try positive(value, key).1)
      default: if try boolean(value, key) { limits.onExceeding = .disable }
      }
    }
    return limits
  }

  /// A number of bytes, or a text such as `64M`.
  private func memory(_ data: LuaData) throws(Failure) -> UInt64 {
    if case .string(let text) = data.content, let count = ByteCount(argument: text), count.bytes > 0 {
      return count.bytes
    }
    do {
      return UInt64(try positive(data, "memory").0)
    } catch {
      throw Failure(message: "\(error.message), or a text with K, M or G, as \"16M\"", place: error.place)
    }
  }

  /// The grants of an extension. Each is a text or a list of texts.
  private func grants(_ data: LuaData) throws(Failure) -> Project.Grants {
    var grants = Project.Grants()
    for (key, value) in try fields(of: data, ["read", "write", "env"], "grants") {
      let elements: [LuaData] = if case .string = value.content { [value] } else { try list(of: value, key) }
      for element in elements {
        switch key {
        case "env": grants.variables.append(try text(element, "a variable"))
        case "read": grants.readable.append(try path(element, "folder to read", "--allow read", "grants"))
        default: grants.writable.append(try path(element, "folder to write", "--allow write", "grants"))
        }
      }
    }
    return grants
  }

  /// The preset of the sandbox. The preset `trusted` is refused, because a project must not give
  /// itself all permissions.
  private func sandbox(_ data: LuaData) throws(Failure) -> LuaPreset {
    let preset: LuaPreset = try choice(data, "sandbox")
    guard preset != .trusted else {
      throw Failure(
        message: "a project gives scripts no sandbox 'trusted': ask for it on the command line, --sandbox trusted",
        place: data.place)
    }
    return preset
  }

  // MARK: Values

  /// The entries of a table by name. Only known keys are allowed.
  ///
  /// - Parameters:
  ///   - data: The table.
  ///   - known: The allowed keys.
  /// - Throws: A `Failure` for another kind of value, an unknown key with a suggestion, or an entry
  ///   without a key.
  private func fields(
    of data: LuaData, _ known: [String], _ what: String
  ) throws(Failure) -> [(key: String, value: LuaData)] {
    guard case .table(let entries) = data.content else {
      throw Failure(message: "\(what) is a table, not \(data.phrase)", place: data.place)
    }
    var fields: [(key: String, value: LuaData)] = []
    for entry in entries where entry.value.content != .none {
      guard let key = entry.key, known.contains(key) else {
        let problem = entry.key.map { "\(what) has no '\($0)'\(suggestion(for: $0, among: known))" }
        throw Failure(
          message: "\(problem ?? "\(what) has values by name"): there are \(known.joined(separator: ", "))",
          place: entry.place)
      }
      fields.append((key, entry.value))
    }
    return fields
  }

  /// The values of a list. Entries with keys are refused.
  private func list(of data: LuaData, _ what: String) throws(Failure) -> [LuaData] {
    guard case .table(let entries) = data.content else {
      throw Failure(message: "\(what) is a list, not \(data.phrase)", place: data.place)
    }
    if let named = entries.first(where: { $0.key != nil }) {
      throw Failure(message: "\(what) is a list, and this entry has a name: leave the name out", place: named.place)
    }
    return entries.map(\.value)
  }

  /// A text.
  private func text(_ data: LuaData, _ what: String) throws(Failure) -> String {
    guard case .string(let text) = data.content else {
      throw Failure(message: "\(what) is a text, not \(data.phrase)", place: data.place)
    }
    return text
  }

  /// Finds a value by its name.
  ///
  /// The cases of an enumeration are the allowed texts.
  ///
  /// - Throws: A `Failure` with a suggestion.
  private func choice<Choice: CaseIterable & RawRepresentable<String>>(
    _ data: LuaData, _ what: String
  ) throws(Failure) -> Choice {
    let name = try text(data, what)
    guard let choice = Choice(rawValue: name) else {
      let names = Choice.allCases.map(\.rawValue)
      throw Failure(
        message:
          "\(what) is one of \(names.joined(separator: ", ")), not '\(name)'\(suggestion(for: name, among: names))",
        place: data.place)
    }
    return choice
  }

  /// A path with its position.
  ///
  /// - Parameters:
  ///   - data: The text.
  ///   - option: The option that can name another path.
  ///   - key: The key of the project file.
  private func path(
    _ data: LuaData, _ what: String, _ option: String, _ key: String
  ) throws(Failure) -> ProjectPath {
    ProjectPath(
      text: try text(data, what), folder: folder, place: "\(name):\(data.place.line):\(data.place.column)", what: what,
      option: option, key: key)
  }

  /// A Boolean.
  private func boolean(_ data: LuaData, _ what: String) throws(Failure) -> Bool {
    guard case .boolean(let value) = data.content else {
      throw Failure(message: "\(what) is true or false, not \(data.phrase)", place: data.place)
    }
    return value
  }

  /// A number above 0, as a whole number and as a number with a fraction.
  private func positive(_ data: LuaData, _ what: String) throws(Failure) -> (Int64, Double) {
    switch data.content {
    case .integer(let value) where value > 0: return (value, Double(value))
    case .number(let value) where value > 0:
      // A fraction of a unit counts as one unit.
      return (Int64(exactly: value.rounded(.up)) ?? .max, value)
    default: throw Failure(message: "\(what) is a number above 0, not \(data.valuePhrase)", place: data.place)
    }
  }
}
