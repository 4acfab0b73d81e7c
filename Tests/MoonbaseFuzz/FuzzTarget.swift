/// Code that reads untrusted bytes and must neither crash nor hang.
///
/// To add a target: a file in `Targets/` and its name in `FuzzTarget.all`.
struct FuzzTarget: Sendable {
  /// The name for `scripts/fuzz`.
  let name: String
  /// Well-formed inputs from which mutations start.
  let seeds: [[UInt8]]
  /// Words of the input's language that mutations insert.
  var words: [String] = []
  /// Processes one input; most inputs give errors.
  let body: @Sendable ([UInt8]) -> Void
}
