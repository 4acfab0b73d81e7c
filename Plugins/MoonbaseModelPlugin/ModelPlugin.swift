import Foundation
import PackagePlugin

/// Makes the classes of the models in a target's folder when the target is built.
///
/// The names of models end in `.model.lua`, `.xcdatamodeld` or `.xcdatamodel`. Where the target has a file
/// `Person.swift`, the class `Person` is the program's own, and the build makes its properties.
@main struct ModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let module = target as? any SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "moonbase-model").url
    let folder = module.directoryURL
    let files = try Self.files(below: folder)
    let own = files.filter { $0.hasSuffix(".swift") }.map {
      URL(filePath: $0).deletingPathExtension().lastPathComponent
    }
    let models = Set(files.compactMap(Self.model)).sorted()
    return models.map { model in
      let output = context.pluginWorkDirectoryURL.appending(path: Self.output(of: model))
      let inputs = files.filter { $0 == model || $0.hasPrefix("\(model)/") }
      return .buildCommand(
        displayName: "Making classes of \(model)", executable: tool,
        arguments: [folder.appending(path: model).path(percentEncoded: false), output.path(percentEncoded: false)]
          + Set(own).sorted(),
        inputFiles: inputs.map { folder.appending(path: $0) }, outputFiles: [output])
    }
  }

  /// The paths of all files below a folder, from there on.
  private static func files(below folder: URL) throws -> [String] {
    let walk = FileManager.default.enumerator(atPath: folder.path(percentEncoded: false))
    return (walk?.compactMap { $0 as? String } ?? []).sorted()
  }

  /// The model that a file is, or lies in.
  private static func model(_ path: String) -> String? {
    if path.lowercased().hasSuffix(".model.lua") { return path }
    var names: [Substring] = []
    for name in path.split(separator: "/").dropLast() {
      names.append(name)
      if name.hasSuffix(".xcdatamodeld") || name.hasSuffix(".xcdatamodel") { return names.joined(separator: "/") }
    }
    return nil
  }

  /// A name that no other file of the target has: `Shop+MoonbaseModel.swift`, with the folders in which the model lies.
  private static func output(of model: String) -> String {
    let end = [".model.lua", ".xcdatamodeld", ".xcdatamodel"].first { model.lowercased().hasSuffix($0) } ?? ""
    return "\(model.dropLast(end.count).replacing("/", with: "+"))+MoonbaseModel.swift"
  }
}
