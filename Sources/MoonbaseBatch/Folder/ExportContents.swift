/// What `export.json` says of a folder that holds all of a store.
package struct ExportContents: Codable {
  package struct Entity: Codable {
    package var file: String
    package var count: Int

    package init(file: String, count: Int) { (self.file, self.count) = (file, count) }
  }

  package static let fileName = "export.json"
  package static let modelName = "model.lua"
  package static let format = "moonbase-export"

  package var format = Self.format
  package var version = 1
  /// The UUID of the store.
  package var store: String
  package var model = Self.modelName
  /// By name, those that have rows.
  package var entities: [String: Entity] = [:]

  package init(store: String) { self.store = store }
}
