/** `--ddl a b c` is allowed, as shells expand patterns that way: every word behind it is a path of its own `--ddl`. */
export function withPathLists(args: readonly string[]): readonly string[] {
  const spread: string[] = [];
  let inList = false;
  for (const argument of args) {
    if (argument.startsWith('-')) {
      inList = argument === '--ddl';
      if (!inList) spread.push(argument);
    } else spread.push(...(inList ? ['--ddl', argument] : [argument]));
  }
  return spread;
}
