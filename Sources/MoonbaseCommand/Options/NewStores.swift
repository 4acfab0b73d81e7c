import Moonbase
import MoonbaseGraph
import MoonbasePlatform

/// The stores that do not exist yet and that a command creates when it opens them.
///
/// It is created before the stores are opened, and prints a message after they are open.
struct NewStores {
  /// The stores that do not exist.
  private let stores: [PersistentStoreDescription]

  /// Throws if it is not certain that the store is to be created, because its name may be mistyped. For a new store,
  /// the command line must name a model, or the store must be the store of the project.
  ///
  /// - Parameter settings: The stores and the model of the command.
  /// - Throws: `.cannotOpenFile` for a store that may be mistyped.
  init(_ settings: StoreSettings) throws {
    // Without a model, opening refuses a store on a server that does not exist.
    let isMissing = { (store: PersistentStoreDescription) throws in
      try (settings.model != nil || store.url != nil) && store.isMissing()
    }
    stores = try settings.readOnly ? [] : settings.stores.filter(isMissing)
    guard let first = stores.first?.name else { return }
    guard let model = settings.model else {
      // The model comes from the other stores. If there are none, opening fails with a message.
      guard stores.count < settings.stores.count else { return }
      throw GraphError(
        .cannotOpenFile, message: "\(first) does not exist: correct the name, or name a model to make it (--model FILE)"
      )
    }
    guard settings.projectFiles.contains(where: { $0.key == "model" }), let project = try Project.current() else {
      return
    }
    let known = try project.namedStores()
    let places = Set(known.map { Self.place($0.description) })
    guard let stranger = stores.first(where: { !places.contains(Self.place($0)) })?.name else { return }
    let advice = known.isEmpty ? "" : ", and the store of \(project.file) is \(known.phrase)"
    throw GraphError(
      .cannotOpenFile,
      message: "\(stranger) does not exist\(advice): correct the name, or name the model to make it (--model \(model))")
  }

  /// The absolute path of a store or its address, for comparisons.
  private static func place(_ store: PersistentStoreDescription) -> String {
    store.url?.standardizedFileURL.path ?? store.address?.absoluteString ?? ""
  }

  /// Prints which stores were created.
  ///
  /// - Parameter quiet: Whether messages are suppressed.
  func tell(quiet: Bool) {
    guard !quiet else { return }
    for store in stores where (try? store.isMissing()) == false {
      Terminal.complain("moonbase: \(store.name) is a new store")
    }
  }
}
