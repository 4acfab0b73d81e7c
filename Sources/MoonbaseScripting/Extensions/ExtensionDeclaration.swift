import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// What one extension file returned, with its functions in one domain's Lua state.
struct ExtensionDeclaration {
  struct Transformer {
    var name: String
    var className: String?
    var transform: LuaFunction
    var reverse: LuaFunction?
    var examples: [Example] = []
  }

  /// A value and what a transformer makes of it.
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
    /// Whether the function gets the object behind its inputs.
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

  /// Another extension that has to be there, and which versions of it will do.
  struct Requirement {
    var name: String
    var versions: VersionRange?
  }

  let source: ScriptSource
  /// What the file returned.
  let table: LuaTable
  var name: String?
  var version: SemanticVersion?
  var requirements: [Requirement] = []
  /// By entity: how the version hash begins that it must have.
  var requiredHashes: [(entity: String, hash: String)] = []
  var classes: [(name: String, value: LuaTable)] = []
  var transformers: [Transformer] = []
  /// The names of transformers that could not be read.
  var unreadTransformers: [String] = []
  var valueClasses: [String: [String: String]] = [:]
  var entities: [Entity] = []
  /// Messages of rules in other languages: by language, by the message as the rule gives it.
  var messages: [String: [String: String]] = [:]
  var onReload: LuaFunction?

  /// Reads the table that the file returned. Parts with mistakes go to `mistakes` and are left out.
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
