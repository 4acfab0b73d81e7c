/// How far a save is, for what hooks may do meanwhile.
///
/// | asked for by a hook | validation | `willSave` | `didSave` | outside of a save |
/// |---|---|---|---|---|
/// | change a value | yes, and it is validated again | yes, and it is validated | yes, for the next save | yes |
/// | insert, delete | no | yes | yes, for the next save | yes |
/// | save, reset, roll back, refresh | no | no | no | no |
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
