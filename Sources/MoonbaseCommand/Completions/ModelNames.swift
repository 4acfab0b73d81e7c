import ArgumentParser
import Moonbase
import MoonbaseModel
import MoonbasePlatform

/// The names in a model, for shells that complete a command line. The model is the one that the command line names,
/// otherwise the one of the project, otherwise the one of the store.
///
/// A value is made for one completion. Errors mean that there are no names, because a shell shows
/// no messages.
struct ModelNames {
  /// The words of the command line so far.
  private let words: [String]
  /// The model; nil if none can be read.
  private let model: ManagedObjectModel?

  /// The names for a command line.
  init(_ words: [String]) {
    self.words = words
    // An incomplete command line may name no model yet. This is not an error.
    model = Self.path(in: words).flatMap { try? ManagedObjectModel(contentsOf: ModelFile.url($0)) }
  }

  /// The names of entities.
  ///
  /// The names that begin with `prefix`, sorted.
  func entities(_ prefix: String) -> [String] { names(model?.entities.map(\.name) ?? [], prefix) }

  /// The names of fetch request templates.
  func templates(_ prefix: String) -> [String] { names(model?.fetchRequestTemplates.keys.map(\.self) ?? [], prefix) }
  /// The names of configurations.
  func configurations(_ prefix: String) -> [String] { names(model?.configurations.keys.map(\.self) ?? [], prefix) }

  /// The properties of the entity that the command line names, for the last name in a comma-separated list.
  func properties(_ prefix: String) -> [String] {
    let start = prefix.lastIndex { ",-(".contains($0) }.map { prefix.index(after: $0) } ?? prefix.startIndex
    let entity = model?.entities.first { words.contains($0.name) }
    return names(entity.map(properties) ?? [], String(prefix[start...])).map { prefix[..<start] + $0 }
  }

  /// The names of an entity's properties, including inherited ones.
  private func properties(of entity: EntityDescription) -> [String] {
    let own = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    let parent = entity.superentityName.flatMap { name in model?.entities.first { $0.name == name } }
    // The recursion ends, because a model with a cycle of entities cannot be read.
    return own + (parent.map(properties) ?? [])
  }

  /// Files from unknown sources may contain names with control characters. The shell does not get these names.
  private func names(_ all: [String], _ prefix: String) -> [String] {
    all.filter { $0.hasPrefix(prefix) && TerminalText.escaped($0) == $0 }.sorted()
  }

  // MARK: The command line

  /// The path of the model, or of the store that contains it.
  private static func path(in words: [String]) -> String? {
    if let model = value(of: "--model", in: words) { return model }
    if let store = value(of: "--store", in: words) { return NamedStore(store).path }
    if let store = words.dropFirst().first(where: { FileForm($0) == .store }) { return store }
    if let store = StoreOption.storeOfEnvironment { return NamedStore(store).path }
    guard let project = try? Project.current() else { return nil }
    return try? project.model?.resolved() ?? project.namedStores().first?.path
  }

  /// The value of an option, in the next word or behind `=`.
  private static func value(of option: String, in words: [String]) -> String? {
    for (index, word) in words.enumerated() {
      if word == option, index + 1 < words.count { return words[index + 1] }
      if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
    }
    return nil
  }
}

extension CompletionKind {
  /// The names of the model's entities.
  static var entities: CompletionKind { .custom { words, _, prefix in ModelNames(words).entities(prefix) } }

  /// The names of the model's fetch request templates.
  static var templates: CompletionKind { .custom { words, _, prefix in ModelNames(words).templates(prefix) } }

  /// The names of the model's configurations.
  static var configurations: CompletionKind { .custom { words, _, prefix in ModelNames(words).configurations(prefix) } }

  /// The names of the properties of the entity that the command line names.
  static var properties: CompletionKind { .custom { words, _, prefix in ModelNames(words).properties(prefix) } }
}
