import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// `moonbase import --infer` with rows. It infers a model from the rows, writes the model to a file for later changes,
/// and creates a store for the rows.
///
/// An input such as a pipe can be read once only. It is therefore first copied to a temporary file,
/// from which the model is inferred and the rows are imported. A dry run prints the model and
/// creates nothing.
struct InferredImport {
  /// The options of the command.
  private let command: ImportCommand
  /// The path of the input, or `-`.
  private let file: String
  /// The name of the only entity, from the command line or from the name of the file.
  private let entity: String

  /// Determines the name of the entity.
  ///
  /// - Throws: A `UsageError` if standard input has no name for its entity.
  init(_ command: ImportCommand, _ entity: String?, _ file: String) throws {
    (self.command, self.file) = (command, file)
    guard entity != nil || file != "-" else {
      throw UsageError("standard input has no name for an entity: name it, as in moonbase import Person - --infer")
    }
    self.entity = entity ?? RowInference.entityName(ofFile: file)
  }

  /// Infers the model, writes it, creates the store, and imports the rows.
  func run() throws {
    let path = file == "-" ? nil : file
    let spool = command.dryRun ? nil : try InputSpool(of: path, Interruption.whileWaiting)
    let input = try command.input(path, spool)
    if command.dryRun {
      if !command.quiet { for warning in input.warnings { Terminal.complain("moonbase: \(warning)") } }
      return Terminal.write(try model(of: input).luaSource())
    }
    let place = try InferredStore(command.storeSettings())
    if try Interruption.endingProcess({ try place.hasBegun(ImportRun.job(entity, file)) }) {
      return try command.importRows(input, file, as: entity, into: place.description)
    }
    let inferred = try model(of: input)
    let rows = try command.input(path, spool)
    guard InputFingerprint.isSame(rows.fingerprint, input.fingerprint) else {
      throw ImportError(message: "\(file) was changed while it was read: run it again")
    }
    if !command.force { try ImportRun.requireNoRejects(rows.rejectPath) }
    try place.write(inferred, replacing: command.force, quiet: command.quiet)
    try command.importRows(rows, file, as: entity, into: place.description(with: inferred.model))
  }

  /// Reads all rows to find the narrowest type for each column. Throws the exit code of an
  /// interruption if the user presses Ctrl-C.
  private func model(of input: ImportInput) throws -> InferredModel {
    let inference = RowInference(input)
    let bar = ProgressBar(quiet: command.quiet)
    let began = Date()
    Interruption.isWaitedFor()
    inference.progress = { offset, rows in
      let seconds = Date().timeIntervalSince(began)
      bar.show(
        Int(offset), of: Int(input.size ?? 0), rate: Double(rows) / max(seconds, 0.001), unit: "rows looked at",
        seconds: seconds)
      return Interruption.hasCome
    }
    defer { bar.end() }
    let domain = try command.scripts.settings().requiredDomain()
    defer { domain.close() }
    // The limits also apply to the analysis of the rows.
    guard let model = try domain.state.run({ try inference.model(entity: entity) }) else {
      throw ExitCode(ExitStatus.interrupted)
    }
    _ = try model.model.resolved()
    return model
  }
}
