public import MoonbaseModel

extension UserMessage {
  /// The text of an error for the program's users: a sentence for each value that a rule refused, else a sentence about
  /// the kind of error.
  ///
  /// `label` returns the name under which the program shows a property; if nil, the words of the property's own name
  /// are used. Messages of rules are in the language of the container (`ContainerDescription.language`), all others are
  /// in English: a program finds its own words for them by `error.code`.
  public static func messages(
    for error: any Error, label: (_ entity: String, _ property: String) -> String? = { _, _ in nil }
  ) -> [UserMessage] {
    guard let error = error as? any CodedError else { return [UserMessage(ErrorCode(rawValue: 0).userText)] }
    guard let error = error as? GraphError else {
      return [UserMessage(error.code.userText, entity: error.entity, property: error.property)]
    }
    return error.refusals.map { $0.userMessage(label) }.uniqued
  }
}

extension GraphError {
  /// The text for the program's users (`UserMessage.messages`): a sentence for each value that a rule refused.
  public var userMessages: [UserMessage] { UserMessage.messages(for: self) }

  /// The sentences of `userMessages` as one text, each on a line of its own.
  public var userMessage: String { userMessages.map(\.text).joined(separator: "\n") }

  /// The failures of a save, each as an error of its own.
  fileprivate var refusals: [GraphError] {
    code == .multipleErrors && !details.isEmpty ? details.flatMap(\.refusals) : [self]
  }

  fileprivate func userMessage(_ label: (String, String) -> String?) -> UserMessage {
    UserMessage(userText(label), entity: entity, property: property)
  }

  private func userText(_ label: (String, String) -> String?) -> String {
    // The message of a rule is written for users. A rule of an extension may use any code.
    guard code.isValidation || isOfRule, code != .relationshipDeniedDelete, let reason else { return code.userText }
    guard let property else { return UserMessage.sentence("", reason) }
    return UserMessage.sentence(label(entity ?? "", property) ?? UserMessage.label(of: property), reason)
  }

  /// Whether the code is not among this package's codes, so that a rule chose it.
  private var isOfRule: Bool { code.name == nil }
}

extension [UserMessage] {
  /// Removes equal messages: many objects may have the same mistake.
  fileprivate var uniqued: [UserMessage] {
    var seen: Set<UserMessage> = []
    return filter { seen.insert($0).inserted }
  }
}
