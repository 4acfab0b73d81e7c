/// Predicates over one map of values with Foundation's rules for nil: the results of `evaluate(with:)`.
///
/// The map: name "Zoë", age 30, score 2.5, gone missing, empty "", tags a b c, scores 1 2 3, home a map with city
/// "Köln" and rooms, a list of maps with size 10 and 20, and day 2001-01-01.
let nilCases = CaseTable(
  #"""
  age == 30 => true
  age != 30 => false
  age > 29.5 => true
  gone == NULL => true
  gone != NULL => false
  gone == 5 => false
  gone != 5 => true
  NOT gone == 5 => true
  NOT gone != 5 => false
  gone > 5 => false
  gone < 5 => false
  NOT gone < 5 => true
  gone == gone => true
  gone == 0 => false
  gone == "" => false
  gone != 0 => true
  NULL == 0 => false
  NULL != 0 => true
  gone CONTAINS "a" => false
  NOT gone CONTAINS "a" => true
  gone LIKE "*" => false
  gone MATCHES ".*" => false
  gone BEGINSWITH "" => false
  gone IN {1, 2} => false
  gone IN {1, NULL} => true
  gone IN "abc" => false
  NOT gone IN "abc" => true
  gone BETWEEN {1, 2} => false
  NOT gone IN {1, 2} => true
  gone + 1 == NULL => true
  gone.deeper.still == NULL => true
  empty == "" => true
  empty == NULL => false
  empty != NULL => true
  name == "Zoë" => true
  name ==[cd] "ZOE" => true
  name CONTAINS[d] "oe" => true
  name BEGINSWITH "Z" => true
  name ENDSWITH[cd] "Ë" => true
  name LIKE[d] "?oe" => true
  name MATCHES "Z.ë" => true
  name > "Y" => true
  name < 5 => false
  name == 5 => false
  name != 5 => true
  tags CONTAINS "b" => true
  tags CONTAINS "x" => false
  tags CONTAINS[c] "B" => true
  "b" IN tags => true
  "x" IN tags => false
  ANY tags == "b" => true
  ANY tags BEGINSWITH "x" => false
  ALL tags MATCHES "[abc]" => true
  ALL tags == "a" => false
  NONE tags == "x" => true
  NONE tags == "a" => false
  ANY gone == 5 => false
  ALL gone == 5 => true
  NONE gone == 5 => true
  tags.@count == 3 => true
  tags[0] == "a" => true
  tags[LAST] == "c" => true
  tags[SIZE] == 3 => true
  tags[9] == NULL => true
  tags == {"a", "b", "c"} => true
  tags == {"a", "b"} => false
  SELF.scores.@sum == 6 => true
  scores.@sum == 6 => true
  scores.@avg == 2 => true
  scores.@min == 1 => true
  scores.@max == 3 => true
  sum(scores) == 6 => true
  mode({1, 2, 2}) == 2 => true
  stddev({1, 1}) == 0 => true
  median({1, 3, 9}) == 3 => true
  2 IN scores => true
  2.0 IN scores => true
  ANY scores > 2 => true
  ALL scores > 2 => false
  SUBQUERY(scores, $x, $x > 1).@count == 2 => true
  SUBQUERY(rooms, $r, $r.size > 15).@count == 1 => true
  home.city == "Köln" => true
  home.street == NULL => true
  home["city"] ==[d] "Koln" => true
  rooms.size == {10, 20} => true
  rooms.@sum.size == 30 => true
  rooms.@max.size == 20 => true
  ANY rooms.size == 20 => true
  rooms[1].size == 20 => true
  rooms.@distinctUnionOfObjects.size == {10, 20} => true
  day == CAST(0, "NSDate") => true
  day > CAST("2000-12-31T23:59:59.999Z", "NSDate") => true
  day == 0 => true
  FUNCTION(day, "timeIntervalSince1970") == 978307200 => true
  age BETWEEN {30, 30} => true
  age BETWEEN {31, 40} => false
  score * 2 == 5 => true
  7 / 2 == 3 => true
  7.0 / 2 == 3.5 => true
  -7 / 2 == -3 => true
  7 %% 4 == 3 => true
  2 ** 10 == 1024 => true
  2 ** 3 ** 2 == 512 => true
  10 - 2 - 3 == 5 => true
  2 + 3 * 4 == 14 => true
  (2 + 3) * 4 == 20 => true
  9223372036854775807 + 1 > 9223372036854775807 => true
  0.1 + 0.2 == 0.3 => false
  CAST("0.1", "NSDecimalNumber") + CAST("0.2", "NSDecimalNumber") == CAST("0.3", "NSDecimalNumber") => true
  CAST("0.1", "NSDecimalNumber") == 0.1 => true
  CAST("12", "NSNumber") == 12 => true
  CAST("x", "NSNumber") == NULL => true
  CAST("nan", "NSNumber") == CAST("nan", "NSNumber") => false
  9007199254740993 == 9007199254740992.0 => false
  TRUE == 1 => true
  TRUE == "1" => false
  YES != NO => true
  TERNARY(age > 18, "adult", "child") == "adult" => true
  uppercase("straße") == "STRASSE" => true
  "ß" ==[c] "ẞ" => true
  "İ" ==[c] "i̇" => true
  "ﬁ" CONTAINS[c] "f" => true
  "é" ==[n] "é" => true
  "a\nb" LIKE "a?b" => true
  "a\r\nb" LIKE "a?b" => true
  "👍🏽" LIKE "?" => true
  "aXbXc" LIKE "*X*c" => true
  "abc" LIKE "*X*" => false
  "abc" MATCHES "b" => false
  "a.c" LIKE "a.c" => true
  "abc" LIKE "a.c" => false
  age CONTAINS "3" => ERROR
  age LIKE "3*" => ERROR
  name MATCHES "(" => ERROR
  name IN 5 => ERROR
  age.deeper == 1 => ERROR
  ANY age == 30 => ERROR
  $unknown == 5 => ERROR
  ANYKEY == 5 => ERROR
  uppercase(age) == "A" => ERROR
  age + "x" == 5 => ERROR
  tags.@unknown == 5 => ERROR
  age BETWEEN scores => ERROR
  """#)
