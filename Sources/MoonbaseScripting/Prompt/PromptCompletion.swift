import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// The candidates for completing the text before the cursor of a prompt.
///
/// A plain value, made for each press of the key. The command replaces the bytes before the cursor by a candidate, or
/// asks the file system.
package struct PromptCompletion: Equatable {
  /// The number of bytes before the cursor that a candidate replaces.
  package var length = 0
  /// The candidates in order, without duplicates.
  package var candidates: [String] = []
  /// Whether file names are requested, of which `length` bytes are typed.
  package var wantsFile = false

  /// No candidates.
  package static let none = PromptCompletion()

  /// The names with this prefix, without duplicates. `word` itself is left out. Candidates end in `(` if they are
  /// called.
  package static func of(_ word: String, among names: [String]) -> PromptCompletion {
    var seen: Set<String> = []
    let candidates = names.filter { $0.hasPrefix(word) && $0 != word && seen.insert($0).inserted }
    return candidates.isEmpty ? .none : PromptCompletion(length: word.utf8.count, candidates: candidates)
  }

  /// A completion with these candidates.
  package init(length: Int = 0, candidates: [String] = [], wantsFile: Bool = false) {
    (self.length, self.candidates, self.wantsFile) = (length, candidates, wantsFile)
  }
}

/// For example, for `moonbase.context:fetch("Pe`, the candidates are entities that begin with `Pe`; for `person.`, the
/// properties of the entity.
extension ScriptPrompt {
  /// Completes a line without running script code: tables are read without their metamethods, and objects are known by
  /// their entities, so that no getter is called and no fault fires.
  package func completion(of line: [UInt8]) -> PromptCompletion {
    var tokens = CodeToken.all(of: line)
    if let last = tokens.last, last.isOpenText {
      tokens.removeLast()
      return completion(ofText: last, behind: tokens)
    }
    var word = ""
    if let last = tokens.last, last.range.upperBound == line.count, case .name(let name) = last.token {
      word = name
      tokens.removeLast()
    }
    let names: [String]
    if let sign = tokens.last?.sign, sign == "." || sign == ":", tokens.dropLast().last?.sign != sign {
      names = PromptReceiver(self, tokens.dropLast()).members(asMethods: sign == ":")
    } else if tokens.last?.range.upperBound == line.count, tokens.last?.takesLetters == true {
      return .none
    } else {
      names = word.isEmpty ? [] : globals
    }
    return PromptCompletion.of(word, among: names)
  }

  /// The names of global variables and the keywords of Lua.
  private var globals: [String] {
    let names = (try? environment.table.pairs)?.compactMap { pair -> String? in
      guard let name = pair.key.textValue?.identifier else { return nil }
      return if case .function = pair.value { "\(name)(" } else { name }
    }
    return (names ?? []).sorted() + LuaLexer.keywords.sorted()
  }
}

// MARK: - Within a text

extension ScriptPrompt {
  /// Methods of contexts whose first text is an entity.
  private static let takingEntity: Set = ["fetch", "insert", "find", "upsert", "batch_insert", "recompute"]
  /// Methods whose text has key paths.
  private static let takingPaths: Set = ["where", "sort", "prefetch", "group_by", "having", "observe", "primitive"]
  /// Functions whose first text is a file.
  private static let takingFile: Set = ["dofile", "loadfile", "open", "lines"]
  /// Fields of the table of `moonbase.open` that are files.
  private static let fieldsOfFiles: Set = ["store", "model", "extensions"]

  /// Completes within a text that is not closed. `tokens` are those before it.
  private func completion(ofText text: CodeToken, behind tokens: [CodeToken]) -> PromptCompletion {
    guard case .string(let start) = text.token else { return .none }
    // A key of `moonbase.open { store = "..." }`.
    if tokens.last?.sign == "=", case .name(let field)? = tokens.dropLast().last?.token,
      Self.fieldsOfFiles.contains(field)
    {
      return PromptCompletion(length: start.utf8.count, wantsFile: true)
    }
    var rest = tokens[...]
    if rest.last?.sign == "(" { rest.removeLast() }
    guard case .name(let function)? = rest.popLast()?.token else { return .none }
    if function == "require" { return PromptCompletion.of(start, among: modules) }
    if function == "fetch_template" {
      return PromptCompletion.of(start, among: (model?.description.fetchRequestTemplates.keys.sorted() ?? []))
    }
    if Self.takingEntity.contains(function), rest.last?.sign == ":" {
      return PromptCompletion.of(start, among: model?.entities.map(\.name).sorted() ?? [])
    }
    if Self.takingPaths.contains(function), rest.popLast()?.sign == ":",
      let entity = PromptReceiver(self, rest).entity
    {
      return paths(from: entity, start)
    }
    return Self.takingFile.contains(function) ? PromptCompletion(length: start.utf8.count, wantsFile: true) : .none
  }

  /// The modules that `require` finds.
  private var modules: [String] { LuaFiles.modules + domain.state.modules.namesInFolders }

  /// Completes the last key path of a predicate or a sort key. Follows the relationships of the path; no candidates for
  /// a path that is wrong.
  private func paths(from start: ResolvedEntity, _ text: String) -> PromptCompletion {
    let path = String(text.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }.reversed())
    var keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let last = keys.popLast() ?? ""
    var entity = start
    for key in keys {
      guard let relationship = entity.property(key)?.relationship, let model else { return .none }
      entity = model.destination(of: relationship)
    }
    return PromptCompletion.of(last, among: entity.allProperties.map(\.name).sorted())
  }

  /// The model of the context, including attributes of extensions.
  var model: ResolvedModel? { domain.contexts.given?.model ?? domain.model }
}

extension CodeToken {
  /// Whether a name written directly after it would be part of the token. For example after `12`, where a name would be
  /// part of the number.
  var takesLetters: Bool { if case .number = token { true } else { false } }
}

extension String {
  /// The text if it is an ASCII name in Lua; nil for keywords and other texts. A name of this form may follow a dot.
  var identifier: String? {
    guard let first = utf8.first, first < 0x30 || first > 0x39, !LuaLexer.keywords.contains(self) else { return nil }
    let isName = utf8.allSatisfy { byte in
      byte < 0x80 && (byte == 0x5f || Character(UnicodeScalar(byte)).isLetter || (0x30...0x39).contains(byte))
    }
    return isName ? self : nil
  }
}
