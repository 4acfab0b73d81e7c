/// A message for users of a program, in place of an error written for programmers.
///
/// ```swift
/// do {
///   try context.save()
/// } catch {
///   for message in UserMessage.messages(for: error) { form.show(message.text, at: message.property) }
/// }
/// ```
public struct UserMessage: Sendable, Hashable, CustomStringConvertible {
  /// A sentence without names of files, lines, IDs and entities.
  public var text: String
  /// The entity concerned.
  public var entity: String?
  /// The property concerned, for a form that shows the text beside its field.
  public var property: String?

  /// Makes a message.
  public init(_ text: String, entity: String? = nil, property: String? = nil) {
    (self.text, self.entity, self.property) = (text, entity, property)
  }

  /// The text.
  public var description: String { text }
}

extension UserMessage {
  /// The words of a property's name: "first name" for `firstName` and `first_name`, "home URL" for `homeURL`.
  public static func label(of property: String) -> String {
    var words: [String] = [""]
    let characters = Array(property)
    for (place, character) in characters.enumerated() {
      let before = place > 0 ? characters[place - 1] : nil
      if character == "_" {
        words.append("")
      } else if character.isUppercase, before?.isLowercase == true || before?.isNumber == true {
        let isShort = place + 1 < characters.count && characters[place + 1].isUppercase
        words.append(isShort ? String(character) : character.lowercased())
      } else {
        words[words.count - 1].append(character)
      }
    }
    return words.filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// A sentence of a name and the phrase that follows it.
  package static func sentence(_ label: String, _ phrase: String) -> String {
    let text = label.isEmpty ? phrase : "\(label) \(phrase)"
    let end = text.last.map { ".!?".contains($0) } == true ? "" : "."
    return text.prefix(1).uppercased() + text.dropFirst() + end
  }
}

extension ErrorCode {
  /// The message for a program's users.
  package var userText: String {
    switch self {
    case .mergeConflict: "This was changed elsewhere in the meantime. Load it again, and repeat the change."
    case .constraintConflict: "There is another entry with the same value."
    case .objectNotFound: "This is not there any more."
    case .relationshipDeniedDelete: "This cannot be deleted, because something else belongs to it."
    case .readOnlyStore: "The data cannot be changed here."
    case .storeBusy: "Another program is changing the data. Try again."
    case .storeFailure, .invalidStore, .cannotOpenFile, .malformedFile: "The data cannot be read or written."
    case .incompatibleVersionHash, .missingSourceModel, .missingMappingModel, .cannotInferMapping, .migrationLoss,
      .incompatibleSchema:
      "The data is of another version of this program."
    case .limitExceeded: "This takes too much time or memory."
    case .containerClosed: "The program is ending. Try again later."
    case .interrupted: "This was interrupted."
    case .malformedText: "The text is not in the form that is expected."
    case .extensionFailure, .invalidExtension, .extensionConflict, .sourceTooLarge:
      "An extension of this program does not work."
    default: "This program has made a mistake."
    }
  }
}
