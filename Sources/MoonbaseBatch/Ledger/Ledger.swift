package import MoonbaseGraph
package import MoonbaseModel

/// The progress of jobs, in the metadata of the store that they work on. Each entry is committed together with the rows
/// that it describes, so that a killed job continues where it stopped.
package enum Ledger {
  /// The key in the store's metadata.
  static let key = "MoonbaseJobs"

  /// The entry of a job.
  package typealias Entry = [String: Value]

  /// The entry of a job in a store; nil if there is none.
  package static func entry(_ job: String, of store: any PersistentStore) throws -> Entry? {
    entry(job, in: try store.metadata())
  }

  static func entry(_ job: String, in metadata: [String: Value]) -> Entry? {
    guard case .map(let jobs) = metadata[key], case .map(let entry) = jobs[job] else { return nil }
    return entry
  }

  /// A change of a job's entry. `change` receives the current entry; returning nil removes it.
  package static func change(
    _ job: String, of store: any PersistentStore, _ change: @escaping @Sendable (Entry?) throws -> Entry?
  ) -> MetadataChange {
    MetadataChange(of: store) { metadata in
      var jobs: [String: Value] = [:]
      if case .map(let known) = metadata[key] { jobs = known }
      jobs[job] = try change(entry(job, in: metadata)).map(Value.map)
      var result = metadata
      result[key] = jobs.isEmpty ? nil : .map(jobs)
      return result
    }
  }
}
