import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseScripting

/// The form of a file, as its contents show, for messages about a file of the wrong form.
package enum FileForm: CustomStringConvertible {
  case store, model, archive, text

  /// Examines a file or folder; nil for an unknown form.
  package init?(_ path: String) {
    let url = URL(literalPath: path)
    guard let source = try? ModelSource(contentsOf: url) else { return nil }
    self.init(source)
  }

  init?(_ source: ModelSource) {
    if source.head.starts(with: Data("SQLite format 3\0".utf8)) {
      self = .store
    } else if ManagedObjectModel.readers.contains(where: { $0.recognizes(source) }) {
      self = .model
    } else if source.head.starts(with: Data("bplist00".utf8)) {
      self = .archive
    } else if LuaModelFile().recognizes(source) {
      self = .text
    } else {
      return nil
    }
  }

  /// The form with an article, for messages.
  package var description: String {
    switch self {
    case .store: "a SQLite database"
    case .model: "a model"
    case .archive: "a property list"
    case .text: "a text"
    }
  }

  /// Advice that names the commands for a file of this form.
  package func advice(_ path: String) -> String {
    switch self {
    case .store: "'moonbase info \(path)' and 'moonbase run --store \(path)' take a store"
    case .model: "'moonbase model show \(path)' and 'moonbase run --model \(path)' take a model"
    case .archive: "no command takes one"
    case .text: "'moonbase run \(path)' takes a script, 'moonbase model show \(path)' a Lua model file"
    }
  }
}
