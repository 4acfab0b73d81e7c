package import MoonbaseModel
import MoonbaseModelFormats

/// A model inferred from data, with the reasons.
///
/// `RowInference` and `DatabaseInference` make it. The command prints it or makes a store of it.
package struct InferredModel {
  /// The model.
  package internal(set) var model = ManagedObjectModel()
  /// The comment lines at the top.
  var head: [String] = []
  /// The comment lines above entities, properties and constraints, by their paths: `["entities", "Person",
  /// "attributes", "age"]`.
  var comments: [[String]: [String]] = [:]

  /// The Lua file, for editing. Reading it gives the model.
  package func luaSource() throws -> String {
    head.map { "-- \($0)\n" }.joined() + commented(try model.tree(), at: []).luaSource
  }

  /// The tree with the comments of its path and below.
  private func commented(_ tree: ModelTree, at path: [String]) -> ModelTree {
    var tree = tree
    tree.comment = comments[path] ?? []
    guard path.count < 4, case .table(let list, let entries) = tree.content else { return tree }
    tree.content = .table(
      list: list,
      entries: entries.map { .init($0.key, tree: commented($0.tree, at: path + [$0.key])) })
    return tree
  }
}
