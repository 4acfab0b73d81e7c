import ArgumentParser
import Moonbase
import MoonbaseModel
import MoonbasePlatform

/// The names of the model at hand, for shells that complete a command line: the model that the line names, or the
/// project, or else that of the store.
struct ModelNames {
  private let words: [String]
  private let model: ManagedObjectModel?

  init(_ words: [String]) {
    self.words = words
    // A line that is not complete yet has no model, and that is no error.
    model = Self.path(in: words).flatMap { try? ManagedObjectModel(contentsOf: URL(literalPath: $0)) }
  }

  /// The names of entities.
  func entities(_ prefix: String) -> [String] { names(model?.entities.map(\.name) ?? [], prefix) }

  /// The names of fetch request templates, and of configurations.
  func templates(_ prefix: String) -> [String] { names(model?.fetchRequestTemplates.keys.map(\.self) ?? [], prefix) }
  func configurations(_ prefix: String) -> [String] { names(model?.configurations.keys.map(\.self) ?? [], prefix) }

  /// The properties of the entity that the line names, for the last name of a list with commas.
  func properties(_ prefix: String) -> [String] {
    let start = prefix.lastIndex { ",-(".contains($0) }.map { prefix.index(after: $0) } ?? prefix.startIndex
    let entity = model?.entities.first { words.contains($0.name) }
    return names(entity.map(properties) ?? [], String(prefix[start...])).map { prefix[..<start] + $0 }
  }

  private func properties(of entity: EntityDescription) -> [String] {
    let own = entity.attributes.map(\.name) + entity.relationships.map(\.name)
    let parent = entity.superentityName.flatMap { name in model?.entities.first { $0.name == name } }
    // A model with a circle of entities is no model, and none is read.
    return own + (parent.map(properties) ?? [])
  }

  /// Names of files of strangers may have control characters, and no shell gets these.
  private func names(_ all: [String], _ prefix: String) -> [String] {
    all.filter { $0.hasPrefix(prefix) && TerminalText.escaped($0) == $0 }.sorted()
  }

  // MARK: The command line

  private static func path(in words: [String]) -> String? {
    if let model = value(of: "--model", in: words) { return model }
    if let store = value(of: "--store", in: words) { return NamedStore(store).path }
    if let store = words.dropFirst().first(where: { FileForm($0) == .store }) { return store }
    if let store = StoreOption.storeOfEnvironment { return NamedStore(store).path }
    guard let project = try? Project.current() else { return nil }
    return try? project.model?.resolved() ?? project.namedStores().first?.path
  }

  private static func value(of option: String, in words: [String]) -> String? {
    for (index, word) in words.enumerated() {
      if word == option, index + 1 < words.count { return words[index + 1] }
      if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
    }
    return nil
  }
}

extension CompletionKind {
  /// Names of the entities of the model at hand.
  static var entities: CompletionKind { .custom { words, _, prefix in ModelNames(words).entities(prefix) } }

  /// Names of the fetch request templates of the model at hand.
  static var templates: CompletionKind { .custom { words, _, prefix in ModelNames(words).templates(prefix) } }

  /// Names of its configurations.
  static var configurations: CompletionKind { .custom { words, _, prefix in ModelNames(words).configurations(prefix) } }

  /// Names of the properties of the entity that the command line names.
  static var properties: CompletionKind { .custom { words, _, prefix in ModelNames(words).properties(prefix) } }
}
