import ArgumentParser

/// The one store of a command, as an argument, by `--store` or in `MOONBASE_STORE`.
struct StoreArgument: ParsableArguments {
  @Argument(help: "The store; --store names it too.")
  var store: String?

  @Option(
    name: StoreOption.store.parserName, help: ArgumentHelp("The store, instead of the argument.", valueName: "PATH"))
  var named: [String] = []

  func validate() throws {
    let all = (store.map { [$0] } ?? []) + named
    if all.count > 1 { throw ValidationError(Self.several(all)) }
    if all.isEmpty, StoreOption.storeOfEnvironment == nil {
      try understood { _ = try Project.current()?.onlyStore() }
    }
    guard !path.isEmpty else {
      throw ValidationError("Missing expected argument '<store>': name the store, as an argument or with --store")
    }
  }

  static func several(_ stores: [String]) -> String {
    "two stores are named, '\(stores[0])' and '\(stores[1])', and this command takes one: leave the other out"
  }

  var path: String { store ?? named.first ?? StoreOption.storeOfEnvironment ?? projectStore ?? "" }

  /// `validate` throws the error of a project that cannot be used.
  private var projectStore: String? { try? Project.current()?.onlyStore() }
}

/// The entity of a command that takes a store behind it.
enum EntityArgument {
  /// Throws where the store comes first: no entity's name has a dot or a slash.
  static func check(_ entity: String, _ store: String?, command: String) throws {
    guard entity.contains(where: { $0 == "." || $0 == "/" }) else { return }
    throw ValidationError(
      "'\(entity)' is no name of an entity, and the entity comes first: moonbase \(command) \(store ?? "ENTITY") \(entity)"
    )
  }
}

/// The one store of a command that takes another argument behind it. The other argument stands alone where `--store`
/// names the store.
struct StoreAndArgument {
  let store: String
  let other: String

  /// Throws where the store is named twice, or not at all; `what` is the other argument's name.
  init(_ first: String, _ second: String?, named: [String], what: String) throws {
    let all = (second == nil ? [] : [first]) + named
    if all.count > 1 { throw ValidationError(StoreArgument.several(all)) }
    let place = second == nil ? try Self.place(named) : first
    guard !place.isEmpty else {
      throw ValidationError("Missing expected argument '<\(what)>': the store comes first, or is named by --store")
    }
    (store, other) = (place, second ?? first)
  }

  private static func place(_ named: [String]) throws(UsageError) -> String {
    if let known = named.first ?? StoreOption.storeOfEnvironment { return known }
    return try Project.current()?.onlyStore() ?? ""
  }
}

/// The arguments of a command whose last one is the store, where nothing else names it.
struct ArgumentsBeforeStore {
  /// All but the store.
  let others: [String]
  let store: String?

  /// Between `least` and `most` arguments are others; `isNamed` says whether the store has been named already.
  init(_ all: [String?], least: Int, most: Int, isNamed: Bool) {
    let words = all.compactMap(\.self)
    let hasStore = words.count > most || !isNamed && words.count > least
    others = Array(hasStore ? words.dropLast() : words[...])
    store = hasStore ? words.last : nil
  }

  /// The arguments beside `--all FOLDER`: only the store may stand there.
  init(besideFolder all: [String?], _ stores: StoreOptionGroup) {
    self.init(all, least: 0, most: stores.store.isEmpty ? 0 : 1, isNamed: !stores.store.isEmpty)
  }

  /// The argument at a place, or nil.
  subscript(index: Int) -> String? { others.indices.contains(index) ? others[index] : nil }
}
