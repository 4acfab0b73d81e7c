extension ManagedObjectModel {
  /// Checks the model and numbers its entities and properties.
  ///
  /// Throws `ModelError` with `.invalidModel` for duplicate names, refused property names, unknown or cyclic parents,
  /// and destinations and inverses that do not resolve.
  ///
  /// The error has all mistakes in `others`. Questionable parts are listed in `warnings` of the
  /// result. The work is linear in the size of the model and charged to a running script.
  public func resolved() throws(ModelError) -> ResolvedModel {
    do {
      try checkNesting()
      let model = try withInheritanceFromChildren()
      try ModelChecker(model: model).check()
      var values: [String] = []
      let resolved = try ModelResolver(model: try model.withValuesInTheirTypes(warnings: &values)).resolve()
      let warnings = try ModelExpressionChecker(model: resolved).check()
      return ResolvedModel(
        description: resolved.description, entities: resolved.entities,
        warnings: model.warnings + values + ModelWarnings(model: resolved).find() + warnings)
    } catch {
      var error = error
      // A compiled model has no line numbers, so the file's name is the location.
      error.location = error.location ?? locations[.file]
      for index in error.others.indices where error.others[index].location == nil {
        error.others[index].location = locations[.file]
      }
      throw error
    }
  }

  /// Resolves the model without the attributes that extensions add, after `whole` was checked with them. Fetch requests
  /// and fetched properties of the model may name added attributes.
  ///
  /// Throws `ModelError` for values that do not fit their types.
  package func resolved(checkedAs whole: ResolvedModel) throws(ModelError) -> ResolvedModel {
    var warnings: [String] = []
    let typed = try withInheritanceFromChildren().withValuesInTheirTypes(warnings: &warnings)
    let resolved = try ModelResolver(model: typed).resolve()
    return ResolvedModel(
      description: resolved.description, entities: resolved.entities, warnings: whole.warnings)
  }
}
