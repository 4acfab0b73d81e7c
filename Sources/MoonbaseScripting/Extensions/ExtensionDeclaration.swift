import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The declarations that an extension file returned, with functions in the Lua state of a domain.
struct ExtensionDeclaration {
  struct Transformer {
    var name: String
    var className: String?
    var transform: LuaFunction
    var reverse: LuaFunction?
    var examples: [Example] = []
  }

  /// A value and the stored form that a transformer makes of it.
  struct Example {
    var value: LuaValue
    var stored: LuaValue
  }

  struct Derived {
    var name: String
    var type: AttributeType?
    var inputs: [String]?
    var isPure = false
    var isStrict = false
    var isStored = false
    /// Whether the function receives the object after its inputs.
    var passesObject = false
    var get: LuaFunction?
    var set: LuaFunction?
    var shadow: String?
    var transformer: String?
    var readsEarly = false
    var writesLate = false
  }

  struct Entity {
    var name: String
    var normalize: [(key: String, function: LuaFunction)] = []
    var validate: [(key: String, function: LuaFunction)] = []
    var methods: [(key: String, function: LuaFunction)] = []
    var hooks: [String: LuaFunction] = [:]
    var derived: [Derived] = []
  }

  /// Another extension that must be present, with the accepted versions.
  struct Requirement {
    var name: String
    var versions: VersionRange?
  }

  let source: ScriptSource
  /// The table that the file returned.
  let table: LuaTable
  var name: String?
  var version: SemanticVersion?
  var requirements: [Requirement] = []
  /// The required version hashes, as prefixes, by entity.
  var requiredHashes: [(entity: String, hash: String)] = []
  var classes: [(name: String, value: LuaTable)] = []
  var transformers: [Transformer] = []
  /// The names of transformers with mistakes.
  var unreadTransformers: [String] = []
  var valueClasses: [String: [String: String]] = [:]
  var entities: [Entity] = []
  /// Translated messages of rules: by language, then by the original message.
  var messages: [String: [String: String]] = [:]
  var onReload: LuaFunction?

  /// Reads the table that the file returned. Mistakes are added to `mistakes`, and the affected parts are skipped.
  init(_ results: [LuaValue], source: ScriptSource, mistakes: ExtensionMistakes) throws {
    self.source = source
    table = try ReturnedTable.table(in: results, of: "an extension file") { message in
      ScriptError(.invalidExtension, message: message, at: SourceLocation(file: source.name))
    }
    guard try ReturnedTable.isExtension(table) || !ReturnedTable.isModel(table) else {
      throw ScriptError(
        .invalidExtension,
        message:
          "this file is a model, not an extension: name it as the model (--model of moonbase run, model of moonbase.open)",
        at: SourceLocation(file: source.name))
    }
    try read(ScriptTableReader(table: table, source: source, path: [], mistakes: mistakes))
  }
}
