/** Strings that a hostile target would like to see come alive in a page, a terminal, a table or a log. */
export const HOSTILE_STRINGS: readonly string[] = [
  '<script>window.pwned = 1</script>',
  '"><img src=x onerror="window.pwned = 1">',
  '</script><svg onload=window.pwned=1>',
  '</style><style>body{display:none}</style>',
  "' onmouseover='window.pwned=1",
  '<!-- --><![CDATA[ ]]> <?xml version="1.0"?>',
  'javascript:window.pwned=1',
  '[click](javascript:alert(1)) ![x](https://evil.example/pixel.png) https://evil.example/ www.evil.example',
  '@everyone #1 `code` ``two`` | pipe \\| escaped | **bold** _em_ ~~gone~~ $math$ <details>',
  '::error file=x::injected\r\n::set-output name=a::b',
  'not ok 1 - injected # TODO\nok 2 # SKIP\n1..0\nBail out!',
  '\u001b[2J\u001b[31mred\u001b[0m\u0007\u0000\u007f\u009b31m\b\b\b',
  'left \u202egnp.exe\u202c \u2066isolate\u2069 \u200bzero\u200bwidth\ufeff',
  'lone \ud800 surrogate \udc00, \ufffe non-character',
  '$\u007bconstructor} {{7*7}} %0A%0D %s',
  '__proto__',
  '\u2028line\u2029separators\u0085',
];

/** What no rendering may contain raw, line feeds aside. Written apart from the code that removes it. */
export const UNSEEN_CHARACTER = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/u;
