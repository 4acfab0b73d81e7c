/// Predicates, and the people of `World` that a fetch finds with them.
let fetchCases = CaseTable(
  #"""
  -- numbers
  age == 36 => 1
  age = 36.0 => 1
  age == 36.5 => -
  36 == age => 1
  age != 36 => 2 4 5
  age > 12 => 1 4
  12 < age => 1 4
  age >= 12 => 1 2 4
  age < 12 => 5
  12 > age => 5
  age <= 12 => 2 5
  12 <= age => 1 2 4
  age > -5 => 1 2 4
  age < 1e300 => 1 2 4 5
  age > 99.5 => 4
  age == 9223372036854775807 => -
  height == 1.65 => 1
  height = 0 => 5
  height > 1 => 1 2 4
  height < 1.65 => 2 5
  salary == 0.3 => 2
  salary == "0.3" => 2
  salary = 100.1 => 1
  salary == 100.10 => 1
  salary > 49.99 => 1 4
  salary == 50 => 4
  salary < 0 => 5
  salary IN {0.3, 50} => 2 4
  age IN {12, 36, 7} => 1 2
  age IN {} => -
  NOT age IN {} => 1 2 3 4 5
  age IN {12.0, 100} => 2 4
  NOT age IN {12, 36} => 4 5
  age NOT IN {12, 36} => 4 5
  age IN {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 36} => 1 2
  NOT age IN {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 36} => 4 5
  age BETWEEN {12, 36} => 1 2
  age BETWEEN {36, 12} => -
  NOT age BETWEEN {12, 36} => 4 5
  age BETWEEN {11.5, 12.5} => 2
  height BETWEEN {1, 1.65} => 1 2
  height BETWEEN {age, 40} => 5
  age == age => 1 2 4 5
  age < height => 5
  age > height AND height > 0 => 1 2 4
  -- bits
  age & 36 == 36 => 1 4
  age | 3 == 15 => 2
  age ^ age == 0 => 1 2 4 5
  ~age < -50 => 4
  age >> 2 == 3 => 2
  1 << 2 + 1 == 8 AND age == 12 => 2
  age & NULL == NULL => 1 2 3 4 5
  salary & 1 == 0 => 1 2 4
  -- missing values
  age == NULL => 3
  age != NULL => 1 2 4 5
  NULL == age => 3
  NULL != age => 1 2 4 5
  NOT age == NULL => 1 2 4 5
  NOT age != NULL => 3
  NOT age == 36 => 2 4 5
  NOT age != 36 => 1
  NOT age > 12 => 2 5
  NOT NOT age == 36 => 1
  age == 0 => -
  age != 0 => 1 2 4 5
  age == 36 OR age != 36 => 1 2 4 5
  age == 36 OR NOT age == 36 => 1 2 4 5
  age == 36 OR age == NULL => 1 3
  age != 36 AND age != NULL => 2 4 5
  NOT (age == 36 AND name == "Ada") => 2 3 4 5
  NOT (age == 36 OR name == "zoë") => 2 4 5
  NOT (age > 0 OR active == TRUE) => 5
  age IN {36, NULL} => 1 3
  NOT age IN {36, NULL} => 2 4 5
  age IN {NULL} => 3
  age BETWEEN {NULL, 40} => -
  NOT age BETWEEN {NULL, 40} => 4
  age < NULL => -
  nick == NULL => 1
  nick == "" => 3
  nick != "" => 2 4 5
  NOT nick == "" => 2 4 5
  nick != NULL => 2 3 4 5
  nick CONTAINS "x" => -
  NOT nick CONTAINS "x" => 2 3 4 5
  NOT nick LIKE "*" => -
  nick LIKE "*" => 2 3 4 5
  nick MATCHES ".*" => 2 3 4 5
  NOT nick MATCHES "B.*" => 2 3 5
  nick BEGINSWITH "" => 2 3 4 5
  nick == name => -
  nick != name => 2 3 4 5
  born == NULL => 3
  active == NULL => 3
  salary = nil => 3
  NULL == NULL => 1 2 3 4 5
  NULL != NULL => -
  1 == 1 => 1 2 3 4 5
  1 == NULL => -
  1 != NULL => 1 2 3 4 5
  -- truth values
  active == TRUE => 1 4
  active == YES => 1 4
  active == FALSE => 2 5
  active != TRUE => 2 5
  active == 1 => 1 4
  active == 0 => 2 5
  NOT active == TRUE => 2 5
  TRUEPREDICATE => 1 2 3 4 5
  FALSEPREDICATE => -
  NOT TRUEPREDICATE => -
  TRUEPREDICATE AND age == 12 => 2
  FALSEPREDICATE OR age == 12 => 2
  -- strings
  name == "Ada" => 1
  name != "Ada" => 2 3 4 5
  name ==[c] "ada" => 1 5
  name !=[c] "ada" => 2 3 4
  name == "Emile" => -
  name ==[d] "Emile" => 2
  name ==[cd] "EMILE" => 2
  name ==[cd] "ZOE" => 3
  name == "E\u0301mile" => -
  name ==[c] "e\u0301MILE" => 2
  name < "B" => 1 5
  name < "a" => 1 4 5
  name <[c] "b" => 1 5
  name > "a" => 2 3
  name >= "Bob" => 2 3 4
  name BETWEEN {"A", "B"} => 1 5
  name CONTAINS "d" => 1
  name CONTAINS[c] "d" => 1 5
  name CONTAINS[cd] "E" => 2 3
  name CONTAINS[cd] "é" => 2 3
  name CONTAINS "é" => -
  name CONTAINS "É" => 2
  name CONTAINS "" => 1 2 3 4 5
  name CONTAINS[c] "ë" => 3
  name CONTAINS[d] "e" => 2 3
  name BEGINSWITH "A" => 1 5
  name BEGINSWITH "Ad" => 1
  name BEGINSWITH[c] "ad" => 1 5
  name BEGINSWITH[d] "E" => 2
  name ENDSWITH "a" => 1
  name ENDSWITH[c] "A" => 1 5
  name ENDSWITH[d] "e" => 2 3
  name ENDSWITH "b" => 4
  name LIKE "A*" => 1 5
  name LIKE "A?a" => 1
  name LIKE "?mile" => 2
  name LIKE[cd] "e*" => 2
  name LIKE[c] "ad?" => 1 5
  name LIKE "*" => 1 2 3 4 5
  name LIKE "???" => 1 3 4 5
  name LIKE "*o*" => 3 4
  name LIKE "B*b" => 4
  name LIKE "B" => -
  name LIKE "" => -
  nick LIKE "50%\*\\\\\?" => 5
  nick LIKE "*\?" => 5
  nick LIKE "*\**" => 5
  name MATCHES "A.*" => 1 5
  name MATCHES "A" => -
  name MATCHES "Ad|Ada" => 1
  name MATCHES "[A-Z][a-z]+" => 1 4
  name MATCHES[c] "ad." => 1 5
  name MATCHES[d] "Emile" => 2
  name MATCHES "\w+" => 1 2 3 4 5
  nick MATCHES "\d+.*" => 5
  NOT name MATCHES "A.*" => 2 3 4
  name IN {"Ada", "Bob"} => 1 4
  name IN[c] {"ada"} => 1 5
  name IN[cd] {"emile", "ZOE"} => 2 3
  NOT name IN {"Ada", "Bob"} => 2 3 5
  "d" IN name => 1
  name IN "Ada and Bob" => 1 4
  name IN {"a", "b", "c", "d", "e", "f", "g", "h", "i", "zoë", "Bob"} => 3 4
  -- dates, UUIDs
  born == "2001-01-01" => 1
  born == CAST(0.0, "NSDate") => 1
  born > "1990-05-05" => 1 5
  born >= "1990-05-05T00:00:00Z" => 1 2 5
  born < "1960-01-01 00:00" => 4
  born BETWEEN {"1990-01-01", "2001-01-01"} => 1 2
  born IN {"1950-02-03", "2020-12-31"} => 4 5
  born < 0 => 2 4
  born > now() => -
  born + 86400 == CAST("2001-01-02", "NSDate") => 1
  born - CAST(0.0, "NSDate") == 0 => 1
  code == "11111111-2222-3333-4444-555555555555" => 1
  code == CAST("11111111-2222-3333-4444-555555555555", "NSUUID") => 1
  code != "11111111-2222-3333-4444-555555555556" => 1
  code == NULL => 2 3 4 5
  -- to-one relationships
  department == NULL => 3
  department != NULL => 1 2 4 5
  NOT department == NULL => 1 2 4 5
  boss == NULL => 1 3
  boss == SELF => -
  boss != SELF => 1 2 3 4 5
  department == department => 1 2 3 4 5
  department == boss.department => 2 3 5
  department != boss.department => 1 4
  department.name == "Sales" => 1 2
  department.name != "Sales" => -
  NOT department.name == "Sales" => -
  department.name == NULL => 3 4 5
  department.name != NULL => 1 2
  department.budget > 500 => 1 2
  department.budget == NULL => 3 4 5
  boss.name == "Ada" => 2 4
  boss.boss.name == "Ada" => 5
  boss.boss == NULL => 1 2 3 4
  boss.department.name == "Sales" => 2 4
  boss.age > age => 2 5
  boss.objectID != NULL => 2 4 5
  SELF == boss OR age == 12 => 2
  SELF IN children => 5
  boss IN boss.boss.children => 5
  department.staff.@count == 2 => 1 2 4 5
  -- to-many relationships
  ANY children.age > 50 => 1
  ANY children.name == "Ada" => 3
  ANY children.name ==[c] "ada" => 1 3 5
  SOME children.age == 100 => 1
  ANY children.age == NULL => 4
  ANY children.age != 12 => 1 3 5
  ANY children.age < 0 => 1 5
  ANY children.age IN {12, 36} => 3 4
  ANY children.age BETWEEN {0, 50} => 3 4
  ANY children.department.name == "Sales" => 3 4
  ANY children.department == NULL => 4
  ANY children == SELF => 5
  ANY children.boss == SELF => 1
  ANY children.children.age == 12 => 1
  ANY children.name CONTAINS[cd] "e" => 4
  ANY children.name LIKE "?oë" => 4
  ALL children.age > 10 => 2 3
  ALL children.age < 200 => 1 2 3 5
  ALL children.name ==[c] "ada" => 2 3 5
  ALL children.active == FALSE => 2 5
  NONE children.age > 50 => 2 3 4 5
  NONE children.age == NULL => 1 2 3 5
  NOT ANY children.age > 50 => 2 3 4 5
  NOT ALL children.age > 10 => 1 4 5
  NONE children.age IN {-5} => 2 3 4
  children.@count == 0 => 2
  children.@count > 1 => 1 4
  children.@count == 1 => 3 5
  children.@sum.age == 95 => 1
  children.@sum.age == 0 => 2
  children.@sum.age == 12 => 4
  children.age.@sum == 95 => 1
  children.@avg.age == 47.5 => 1
  children.@avg.age == NULL => 2
  children.@min.age == -5 => 1 5
  children.@max.age == 100 => 1
  children.@max.age == NULL => 2
  children.@max.age > 20 => 1 3
  children.@min.name == "ADA" => 1 5
  children.@max.born > "2010-01-01" => 1 5
  children.@sum.salary == 49 => 1
  36 IN children.@distinctUnionOfObjects.age => 3
  children CONTAINS SELF => 5
  12 IN children.age => 4
  children.age CONTAINS 12 => 4
  age IN boss.children.age => 4
  NOT age IN boss.children.age => 1 2 3 5
  count(children) == 2 => 1 4
  max(children.age) == 100 => 1
  sum(children.age) == 12 => 4
  average(children.age) == 12 => 4
  median(children.age) == 47.5 => 1
  min(children.age) == NULL => 2
  children[0].name == "Bob" => 1
  children[FIRST].age == 100 => 1
  children[LAST].age == -5 => 1 5
  children[SIZE] == 2 => 1 4
  children[7] == NULL => 1 2 3 4 5
  SUBQUERY(children, $x, $x.age > 50).@count > 0 => 1
  SUBQUERY(children, $x, $x.age > 50).@count == 0 => 2 3 4 5
  SUBQUERY(children, $x, $x.age == NULL).@count == 1 => 4
  SUBQUERY(children, $x, NOT $x.age == 12).@count == 1 => 3 5
  SUBQUERY(children, $x, $x == SELF).@count == 1 => 5
  SUBQUERY(children, $x, $x.boss == SELF).@count == 1 => 1
  SUBQUERY(children, $x, $x.department == department).@count > 0 => 5
  SUBQUERY(children, $x, $x.name CONTAINS[cd] "e" AND $x.age > 5).@count == 1 => 4
  SUBQUERY(children, $x, $x.age < age).@count > 0 => 1 4
  SUBQUERY(children, $x, SUBQUERY($x.children, $y, $y.age == 12).@count > 0).@count > 0 => 1
  SUBQUERY(children, $x, ANY $x.children.age == 12).@count > 0 => 1
  SUBQUERY(children, $x, $x.age > 0).@max.age == 100 => 1
  ANY SUBQUERY(children, $x, $x.age > 0).name == "Ada" => 3
  SUBQUERY(department.staff, $x, $x.age > 20).@count == 1 => 1 2 4 5
  -- arithmetic and functions
  age + 1 == 37 => 1
  age - 1 == 35 => 1
  age * 2 == 24 => 2
  age / 5 == 7 => 1
  age / 5.0 == 7.2 => 1
  age / 0 == NULL => 1 2 3 4 5
  age / 0 != 1 => -
  age ** 2 == 144 => 2
  -age == 5 => 5
  age %% 5 == 1 => 1
  age + height > 101 => 4
  age + NULL == NULL => 1 2 3 4 5
  salary + salary == 0.6 => 2
  salary * 10 == 3 => 2
  abs(age) == 5 => 5
  sqrt(age) == 6 => 1
  floor(height) == 1 => 1 2 4
  ceiling(height) == 2 => 1 2 4
  trunc(height) == 0 => 5
  abs(salary) == 1 => 5
  floor(salary) == 100 => 1
  ceiling(salary) == 1 => 2
  trunc(salary) == 0 => 2
  ln(exp(height)) < 1.3 => 2 5
  log(age) == 2 => 4
  bitwiseAnd:with:(age, 4) == 4 => 1 2 4
  bitwiseOr:with:(age, 1) == 37 => 1
  leftshift:by:(age, 1) == 24 => 2
  uppercase(name) == "ADA" => 1 5
  lowercase(name) == "ada" => 1 5
  canonical(name) == "emile" => 2
  uppercase(nick) == NULL => 1
  FUNCTION(name, "length") == 3 => 1 3 4 5
  FUNCTION(name, "stringByAppendingString:", "!") == "Bob!" => 4
  FUNCTION(name, "substringToIndex:", 1) == "A" => 1 5
  FUNCTION(born, "timeIntervalSinceReferenceDate") == 0 => 1
  CAST(age, "NSString") == "36" => 1
  CAST(nick, "NSNumber") == NULL => 1 2 3 4 5
  TERNARY(age > 20, "old", "young") == "old" => 1 4
  TERNARY(age == NULL, 1, 2) == 1 => 3
  TERNARY(active == TRUE, height, age) == 12 => 2
  max(age, 36) == 36 => 1 2 3 5
  max({1, age}) == 100 => 4
  sum(age, 1) == 37 => 1
  ($v := age) == 36 => 1
  age IN {1 + 11, 6 * 6} => 1 2
  age IN TERNARY(active == TRUE, {36}, {12}) => 1 2
  -- values inside transformables
  extra.colour == "red" => 1
  extra.colour == NULL => 2 3 4 5
  extra.sizes.@count == 3 => 1
  extra.sizes[1] == 2 => 1
  extra["colour"] == "red" => 1
  2 IN extra.sizes => 1
  ANY extra.sizes == 3 => 1
  SUBQUERY(extra.sizes, $x, $x > 1).@count == 2 => 1
  -- several at once
  age >= 10 AND age <= 50 AND name CONTAINS[cd] "é" => 2
  (name == "Ada" OR name == "Bob") AND active == TRUE => 1 4
  name == "Ada" OR name == "Bob" AND active == FALSE => 1
  NOT (active == TRUE) AND age < 0 => 5
  age > 0 AND NOT name BEGINSWITH "A" => 2 4
  """#)
