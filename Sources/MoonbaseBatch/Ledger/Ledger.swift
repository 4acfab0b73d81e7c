package import MoonbaseGraph
package import MoonbaseModel

/// The progress of jobs, in the metadata of the store that they work on. Each entry is committed together with the rows
/// that it describes, so that a killed job continues where it stopped.
///
/// The entries are a map by job name under one key of the metadata. `ImportBookmark`, `StoreImport`
/// and `JobState` define what an entry contains.
package enum Ledger {
  /// The key in the store's metadata.
  static let key = "MoonbaseJobs"

  /// The entry of a job.
  ///
  /// The values of an entry by key. The key `kind` says which command made it.
  package typealias Entry = [String: Value]

  /// The entry of a job in a store; nil if there is none.
  package static func entry(_ job: String, of store: any PersistentStore) throws -> Entry? {
    entry(job, in: try store.metadata())
  }

  /// The entry of a job in metadata that was read before.
  static func entry(_ job: String, in metadata: [String: Value]) -> Entry? {
    guard case .map(let jobs) = metadata[key], case .map(let entry) = jobs[job] else { return nil }
    return entry
  }

  /// A change of a job's entry. `change` receives the current entry; returning nil removes it.
  ///
  /// The change runs within the transaction of the save, with the metadata as they are then. So
  /// `change` can detect another process, and throw to refuse the save.
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
