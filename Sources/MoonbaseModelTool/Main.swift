import MoonbaseLuaModel
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// The program of `MoonbaseModelPlugin`: writes the classes of a model into a file.
///
///     moonbase-model MODEL OUTPUT [CLASS ...]
///
/// The named classes are declared by the program itself, so only their properties are written.
@main enum ModelTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 2 else { fail("moonbase-model: error: a model and a file to write are expected") }
    let (model, output) = (arguments[0], arguments[1])
    do {
      try write(model, to: output, besides: Set(arguments.dropFirst(2)))
    } catch let error as ModelError {
      fail(error.all.map { line($0, of: model) }.joined(separator: "\n"))
    } catch {
      fail("\(output): error: \(error.localizedDescription)")
    }
  }

  private static func write(_ path: String, to output: String, besides own: Set<String>) throws {
    let source = try ModelSource(contentsOf: URL(literalPath: path))
    let model = try ManagedObjectModel.read(source, readers: ManagedObjectModel.readers + [LuaModelFile()])
    let classes = try SwiftModel(model.resolved(), name: ModelName.of(path))
    try Data(classes.text(besides: own).utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
  }

  /// The message in the form of compilers, so that an editor finds the place.
  private static func line(_ error: ModelError, of model: String) -> String {
    let place = error.location ?? SourceLocation(file: model)
    return "\(place): error: \(error.message)"
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
  }
}
