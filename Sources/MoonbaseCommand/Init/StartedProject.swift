import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The files of a project to start from.
struct StartedProject {
  /// Bytes by name.
  var files: [(name: String, bytes: [UInt8])]
  /// The name of the store in the folder, and a function that makes it; nil for one that a script makes.
  var store: (name: String, make: (_ folder: String) throws -> Void)?

  static let modelName = "model.lua"

  init(_ files: [(String, String)]) { self.files = files.map { ($0.0, Array($0.1.utf8)) } }

  /// Writes all of it. Throws, and nothing is written, where one of the files is there.
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
  /// An example of people with favourite colours.
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
