/// The row that a store receives for an object.
enum WrittenRow {
  /// No row.
  case nothing
  /// The object's own row, unchanged in its page, which the plan retains. The object may use another row by the time
  /// that all is written: reads meanwhile move the last objects of a page to a new page (`SparsePages`).
  case inPlace(Unmanaged<RowPage>, UInt16)
  /// A row copied from the object.
  case copied(Snapshot)
}
