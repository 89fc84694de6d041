/** FOR XML PATH(N''), TYPE with .value(): how lists were joined before STRING_AGG. */
import type { Expression } from '../../../server/src/syntax/tree.ts';
import type { BindValue } from './conditions.ts';
import { conversion } from './convert.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import type { Bound, Scope } from './scope.ts';
import { type SqlType, textType } from './types.ts';
import type { Value } from './values.ts';

/** The rows of one nameless text column as one xml value: the texts one after the other, NULL for no text. */
export function xmlOf(texts: readonly Value[]): Value {
  const known = texts.filter((text) => text !== null).map(String);
  for (const text of known) {
    // What XML 1.0 cannot hold.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters in question
    if (/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(text)) {
      throw new SqlError(
        6841,
        'FOR XML could not serialize the data for node because it contains a character which is not allowed in XML.',
      );
    }
  }
  return known.length === 0 ? null : known.map(escaped).join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>\r]/g, (unit) => `&#${unit.charCodeAt(0)};`);
}

/** `(… FOR XML …, TYPE).value(N'.', N'nvarchar(max)')`. */
export function bindXmlValue(e: Extract<Expression, { kind: 'member' }>, scope: Scope, value: BindValue): Bound {
  const [path, type] = (e.arguments ?? []).map((arg) => (arg.kind === 'literal' ? arg.value : ''));
  if (e.member.name !== 'value' || (path !== '.' && path !== 'text()[1]'))
    throw new BeyondEngine(`.${e.member.name}(${path})`);
  const object = value(e.object, scope);
  if (object.type.base !== 'xml') throw new SqlError(258, `Cannot call methods on ${object.type.base}.`, 15);
  const length = /^nvarchar\((max|\d+)\)$/i.exec(type ?? '')?.[1];
  if (length === undefined) throw new BeyondEngine(`.value of type ${type}`);
  const result: SqlType = textType('nvarchar', /max/i.test(length) ? 'max' : Number(length), scope.world.collation);
  const fitted = conversion({ ...result, length: 'max' }, result);
  const run: Bound['run'] = (env) => {
    const found = object.run(env);
    return found === null
      ? null
      : fitted(String(found).replace(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code))));
  };
  return { type: result, canon: `value(${object.canon})`, run };
}
