import MoonbasePlatform

/// How rows are imported.
package struct ImportOptions {
  /// Columns by which a row is that of an object which is there already; none where each row is a new object.
  package var keys: [String] = []
  /// Nothing is saved.
  package var isDryRun = false
  /// A row whose object is not there is rejected.
  var updatesOnly = false
  /// How many rows are saved together.
  package var chunkSize = 4096
  /// How dates are written that are numbers.
  package var dates = Dates.iso
  /// Objects that a key leads to and that are not there are made.
  package var createsMissing = false

  package enum Dates: String, CaseIterable, Sendable { case iso, unix, reference }

  package init() {}
}

/// What an import did.
package struct ImportReport: Sendable {
  package var rows = 0
  package var inserted = 0
  package var updated = 0
  /// Those that a script passed over.
  package var skipped = 0
  package var rejected = 0

  package init() {}
}
