/// Predicate texts and their printed form; `=` on the right stands for the same text.
let parsingCases = CaseTable(
  #"""
  -- comparisons and their spellings
  age == 5 => =
  age = 5 => age == 5
  age=5 => age == 5
  age != 5 => =
  age <> 5 => age != 5
  age < 5 => =
  age <= 5 => =
  age =< 5 => age <= 5
  age > 5 => =
  age >= 5 => =
  age => 5 => age >= 5
  5 < age => =
  name CONTAINS "a" => =
  name contains 'a' => name CONTAINS "a"
  name BEGINSWITH "a" => =
  name beginsWith "a" => name BEGINSWITH "a"
  name ENDSWITH "a" => =
  name LIKE "a*b?" => =
  name MATCHES "[a-z]+" => =
  name MATCHES "\d+" => name MATCHES "\\d+"
  name MATCHES "\\d+" => =
  name IN {"a", "b"} => =
  name IN ("a", "b") => name IN {"a", "b"}
  name IN {} => =
  name IN names => =
  name NOT IN {"a"} => NOT name IN {"a"}
  NOT name IN {"a"} => =
  name NOT LIKE "a" => NOT name LIKE "a"
  age BETWEEN {1, 10} => =
  age BETWEEN {1,10} => age BETWEEN {1, 10}
  age between (1, 10) => age BETWEEN {1, 10}
  age BETWEEN $range => =
  age BETWEEN {$low, $high} => =
  age BETWEEN {1 + 1, limit * 2} => =
  -- options
  name ==[c] "a" => =
  name ==[cd] "a" => =
  name ==[dc] "a" => name ==[cd] "a"
  name CONTAINS[cd] "é" => =
  name CONTAINS [c] "é" => name CONTAINS[c] "é"
  name BEGINSWITH[n] "a" => =
  name LIKE[cdl] "a*" => =
  name MATCHES[c] "a.*" => =
  name IN[c] {"a"} => =
  name <[c] "m" => =
  name !=[D] "a" => name !=[d] "a"
  -- conjunctions
  a == 1 AND b == 2 => =
  a == 1 && b == 2 => a == 1 AND b == 2
  a == 1 and b == 2 => a == 1 AND b == 2
  a == 1 OR b == 2 => =
  a == 1 || b == 2 => a == 1 OR b == 2
  a == 1 AND b == 2 AND c == 3 => =
  a == 1 OR b == 2 OR c == 3 => =
  a == 1 AND b == 2 OR c == 3 => (a == 1 AND b == 2) OR c == 3
  a == 1 OR b == 2 AND c == 3 => a == 1 OR (b == 2 AND c == 3)
  (a == 1 OR b == 2) AND c == 3 => =
  (a == 1 AND b == 2) AND c == 3 => =
  a == 1 AND (b == 2 AND c == 3) => =
  ((a == 1)) => a == 1
  (((a)) == ((1))) => a == 1
  NOT a == 1 => =
  !a == 1 => NOT a == 1
  ! (a == 1) => NOT a == 1
  NOT (a == 1 AND b == 2) => =
  NOT NOT a == 1 => =
  NOT a == 1 AND b == 2 => =
  !(a = 1 or b = 2) && c = 3 => NOT (a == 1 OR b == 2) AND c == 3
  TRUEPREDICATE => =
  FALSEPREDICATE => =
  truepredicate or FalsePredicate => TRUEPREDICATE OR FALSEPREDICATE
  NOT TRUEPREDICATE => =
  (TRUEPREDICATE) => TRUEPREDICATE
  -- quantifiers
  ANY children.age > 5 => =
  SOME children.age > 5 => ANY children.age > 5
  ALL children.age > 5 => =
  NONE children.age > 5 => =
  NOT ANY children.age > 5 => NONE children.age > 5
  NOT ALL children.age > 5 => =
  NOT NONE children.age > 5 => =
  any children.name contains[c] 'a' => ANY children.name CONTAINS[c] "a"
  ANY children.age BETWEEN {1, 2} => =
  ANY tags IN {"a", "b"} => =
  ANY children.age > 5 AND age > 5 => =
  -- literals
  a == NULL => =
  a == nil => a == NULL
  a == TRUE => =
  a == yes => a == TRUE
  a == FALSE => =
  a == NO => a == FALSE
  a == -5 => =
  a == +5 => a == 5
  a == - 5 => a == -5
  a == 1.5 => =
  a == -1.5 => =
  a == 1e3 => a == 1000.0
  a == 1.5E-3 => a == 0.0015
  a == 0x1F => a == 31
  a == 0b101 => a == 5
  a == 0o17 => a == 15
  a == -0b11 => a == -3
  a == -0x8000000000000000 => a == -9223372036854775808
  a == 0b0 => a == 0
  -- operators on bits
  a & 4 == 4 => =
  a | b ^ c & d == 1 => =
  a & b & c == 0 => =
  a & (b & c) == 0 => =
  (a | b) & c == 0 => =
  a & (b | c) == 0 => =
  (a ^ b) | c == 0 => a ^ b | c == 0
  a << 2 >> 1 == 0 => =
  a << (2 >> 1) == 0 => =
  a + 1 << b * 2 == 0 => =
  (a << 1) + 2 == 0 => =
  a + (1 << 2) == 0 => =
  a&b!=0 => a & b != 0
  a << -1 == 0 => =
  ~a == -1 => =
  ~~a == a => =
  ~a & ~b == 0 => =
  ~(a + 1) == 0 => =
  ~a + 1 == 0 => =
  ~a ** 2 == 0 => =
  (~a) ** 2 == 0 => =
  2 ** ~a == 0 => =
  ~(-5) == 4 => =
  ~-5 == 4 => ~(-5) == 4
  ~a.b[0] == 0 => =
  bitwiseAnd:with:(a, 4) == 4 => a & 4 == 4
  onesComplement:(a) == 0 => ~a == 0
  a & 1 == 1 && b | 2 == 2 || c << 1 == 4 => (a & 1 == 1 AND b | 2 == 2) OR c << 1 == 4
  a & 6 IN {2, 4} => =
  a BETWEEN {1 << 2, 1 << 4} => =
  ANY list.flags & 1 == 1 => =
  a == 9223372036854775807 => =
  a == -9223372036854775808 => =
  a == 9223372036854775808 => a == CAST("9223372036854775808", "NSDecimalNumber")
  a == 0.1000000000000000055 => a == CAST("0.1000000000000000055", "NSDecimalNumber")
  a == -12345678901234567890.5 => a == CAST("-12345678901234567890.5", "NSDecimalNumber")
  a == 0.10000000000000000000 => a == 0.1
  a == 0.30000000000000004 => =
  a == 1.000000000000000000000e-300 => a == 1e-300
  a == "it's" => =
  a == 'say "x"' => a == "say \"x\""
  a == 'it\'s' => a == "it's"
  a == "line\nbreak\ttab" => =
  a == "back\\slash" => =
  a == "\u00e9" => a == "é"
  a == "" => =
  a == "%@ is literal" => =
  a == "100%%" => =
  a == {1, "b", NULL} => =
  a == {{1, 2}, {3}} => =
  -- key paths
  department.manager.name == "x" => =
  SELF == 5 => =
  self.name == "a" => name == "a"
  SELF.name.first == "a" => name.#first == "a"
  #in == 5 => =
  #select == 5 => select == 5
  a.#in == 5 => =
  a.in == 5 => a.#in == 5
  #size == 5 => =
  size == 5 => #size == 5
  first == last => #first == #last
  #"two words" == 5 => =
  #'two words'.b == 5 => #"two words".b == 5
  größe == 5 => =
  _a1 == 5 => =
  and1 == 5 => =
  order == 5 => =
  nothing == 5 => =
  cast == 5 => #cast == 5
  function.a == 5 => #function.a == 5
  children.@count > 3 => =
  children.@sum.age > 3 => =
  children.@avg.age > 3 => =
  children.@min.age > 3 => =
  children.@max.age > 3 => =
  children.@distinctUnionOfObjects.age == {1} => =
  children.age.@max > 3 => =
  SELF.@count == 3 => =
  @count == 3 => SELF.@count == 3
  ANYKEY == 5 => =
  -- variables
  a == $x => =
  $x.name == "a" => =
  $FETCH_SOURCE.department == department => =
  since > $FETCHED_PROPERTY.userInfo.since => =
  ($x := 5) == 5 => =

  -- arithmetic
  a + 1 == 2 => =
  a - 1 - 2 == 0 => =
  a - (1 - 2) == 0 => =
  a + 1 * 2 == 0 => =
  (a + 1) * 2 == 0 => =
  a * 2 / 3 == 0 => =
  a * (2 / 3) == 0 => =
  a ** 2 == 4 => =
  a ** 2 ** 3 == 4 => =
  (a ** 2) ** 3 == 4 => =
  a * b ** 2 == 4 => =
  (a * b) ** 2 == 4 => =
  -a == 1 => 0 - a == 1
  -(a + 1) == 1 => 0 - (a + 1) == 1
  a - -1 == 2 => a - (-1) == 2
  a+-1 == 2 => a + (-1) == 2
  -2 ** 2 == a => 0 - 2 ** 2 == a
  (-2) ** 2 == a => =
  2 ** -1 == a => 2 ** (-1) == a
  a %% 3 == 1 => modulus:by:(a, 3) == 1
  1+1==2 => 1 + 1 == 2
  a.b + c.d > e.f * 2 => =
  -- functions
  uppercase(name) == "A" => uppercase:(name) == "A"
  uppercase:(name) == "A" => =
  lowercase:(name) == "a" => =
  canonical(name) == "a" => canonical:(name) == "a"
  abs(a) == 1 => abs:(a) == 1
  ABS(a) == 1 => abs:(a) == 1
  sqrt(a) == 1 => sqrt:(a) == 1
  floor(a) == ceiling(b) => floor:(a) == ceiling:(b)
  trunc(a) == 1 => trunc:(a) == 1
  ln(a) > log(b) => ln:(a) > log:(b)
  exp(a) > 1 => exp:(a) > 1
  now() > born => =
  random() > 0.5 => =
  random(5) > 2 => random:(5) > 2
  noindex:(a) == 1 => =
  sum({1, 2}) == 3 => sum:({1, 2}) == 3
  sum(1, 2) == 3 => sum:({1, 2}) == 3
  max(a, b) == 3 => max:({a, b}) == 3
  count(children) > 1 => count:(children) > 1
  average(children.age) > 1 => average:(children.age) > 1
  avg(children.age) > 1 => average:(children.age) > 1
  median(children.age) > 1 => median:(children.age) > 1
  mode({1, 1, 2}) == 1 => mode:({1, 1, 2}) == 1
  stddev(children.age) > 1 => stddev:(children.age) > 1
  add:to:(a, b) == 3 => a + b == 3
  from:subtract:(a, b) == 3 => a - b == 3
  multiply:by:(a, b) == 3 => a * b == 3
  divide:by:(a, b) == 3 => a / b == 3
  raise:toPower:(a, b) == 3 => a ** b == 3
  modulus:by:(a, b) == 3 => =
  leftshift:by:(a, 2) == 4 => a << 2 == 4
  FUNCTION(name, "length") > 3 => =
  FUNCTION(name, 'uppercaseString') == "A" => FUNCTION(name, "uppercaseString") == "A"
  FUNCTION(name, "stringByAppendingString:", "x") == "ax" => =
  FUNCTION(name, "uppercase") == "A" => uppercase:(name) == "A"
  FUNCTION(a, "add:to:", b) == 3 => a + b == 3
  CAST(a, "NSNumber") == 1 => =
  CAST("5", "NSNumber") == 5 => =
  CAST(5, "NSString") == "5" => =
  born > CAST(0.0, "NSDate") => =
  born > CAST(0, "NSDate") => born > CAST(0.0, "NSDate")
  born > CAST("2001-01-01", "NSDate") => born > CAST(0.0, "NSDate")
  a == CAST("1.10", "NSDecimalNumber") => a == CAST("1.1", "NSDecimalNumber")
  a == CAST("AQI=", "NSData") => =
  a == CAST("inf", "NSNumber") => =
  TERNARY(a == 1, b, c) == 2 => =
  TERNARY(a == 1 AND b == 2, 1 + 1, {1}) == 2 => =
  SUBQUERY(children, $x, $x.age > 5).@count > 0 => =
  SUBQUERY(children, $x, $x.age > 5 AND $x.name == name).@count == 1 => =
  SUBQUERY(children, $x, SUBQUERY($x.children, $y, $y.age > $x.age).@count > 0).@count > 0 => =
  subquery(a, $b, TRUEPREDICATE).@count > 0 => SUBQUERY(a, $b, TRUEPREDICATE).@count > 0
  -- indexes
  a[0] == 1 => =
  a[FIRST] == 1 => =
  a[first] == 1 => a[FIRST] == 1
  a[LAST].name == "x" => =
  a[SIZE] == 3 => =
  a["key"] == 3 => =
  a[b + 1] == 3 => =
  a[0][1] == 3 => =
  a.b[0].c == 3 => =
  {1, 2}[0] == 1 => =
  (a + b)[0] == 1 => =
  $x[0] == 1 => =
  -- white space
     a   ==    5    => a == 5
  a==5&&b==6||c==7 => (a == 5 AND b == 6) OR c == 7
  """#)
