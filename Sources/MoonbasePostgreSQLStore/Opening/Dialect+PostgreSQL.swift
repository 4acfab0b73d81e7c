#if PostgreSQL
  import MoonbasePostgreSQL
  import MoonbaseSQL

  extension Dialect {
    /// The SQL of PostgreSQL. Text columns are declared with the collation "C", so that no statement needs to name it.
    static let postgreSQL = Dialect(
      engine: "PostgreSQL", placeholder: .numbered, truth: ("TRUE", "FALSE"),
      nullSafe: ("IS NOT DISTINCT FROM", "IS DISTINCT FROM"), keySets: .arrays, nullOrder: .written, collation: nil,
      noLimit: .absent, ignore: { " ON CONFLICT (\($0)) DO NOTHING" }, arithmetic: .checked, matching: .cannot,
      decimals: .exact, writing: .sets(parameters: 65_535), greatestColumnCount: 1600, keepsNUL: false,
      findsMissing: false, takesBareColumns: false, joinWithoutCondition: "CROSS JOIN",
      columnTypes: { kind in
        let type = kind?.type ?? .bigint
        // Texts are compared by their bytes, which is the order of code points.
        return type == .text ? "text COLLATE \"C\"" : type.name
      })
  }
#endif
