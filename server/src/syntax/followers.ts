/** What follows a name and no word that begins a clause. */
export const behindName: ReadonlySet<string> = new Set(
  ', . = ) <> < > <= >= AS JOIN INNER LEFT RIGHT CROSS FULL WHERE GROUP HAVING ORDER UNION AND OR'.split(' '),
);

/** What no item of a list begins with in DuckDB. */
export const listEnds: ReadonlySet<string> = new Set(
  ') ] } ; FROM WHERE GROUP HAVING ORDER LIMIT OFFSET QUALIFY WINDOW USING UNION EXCEPT INTERSECT ON RETURNING'.split(
    ' ',
  ),
);
