import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// The declarations that an extension file returned, with functions in the Lua state of a domain.
///
/// A passive value: reading it runs nothing but the file itself. `ExtensionOrder` sorts declarations,
/// `ExtensionChecker` checks them, `DomainBuilder` makes closures from them. A declaration belongs to one Lua state;
/// each context's domain reads its own from the same text.
struct ExtensionDeclaration {
  /// A pair of functions between values and bytes, as in Core Data's value transformers.
  struct Transformer {
    var name: String
    /// The class of the values in front of the transformation; nil for plain values.
    var className: String?
    /// From value to bytes, when the attribute is assigned or saved.
    var transform: LuaFunction
    /// From bytes to value; nil for a transformer of one direction.
    var reverse: LuaFunction?
    var examples: [Example] = []
  }

  /// A value and the stored form that a transformer makes of it.
  struct Example {
    var value: LuaValue
    var stored: LuaValue
  }

  /// A derived attribute, with the keys of its table.
  struct Derived {
    var name: String
    /// Nil takes the type of the model's attribute.
    var type: AttributeType?
    /// Key paths whose values are the arguments of `get`; nil passes the object.
    var inputs: [String]?
    /// Whether the value depends on the inputs alone, so that a store may compute it within a query.
    var isPure = false
    /// Whether a missing input makes the value nil without a call.
    var isStrict = false
    /// Whether the value is written to the attribute's column at each save.
    var isStored = false
    /// Whether the function receives the object after its inputs.
    var passesObject = false
    var get: LuaFunction?
    var set: LuaFunction?
    /// The attribute that holds the transformed value.
    var shadow: String?
    /// The transformer between this attribute and its shadow.
    var transformer: String?
    /// Whether the value is computed when the object is fetched (`read = "pre_calculated"`).
    var readsEarly = false
    /// Whether an assigned value reaches `set` only at the save (`write = "delayed"`).
    var writesLate = false
  }

  /// The hooks, rules and attributes of an entity. Lists keep the order of the keys' names.
  struct Entity {
    var name: String
    /// Functions that change an assigned value before it is set.
    var normalize: [(key: String, function: LuaFunction)] = []
    /// Rules by property or by key path (`department.budget`).
    var validate: [(key: String, function: LuaFunction)] = []
    /// Functions that objects have as methods.
    var methods: [(key: String, function: LuaFunction)] = []
    /// The hooks by the names of scripts, such as `will_save`.
    var hooks: [String: LuaFunction] = [:]
    var derived: [Derived] = []
  }

  /// Another extension that must be present, with the accepted versions.
  struct Requirement {
    var name: String
    /// Nil accepts any version.
    var versions: VersionRange?
  }

  let source: ScriptSource
  /// The table that the file returned.
  let table: LuaTable
  /// The declared name; nil for a file without one, which cannot be required.
  var name: String?
  var version: SemanticVersion?
  var requirements: [Requirement] = []
  /// The required version hashes, as prefixes, by entity.
  var requiredHashes: [(entity: String, hash: String)] = []
  /// Classes of values by name, with their metatables.
  var classes: [(name: String, value: LuaTable)] = []
  var transformers: [Transformer] = []
  /// The names of transformers with mistakes.
  var unreadTransformers: [String] = []
  /// The class of values by entity and attribute.
  var valueClasses: [String: [String: String]] = [:]
  var entities: [Entity] = []
  /// Translated messages of rules: by language, then by the original message.
  var messages: [String: [String: String]] = [:]
  /// Called in each context after a reload.
  var onReload: LuaFunction?

  /// Reads the table that the file returned. Mistakes are added to `mistakes`, and the affected parts are skipped.
  ///
  /// Throws `.invalidExtension` if the file returned no table, or a model instead of an extension.
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
