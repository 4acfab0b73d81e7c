import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore

extension StartedProject {
  /// Creates a project for a store, or for a file of rows, from which the model is inferred.
  ///
  /// A file is a store if it begins like a SQLite database, and otherwise is read as rows. A store on a server is
  /// copied into a file.
  ///
  /// - Parameters:
  ///   - named: The store, which may include a configuration, or the path of the rows.
  ///   - extensions: The extensions to copy into the project.
  ///   - without: The names of extensions that the copied store no longer requires.
  /// - Throws: `.cannotOpenFile` for a file that cannot be read, and a `UsageError` for options
  ///   that do not apply to rows.
  static func around(
    _ named: String, _ extensions: [String], without: [String]
  ) throws -> StartedProject {
    let store = NamedStore(named)
    if store.isOnServer {
      let started = try StartedStore(store, extensions, without: without)
      return try around(started, stem: stem(of: store.description.schemaName()))
    }
    let path = store.path
    guard FileIdentity.kind(path) == nil, access(path, R_OK) == 0 else {
      throw GraphError(
        .cannotOpenFile, message: "\(path): there is no such file that can be read: name a store, or a file of rows")
    }
    if try BoundedFile.beginning(of: path, count: 16).starts(with: Array("SQLite format 3".utf8)) {
      return try around(StartedStore(store, extensions, without: without), stem: stem(of: path))
    }
    guard store.configuration == nil, extensions.isEmpty, without.isEmpty else {
      throw UsageError(
        "\(path) holds rows, and a configuration, --extension and --without-extension are for a store: leave them out")
    }
    return try around(rows: path, stem: stem(of: path))
  }

  /// The project for a store, which is copied when the project is written.
  ///
  /// - Parameters:
  ///   - store: The store with its model.
  ///   - stem: The name of the copy without its suffix.
  private static func around(_ store: StartedStore, stem: String) throws -> StartedProject {
    var project = try around(store.model, holding: store.entities, stem: stem, extensions: store.extensions)
    let name = "\(stem).sqlite"
    if let configuration = store.configuration {
      project.replaceText(
        of: Project.fileName, "store = \(name.luaText)", by: "store = { [\(configuration.luaText)] = \(name.luaText) }")
    }
    project.files.append((modelName, Array(try store.model.luaSource().utf8)))
    project.store = (name, { (folder: String) throws in try store.copy(to: "\(folder)/\(name)") })
    return project
  }

  /// The project for a file of rows. The model is inferred from all rows, and the store is filled
  /// when the project is written.
  private static func around(rows path: String, stem: String) throws -> StartedProject {
    let entity = RowInference.entityName(ofFile: path)
    let input = try ImportInput(path, format: nil, rejectPath: nil)
    guard let inferred = try RowInference(input).model(entity: entity) else { throw ExitCode(ExitStatus.interrupted) }
    var project = try around(inferred.model, holding: nil, stem: stem, extensions: StartedExtensions())
    project.files.append((modelName, Array(try inferred.luaSource().utf8)))
    let name = "\(stem).sqlite"
    project.store = (
      name,
      { (folder: String) throws in
        // Import the rows with the command, as a user would. Rows that cannot be imported are written to a reject file.
        let importing = try ImportCommand.parse([
          entity, path, "--store", "\(folder)/\(name)", "--model", "\(folder)/\(modelName)", "--no-project", "--quiet",
          "--rejects", "\(folder)/\(stem).rejects.csv",
        ])
        do { try importing.run() } catch let status as ExitCode where status.rawValue == ExitStatus.rejects {
          Terminal.complain("moonbase: some rows could not be taken: they are in \(folder)/\(stem).rejects.csv")
        }
      }
    )
    return project
  }

  /// A name for files that needs no quotes on the command line and in Lua.
  ///
  /// Example: `My People.csv` gives `My_People`.
  private static func stem(of path: String) -> String {
    let name = URL(literalPath: path).lastPathComponent.prefix { $0 != "." }
    let stem = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return stem.isEmpty || stem == "model" || stem == "script" ? "data" : stem
  }

  /// All files except the model, which comes from elsewhere. With `entities`, the store contains only these entities of
  /// the model.
  ///
  /// - Parameters:
  ///   - model: The model of the project.
  ///   - entities: The entities in the store, or nil for all.
  ///   - stem: The name of the extension and of the store.
  ///   - extensions: The copied extensions. If there are none, a new extension is written.
  private static func around(
    _ model: ManagedObjectModel, holding entities: Set<String>?, stem: String, extensions: StartedExtensions
  ) throws -> StartedProject {
    let subject = Subject(of: try model.resolved(), holding: entities)
    let own = extensions.paths.isEmpty
    let paths = own ? ["\(stem).lua"] : extensions.paths
    var project = StartedProject([
      (
        Project.fileName,
        StarterTexts.project.replacing("people.sqlite", with: "\(stem).sqlite")
          .replacing("\"people.lua\"", with: paths.map(\.luaText).joined(separator: ", "))
      ),
      ("\(stem)_test.lua", own ? subject.test : subject.testOfExtensions),
      ("script.lua", StarterTexts.countingScript(of: entities)),
      (
        "README.md",
        StarterTexts.readme(
          store: "\(stem).sqlite", entity: subject.entity, attribute: subject.attribute, extension: stem,
          script: "counts what is in the store"
        ).replacing("`\(stem).lua`", with: paths.map { "`\($0)`" }.joined(separator: ", "))
      ),
    ])
    if own { project.files.append(("\(stem).lua", Array(subject.extensionText(named: stem).utf8))) }
    project.files += extensions.files
    return project
  }

  /// Replaces a text in one of the files. Nothing happens if there is no file with the name.
  private mutating func replaceText(of name: String, _ text: String, by other: String) {
    guard let index = files.firstIndex(where: { $0.name == name }) else { return }
    files[index].bytes = Array(String(decoding: files[index].bytes, as: UTF8.self).replacing(text, with: other).utf8)
  }
}

/// The entity and the attribute that the extension uses in a project for existing data.
private struct Subject {
  /// The name of the entity.
  let entity: String
  /// The name of the attribute. It is empty if no entity has an attribute.
  let attribute: String
  /// Whether the attribute is a string, for which the example has a rule about its length.
  let isText: Bool
  /// The transformers and classes that the model requires.
  private let kept: KeptNames

  /// Uses the first string attribute of an entity that is not abstract. Otherwise, uses any attribute.
  ///
  /// - Parameters:
  ///   - model: The model of the project.
  ///   - held: The entities that the store contains, or nil for all.
  init(of model: ResolvedModel, holding held: Set<String>?) {
    let entities = model.entities.filter { !$0.description.isAbstract && held?.contains($0.name) ?? true }
    func attributes(_ entity: ResolvedEntity) -> [ResolvedProperty] {
      entity.attributeSlots.map { entity.properties[$0] }.filter { !$0.isTransient }
    }
    func isText(_ property: ResolvedProperty) -> Bool { property.attributeType == .string }
    let entity = entities.first { attributes($0).contains(where: isText) } ?? entities.first { !attributes($0).isEmpty }
    let property = entity.flatMap { entity in attributes(entity).first(where: isText) ?? attributes(entity).first }
    self.entity = entity?.name ?? entities.first?.name ?? "Thing"
    attribute = property?.name ?? ""
    self.isText = property.map(isText) ?? false
    kept = KeptNames(of: model)
  }

  /// The source of a new extension with an example of each possible part: a rule, a derived
  /// attribute and a transformer.
  ///
  /// - Parameter name: The name of the extension.
  func extensionText(named name: String) -> String {
    guard !attribute.isEmpty else {
      return "\(kept.classTables)return { name = \(name.luaText), version = \"1.0\", \(kept.entries)entities = {} }\n"
    }
    let rule =
      isText
      ? "[\(attribute.luaText)] = function(value) return #value <= 100000, \"is too long\" end,"
      : "-- [\(attribute.luaText)] = function(value) return value ~= nil, \"is not as it should be\" end,"
    return """
      -- The extension: what Lua adds to the model. Change it, and the program behaves differently.
      \(kept.classTables)return {
        name = \(name.luaText),
        version = "1.0",
        -- How values of a class are kept, for attributes of the type transformable whose transformer it is.
        \(kept.entries.isEmpty ? Self.exampleOfTransformer : kept.entries)entities = {
          [\(entity.luaText)] = {
            validate = {
              \(rule)
            },
            derived = {
              -- Not stored: it is computed where it is read. In the model, with stored = true, it would be kept.
              label = {
                type = "string",
                inputs = { \(attribute.luaText) },
                get = function(value) return value ~= nil and "[" .. tostring(value) .. "]" or nil end,
              },
            },
          },
        },
      }

      """
  }

  /// The example of a transformer, for a model that names none itself.
  private static let exampleOfTransformer = """
    transformers = {
        ReversedText = {
          transform = function(text) return text:reverse() end,
          reverse = function(bytes) return bytes:reverse() end,
        },
      },

    """ + "  "

  /// The source of a test for a project with the extensions of an existing store.
  ///
  /// The test inserts an object with the extensions. It passes if the extensions load and accept
  /// the object.
  var testOfExtensions: String {
    """
    -- moonbase test
    return {
      ["the extensions take an object"] = function(t)
        local object = t.context:insert(\(entity.luaText))
        t.equal(object ~= nil, true)
      end,
    }

    """
  }

  /// The source of a test for a project with a new extension. It tests the rule and the derived
  /// attribute.
  var test: String {
    guard !attribute.isEmpty else { return "return { [\"there is nothing to test yet\"] = function() end }\n" }
    let rule = """

        ["a text is not too long"] = function(t)
          local object = t.context:insert(\(entity.luaText))
          t.fails(function() return object:validate(\(attribute.luaText), ("x"):rep(100001)) end, "is too long")
        end,
      """
    return """
      -- moonbase test
      return {
        ["the label is derived"] = function(t)
          local object = t.context:insert(\(entity.luaText))
          t.equal(object.label, object[\(attribute.luaText)] ~= nil and "[" .. tostring(object[\(attribute.luaText)]) .. "]" or nil)
        end,
      \(isText ? rule : "")
      }

      """
  }
}

extension StarterTexts {
  /// The source of a script that counts the objects of the given entities, or of all entities.
  ///
  /// - Parameter entities: The names of the entities, or nil for all.
  static func countingScript(of entities: Set<String>?) -> String {
    let names = entities.map { "{ \($0.sorted().map(\.luaText).joined(separator: ", ")) }" } ?? "{}"
    let all = "for name in pairs(moonbase.model.entities) do names[#names + 1] = name end\ntable.sort(names)\n"
    return """
      -- moonbase run script.lua
      local context = moonbase.context
      local names = \(names)
      \(entities == nil ? all : "")for _, name in ipairs(names) do print(context:fetch(name):count(), name) end

      """
  }
}
