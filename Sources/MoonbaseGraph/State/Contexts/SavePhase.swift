/// The phase of a running save, which determines the requests that hooks may make.
///
/// | requested by a hook in | validation | `willSave` | `didSave` | outside of a save |
/// |---|---|---|---|---|
/// | change a value | no by a rule, else validated again | yes, validated | yes, for the next save | yes |
/// | insert, delete | no | yes | yes, for the next save | yes |
/// | save, reset, roll back, refresh | no | no | no | no |
///
/// A rule must not change anything outside of a save either, and a getter must not insert or delete. Setting the
/// primitive value of a transient attribute is no change and is allowed in both.
enum SavePhase {
  /// Rules and normalizers run.
  case validating
  /// Delete rules and `willSave` run.
  case willSave
  /// The store writes.
  case writing
  /// The data is saved.
  case didSave
}
