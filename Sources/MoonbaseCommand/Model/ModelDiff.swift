import ArgumentParser
import MoonbaseModel
import MoonbaseModelFormats

/// The command `moonbase model diff`. It prints the differences, says whether a store must be
/// migrated, and whether the mapping can be inferred. Its exit statuses are those of the tool
/// `diff`.
struct ModelDiff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Prints how two models differ and whether a store has to be migrated.",
    discussion: "Exit status: 0 if the models say the same, 1 if they differ, 2 if one of them cannot be read.")

  @Argument(help: "The older model: \(ModelFile.forms).", completion: .file())
  var old: String

  @Argument(help: "The newer model; the same forms.", completion: .file())
  var new: String

  @Flag(help: "Print JSON.")
  var json = false

  /// Compares the models.
  ///
  /// - Throws: An exit code of 1 if the models differ.
  func run() throws {
    let (old, new) = (try Self.read(old), try Self.read(new))
    let difference = ModelDifference(from: old.description, to: new.description)
    let inference = MappingInference(from: old, to: new)
    Terminal.print(
      json
        ? try Terminal.json(DifferenceReport(difference, inference: inference))
        : Self.text(difference, inference: inference))
    if !difference.isEmpty { throw ExitCode(ExitStatus.failed) }
  }

  /// A model that cannot be read has the status of wrong usage, so that status 1 only stands for a difference, as with
  /// `diff`. The status of a limit or an interruption is kept.
  ///
  /// - Parameter path: The path of a model.
  private static func read(_ path: String) throws -> ResolvedModel {
    do { return try ModelFile.read(path) } catch {
      Terminal.complain("moonbase: \(error)")
      let status = ExitStatus.status(for: error)
      throw ExitCode(status == ExitStatus.failed ? ExitStatus.usage : status)
    }
  }

  /// The differences with a sentence about the migration.
  private static func text(_ difference: ModelDifference, inference: MappingInference) -> String {
    if difference.isEmpty { return "the models say the same" }
    guard difference.needsMigration else {
      return "\(difference)\nthe version hashes agree: a store of the one opens with the other"
    }
    let migration = "\(difference)\na store of the one must be migrated to open with the other"
    guard inference.problems.isEmpty else {
      return "\(migration); the mapping cannot be inferred:\(list(inference.problems))"
    }
    let mapped = "\(migration); the mapping can be inferred"
    return inference.conditions.isEmpty ? mapped : "\(mapped), and the rows must allow it:\(list(inference.conditions))"
  }

  /// The messages of errors as a list.
  private static func list(_ reasons: [ModelError]) -> String { reasons.map { "\n- \($0.message)" }.joined() }
}
