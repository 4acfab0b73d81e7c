import ArgumentParser

/// The only store of a command, given as an argument, by `--store`, in `MOONBASE_STORE` or in the project.
///
/// Commands that examine or rewrite one file use it. The store may be named in one of these ways
/// only. The file need not exist when the arguments are parsed.
struct StoreArgument: ParsableArguments {
  @Argument(help: Self.help, completion: .file())
  var store: String?

  @Option(name: StoreOption.store.parserName, help: Self.optionHelp, completion: .file())
  var named: [String] = []

  /// The help of the argument.
  static let help: ArgumentHelp = "The store (default: that of the project); --store names it too."
  /// The help of `--store`.
  static let optionHelp = ArgumentHelp("The store, instead of the argument.", valueName: "[CONFIG=]PATH")

  /// Rejects a store that is named twice or not at all, and a store on a server.
  func validate() throws {
    try Self.checkCount((store.map { [$0] } ?? []) + named)
    if Self.named(store, named) == nil {
      try understood { _ = try Project.current()?.onlyStore() }
    }
    guard !path.isEmpty else { throw Self.missing }
  }

  /// The message about two stores.
  ///
  /// - Parameter stores: At least two names.
  static func several(_ stores: [String]) -> String {
    "two stores are named, '\(stores[0])' and '\(stores[1])', and this command takes one: leave the other out"
  }

  /// If the project cannot be used, `validate` throws the error.
  ///
  /// The store with its configuration.
  var place: NamedStore { Self.named(store, named) ?? (try? Project.current()?.onlyStore()) ?? NamedStore(path: "") }

  /// The path of the store.
  var path: String { place.path }
}

/// The store of a command that processes all stores of a project if none is named.
///
/// An example is `moonbase info`.
struct StoresArgument: ParsableArguments {
  @Argument(help: "The store (default: all of the project); --store names it too.", completion: .file())
  var store: String?

  @Option(name: StoreOption.store.parserName, help: StoreArgument.optionHelp, completion: .file())
  var named: [String] = []

  /// Rejects a store that is named twice, no store, and a store on a server.
  func validate() throws {
    try StoreArgument.checkCount((store.map { [$0] } ?? []) + named)
    if StoreArgument.named(store, named) == nil {
      try understood { _ = try Project.current()?.namedStores() }
    }
    guard places.contains(where: { !$0.path.isEmpty }) else { throw StoreArgument.missing }
  }

  /// If the project cannot be used, `validate` throws the error.
  ///
  /// The named store, or all stores of the project.
  var places: [NamedStore] {
    if let store = StoreArgument.named(store, named) { return [store] }
    return (try? Project.current()?.namedStores()) ?? []
  }
}

extension StoreArgument {
  /// Throws if more than one store is named.
  fileprivate static func checkCount(_ all: [String]) throws {
    if all.count > 1 { throw ValidationError(several(all)) }
  }

  /// The store that the command line or the environment names.
  ///
  /// - Parameters:
  ///   - argument: The argument, or nil.
  ///   - options: The values of `--store`.
  fileprivate static func named(_ argument: String?, _ options: [String]) -> NamedStore? {
    (argument ?? options.first ?? StoreOption.storeOfEnvironment).map { NamedStore($0).inProject }
  }

  /// The error for a command without a store.
  fileprivate static var missing: ValidationError {
    ValidationError(
      "Missing expected argument '<store>': \(Project.lackOfStore)name the store, as an argument or with --store")
  }
}

/// The entity argument of a command with a store argument after it.
enum EntityArgument {
  /// Throws if the store is the first argument. The name of an entity contains no dot and no slash.
  ///
  /// - Parameters:
  ///   - entity: The first argument.
  ///   - store: The second argument, or nil.
  ///   - command: The name of the command.
  /// - Throws: A validation error with the corrected order.
  static func check(_ entity: String, _ store: String?, command: String) throws {
    guard entity.contains(where: { $0 == "." || $0 == "/" }) else { return }
    throw ValidationError(
      "'\(entity)' is no name of an entity, and the entity comes first: moonbase \(command) \(store ?? "ENTITY") \(entity)"
    )
  }
}

/// The only store of a command that has another argument after it. If `--store` names the store, only the other
/// argument is given.
///
/// Example: `moonbase sql people.sqlite QUERY` or `moonbase sql --store people.sqlite QUERY`.
struct StoreAndArgument {
  /// The store.
  let place: NamedStore
  /// The other argument.
  let other: String

  /// The path of the store.
  var store: String { place.path }

  /// Throws if the store is named twice, or not at all. `what` is the name of the other argument.
  ///
  /// - Parameters:
  ///   - first: The first argument.
  ///   - second: The second argument, or nil.
  ///   - named: The values of `--store`.
  init(_ first: String, _ second: String?, named: [String], what: String) throws {
    let all = (second == nil ? [] : [first]) + named
    if all.count > 1 { throw ValidationError(StoreArgument.several(all)) }
    let place = second == nil ? try Self.place(named) : NamedStore(first).inProject
    guard let place, !place.path.isEmpty else {
      throw ValidationError(
        "Missing expected argument '<\(what)>': \(Project.lackOfStore)the store comes first, or is named by --store")
    }
    (self.place, other) = (place, second ?? first)
  }

  /// The store of the option, the environment or the project, in this order.
  private static func place(_ named: [String]) throws(UsageError) -> NamedStore? {
    if let known = named.first ?? StoreOption.storeOfEnvironment { return NamedStore(known).inProject }
    return try Project.current()?.onlyStore()
  }
}

/// The arguments of a command whose last argument is the store, unless the store is named otherwise.
///
/// Example: `moonbase import Person people.csv people.sqlite`, where the last argument may be left
/// out.
struct ArgumentsBeforeStore {
  /// All arguments except for the store.
  let others: [String]
  /// The store, or nil if no argument names it.
  let store: String?

  /// `least` and `most` limit the number of other arguments. `isNamed` says whether the store is named otherwise.
  ///
  /// - Parameters:
  ///   - all: The arguments. Missing arguments are nil.
  ///   - least: The number of other arguments that the command needs.
  ///   - most: The number of other arguments that the command accepts.
  ///   - isNamed: Whether an option names the store.
  init(_ all: [String?], least: Int, most: Int, isNamed: Bool) {
    let words = all.compactMap(\.self)
    let hasStore = words.count > most || !isNamed && words.count > least
    others = Array(hasStore ? words.dropLast() : words[...])
    store = hasStore ? words.last : nil
  }

  /// The arguments next to `--all FOLDER`, which can only be the store.
  ///
  /// - Parameters:
  ///   - all: The arguments.
  ///   - stores: The options, which may name the store.
  init(besideFolder all: [String?], _ stores: StoreOptionGroup) {
    self.init(all, least: 0, most: stores.store.isEmpty ? 0 : 1, isNamed: !stores.store.isEmpty)
  }

  /// The argument at an index, or nil.
  subscript(index: Int) -> String? { others.indices.contains(index) ? others[index] : nil }
}
