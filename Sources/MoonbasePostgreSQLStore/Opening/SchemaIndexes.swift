#if PostgreSQL
  import MoonbaseModel
  import MoonbaseSQL

  import enum MoonbaseModel.Expression

  /// The indexes of a store's tables.
  struct SchemaIndexes {
    let layout: StoreLayout

    /// The statements that make the indexes.
    var statements: [String] { uniqueNames.statements(all) }

    /// The names of the indexes.
    var names: [String] { uniqueNames.named(all).map(\.name) }

    private var uniqueNames: IndexNames {
      IndexNames(tables: layout.tables.map(\.name) + layout.joins.map(\.table))
    }

    private var all: [IndexNames.Index] {
      let facts = TableFacts(layout)
      return layout.tables.flatMap { standardIndexes($0, facts: facts) } + layout.joins.map(reverseIndex)
        + layout.entities.compactMap { $0 }.flatMap(declaredIndexes)
    }

    private func standardIndexes(_ table: TableLayout, facts: TableFacts) -> [IndexNames.Index] {
      let name = table.name
      let toOne = table.columns.filter { $0.rank == 1 && facts.keys[name]?.contains($0.name) == true }
      var result = toOne.map { index("INDEX", "\(name)_\($0.name)_INDEX", name, identifier($0.name)) }
      if facts.shared.contains(name) { result.append(index("INDEX", "\(name)_Z_ENT_INDEX", name, "Z_ENT")) }
      return result
    }

    private func reverseIndex(_ join: JoinLayout) -> IndexNames.Index {
      index(
        "INDEX", "\(join.table)_\(join.destinationColumn)_INDEX", join.table,
        "\(identifier(join.destinationColumn)), \(identifier(join.ownerColumn))")
    }

    private func declaredIndexes(_ entity: EntityLayout) -> [IndexNames.Index] {
      let description = entity.entity.description
      let flagged = description.attributes.filter(\.isIndexed).compactMap { attribute in
        entity.column(of: [attribute.name]).map {
          index("INDEX", "Z_\(description.name)_\(attribute.name)", entity.table, identifier($0))
        }
      }
      let fetch = description.indexes.compactMap { fetchIndex($0, of: entity) }
      let unique = description.uniquenessConstraints.compactMap { names -> IndexNames.Index? in
        let columns = names.compactMap { entity.column(of: [$0]) }
        guard columns.count == names.count, !columns.isEmpty else { return nil }
        return index(
          "UNIQUE INDEX", "Z_\(description.name)_UNIQUE_\(names.joined(separator: "_"))", entity.table,
          columns.map(identifier).joined(separator: ", "))
      }
      return flagged + fetch + unique
    }

    /// An index of columns. Nil for an index of expressions and for a partial index, which Moonbase's statements would
    /// not use.
    private func fetchIndex(_ index: FetchIndexDescription, of entity: EntityLayout) -> IndexNames.Index? {
      guard let stored = try? index.stored(in: entity.entity), stored.structure == .ordered, stored.condition == nil
      else { return nil }
      let terms = stored.elements.compactMap { element -> String? in
        guard case .keyPath(_, let keys) = element.term, let column = entity.column(of: keys) else { return nil }
        return "\(identifier(column)) \(element.isAscending ? "ASC" : "DESC")"
      }
      guard terms.count == stored.elements.count, !terms.isEmpty else { return nil }
      return self.index(
        "INDEX", "Z_\(entity.entity.name)_\(index.name)", entity.table, terms.joined(separator: ", "))
    }

    /// Truncates a long name before names are made unique.
    private func index(_ kind: String, _ name: String, _ table: String, _ columns: String) -> IndexNames.Index {
      var name = name
      while name.utf8.count > 56 { name.removeLast() }
      return IndexNames.Index(kind: kind, name: name, table: table, columns: columns)
    }
  }
#endif
