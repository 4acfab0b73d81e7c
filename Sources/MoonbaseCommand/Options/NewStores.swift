import Moonbase
import MoonbaseGraph
import MoonbasePlatform

/// The stores that do not exist yet and that a command creates when it opens them.
///
/// It is created before the stores are opened, and prints a message after they are open.
struct NewStores {
  /// The paths of the stores that do not exist.
  private let paths: [String]

  /// Throws if it is not certain that the store is to be created, because its name may be mistyped. For a new store,
  /// the command line must name a model, or the store must be the store of the project.
  ///
  /// - Parameter settings: The stores and the model of the command.
  /// - Throws: `.cannotOpenFile` for a store that may be mistyped.
  init(_ settings: StoreSettings) throws {
    let missing = settings.stores.compactMap(\.path).filter { access($0, F_OK) != 0 && errno == ENOENT }
    paths = settings.readOnly ? [] : missing
    guard let first = paths.first else { return }
    guard let model = settings.model else {
      // The model comes from the other stores. If there are none, opening fails with a message.
      guard paths.count < settings.stores.count else { return }
      throw GraphError(
        .cannotOpenFile, message: "\(first) does not exist: correct the name, or name a model to make it (--model FILE)"
      )
    }
    guard settings.projectFiles.contains(where: { $0.key == "model" }), let project = try Project.current() else {
      return
    }
    let known = try project.namedStores()
    let places = Set(known.map { Self.place($0.path) })
    guard let stranger = paths.first(where: { !places.contains(Self.place($0)) }) else { return }
    let advice = known.isEmpty ? "" : ", and the store of \(project.file) is \(known.phrase)"
    throw GraphError(
      .cannotOpenFile,
      message: "\(stranger) does not exist\(advice): correct the name, or name the model to make it (--model \(model))")
  }

  /// The absolute path of a store, for comparisons.
  private static func place(_ path: String) -> String { URL(literalPath: path).standardizedFileURL.path }

  /// Prints which stores were created.
  ///
  /// - Parameter quiet: Whether messages are suppressed.
  func tell(quiet: Bool) {
    guard !quiet else { return }
    for path in paths where access(path, F_OK) == 0 { Terminal.complain("moonbase: \(path) is a new store") }
  }
}
