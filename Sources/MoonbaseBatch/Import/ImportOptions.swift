import MoonbasePlatform

/// The options of an import.
package struct ImportOptions {
  /// The columns that identify existing objects; if empty, each row becomes a new object.
  package var keys: [String] = []
  /// Whether nothing is saved.
  package var isDryRun = false
  /// Whether a row without an existing object is rejected.
  var updatesOnly = false
  /// The number of rows saved together.
  package var chunkSize = 4096
  /// The notation of dates that are numbers.
  package var dates = Dates.iso
  /// Whether missing objects referred to by keys are created.
  package var createsMissing = false

  /// A notation of dates: ISO 8601 text, or seconds since 1970 or 2001.
  package enum Dates: String, CaseIterable, Sendable { case iso, unix, reference }

  /// The default options.
  package init() {}
}

/// The totals of an import.
package struct ImportReport: Sendable {
  /// The number of processed rows.
  package var rows = 0
  /// The number of inserted objects.
  package var inserted = 0
  /// The number of updated objects.
  package var updated = 0
  /// The number of rows that a script skipped.
  package var skipped = 0
  /// The number of rejected rows.
  package var rejected = 0

  /// A report without rows.
  package init() {}
}
