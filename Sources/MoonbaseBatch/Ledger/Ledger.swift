package import MoonbaseGraph
package import MoonbaseModel

/// What jobs have done, in the metadata of the store that they work on: each entry is committed together with the rows that it tells of, so that
/// a job which was killed goes on where it stood.
package enum Ledger {
  /// The key of the store's metadata.
  static let key = "MoonbaseJobs"

  /// What is noted of a job.
  package typealias Entry = [String: Value]

  /// What a store has noted of a job.
  package static func entry(_ job: String, of store: any PersistentStore) throws -> Entry? {
    entry(job, in: try store.metadata())
  }

  static func entry(_ job: String, in metadata: [String: Value]) -> Entry? {
    guard case .map(let jobs) = metadata[key], case .map(let entry) = jobs[job] else { return nil }
    return entry
  }

  /// A change of what is noted of a job. `change` gets what the store has by then; nil takes the entry away.
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
