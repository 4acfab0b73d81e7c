/// Code that takes bytes from strangers and must neither crash nor hang, whatever they are.
///
/// To add one: a file in `Targets/` and its name in `FuzzTarget.all`.
struct FuzzTarget: Sendable {
  /// The word that `scripts/fuzz` takes.
  let name: String
  /// Well-formed inputs to begin from.
  let seeds: [[UInt8]]
  /// Pieces of the input's language that mutations put in.
  var words: [String] = []
  /// Works on one input; errors are the expected answer to most.
  let body: @Sendable ([UInt8]) -> Void
}
