import ArgumentParser
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// The command `moonbase model convert`. It checks the options, and leaves the conversion to
/// `ModelConversion` and the output to `ModelDestination`.
struct ModelConvert: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert", abstract: "Writes a model in another form.",
    discussion: """
      The suffix of TO says which form: .lua, .xcdatamodel, .xcdatamodeld, .mom, .momd, or .xml for the contents file of an \
      .xcdatamodel. An .xcdatamodeld and a .momd keep all versions and which one is current; the other forms take the \
      current one. What is written is read again and compared. Where the form cannot hold all that the model says, each \
      thing is named and nothing is written, unless --allow-loss.
      """)

  @Argument(help: ArgumentHelp("The model: \(ModelFile.forms).", valueName: "from"), completion: .file())
  var source: String

  @Argument(
    help: ArgumentHelp("The file or folder to write; without one --to prints to standard output.", valueName: "to"),
    completion: .file())
  var target: String?

  @Option(
    name: .customLong("to"), help: ArgumentHelp("The form, whatever the suffix is: \(forms).", valueName: "FORM"),
    completion: .list(ModelForm.allCases.map(\.rawValue)))
  var named: String?

  @Option(
    help: ArgumentHelp(
      "A version of an .xcdatamodeld or a .momd, instead of all or the current one.", valueName: "NAME"))
  var modelVersion: String?

  @Flag(help: "Write the model although the form cannot hold all that it says.")
  var allowLoss = false

  @Flag(help: "Replace a file or a model that is there already.")
  var force = false

  @Flag(help: "No word but errors on standard error.")
  var quiet = false

  @OptionGroup var summary: SummaryOptionGroup

  /// The names of all forms, for the help and for errors.
  private static let forms = ModelForm.allCases.map(\.rawValue).joined(separator: ", ")

  /// Converts the model. The destination is written only if the check passes.
  func run() throws {
    let form = try form()
    let conversion = try ModelConversion(
      source: source, form: form, version: modelVersion, name: versionName)
    try conversion.check(allowingLoss: allowLoss, quiet: quiet || summary.json)
    if !quiet, !summary.json { conversion.notes.forEach { Terminal.complain("moonbase: \($0)") } }
    guard let target else { return try print(conversion.written.piece) }
    try ModelDestination(target, form: form, replacing: force).write(conversion.written.piece)
    let losses = conversion.written.losses.map(\.message)
    try summary.tell(
      [
        "from": .string(source), "to": .string(target), "form": .string(form.rawValue), "losses": .texts(losses),
        "notes": .texts(conversion.notes),
      ], quiet: quiet, lines: [])
  }

  /// The name of the version for a model without versions.
  ///
  /// It is the name of the destination without its suffix.
  private var versionName: String {
    let name = target.map(ModelName.withoutSuffix) ?? ""
    return name.isEmpty ? "Model" : name
  }

  /// Prints a model that is a single file.
  private func print(_ piece: WrittenModel.Piece) throws {
    guard case .file(let bytes) = piece else { return }
    bytes.withUnsafeBytes { Terminal.write($0) }
  }

  /// Rejects `--json` without a destination.
  func validate() throws {
    if summary.json, target == nil { throw ValidationError("--json tells of a file: name the one to write") }
  }

  /// The form that the option or the suffix of the destination gives.
  ///
  /// - Throws: A `UsageError` for an unknown form, or for a folder that would be printed.
  private func form() throws -> ModelForm {
    if let named {
      guard let form = ModelForm(rawValue: named) else {
        throw UsageError("there is no form '\(named)'; the forms are \(Self.forms)")
      }
      guard target != nil || !form.isFolder else {
        throw UsageError("an .\(named) is a folder, which cannot be printed: name it behind \(source)")
      }
      return form
    }
    guard let target else {
      throw UsageError("name what is to be written, as in 'model convert \(source) model.lua', or a form with --to")
    }
    guard let form = ModelForm(path: target) else {
      throw UsageError("\(target) has the suffix of no form; the suffixes are \(Self.forms): name the form with --to")
    }
    return form
  }
}
