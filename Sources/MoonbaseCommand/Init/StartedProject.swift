import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The files of a new project.
///
/// All contents exist in memory before the first file is written, so that a failure leaves no
/// incomplete project. `people` creates the built-in example, and `around` creates a project for
/// existing data.
struct StartedProject {
  /// The contents of the files by name.
  var files: [(name: String, bytes: [UInt8])]
  /// The name of the store in the folder, and a function that creates it. Nil if a script creates the store.
  var store: (name: String, make: (_ folder: String) throws -> Void)?

  /// The name of the model file in the project.
  static let modelName = "model.lua"

  /// Creates a project of texts, without a store.
  ///
  /// - Parameter files: The names and the texts of the files.
  init(_ files: [(String, String)]) { self.files = files.map { ($0.0, Array($0.1.utf8)) } }

  /// Writes all files. Throws, and writes nothing, if one of the files exists.
  ///
  /// - Parameter folder: The path of the folder, which is created if it does not exist.
  /// - Throws: A `UsageError` for an existing file, and `.cannotOpenFile` if a file cannot be
  ///   written.
  func write(into folder: String) throws {
    try OutputFolder.make(folder)
    let names = files.map(\.name) + [store?.name].compactMap(\.self)
    for name in names where OutputFolder.isTaken("\(folder)/\(name)") {
      throw UsageError("\(folder)/\(name) is there: init makes a project in a folder without one, and replaces no file")
    }
    for (name, bytes) in files {
      if name.contains("/") { try OutputFolder.make("\(folder)/\(name)".folderOfPath) }
      let file = try OutputDestination(file: "\(folder)/\(name)", replacing: false)
      try bytes.withUnsafeBytes { try file.write($0) }
      try file.finish()
    }
    try store?.make(folder)
    let types = EditorTypes(try ModelFile.read("\(folder)/\(Self.modelName)")).text(of: Self.modelName)
    for advice in try EditorFiles.write(model: types, into: folder) { Terminal.complain("moonbase: \(advice)") }
  }
}

extension StartedProject {
  /// The files of an example with people and their favourite colours.
  ///
  /// The store of this project does not exist yet. The script creates it when it is run the first
  /// time.
  static func people() -> StartedProject {
    StartedProject([
      (Project.fileName, StarterTexts.project), (modelName, StarterTexts.model),
      ("people.lua", StarterTexts.extensionText),
      ("script.lua", StarterTexts.script), ("people.csv", StarterTexts.data), ("people_test.lua", StarterTexts.test),
      (
        "README.md",
        StarterTexts.readme(
          store: "people.sqlite", entity: "Person", attribute: "name", extension: "people",
          script: "takes `people.csv` into the store and asks it a question")
      ),
    ])
  }
}
