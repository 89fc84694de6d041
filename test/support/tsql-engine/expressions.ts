/** Expressions as functions of the row, with the type that T-SQL gives them. */
import type { Binary, Call, Case, Expression, Literal } from '../../../server/src/syntax/tree.ts';
import { aggregateNames } from './aggregate-names.ts';
import { bindAggregate } from './aggregates.ts';
import { bindArithmetic } from './arithmetic.ts';
import { namedCollation } from './collations.ts';
import { type BoundCondition, bindCondition as bindPredicate } from './conditions.ts';
import { conversion } from './convert.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import { bindCall } from './functions.ts';
import { type Bound, bindColumn, isPredicate, type Scope } from './scope.ts';
import { holdsAggregate, holdsWindow } from './shape.ts';
import {
  commonType,
  decimal,
  int,
  isText,
  isUnicode,
  longest,
  readType,
  type SqlType,
  textType,
  untypedNull,
  varbinary,
} from './types.ts';
import type { Value } from './values.ts';
import { bindWindow } from './windows.ts';
import { bindXmlValue } from './xml.ts';

export function bindCondition(e: Expression, scope: Scope): BoundCondition {
  return bindPredicate(e, scope, bindValue);
}

/** An expression at its place. In a grouped query what equals something grouped by stands for the group's value. */
export function bindValue(e: Expression, scope: Scope): Bound {
  const grouped = scope.groupedBy;
  const isConstant = e.kind === 'literal' || e.kind === 'variable';
  if (grouped !== null && grouped.size > 0 && !isConstant && !holdsAggregate(e) && !holdsWindow(e)) {
    const plain = scope.ungrouped(() => bindValue(e, scope));
    const key = grouped.get(plain.canon);
    if (key !== undefined) return { ...plain, run: (env) => env.keys?.[key] ?? null };
  }
  return bindNode(e, scope);
}

function bindNode(e: Expression, scope: Scope): Bound {
  switch (e.kind) {
    case 'literal':
      return literal(e, scope);
    case 'variable':
      return variable(e.name, scope);
    case 'column':
      return bindColumn(e.parts, scope);
    case 'parenthesis':
      return bindValue(e.inner, scope);
    case 'cast':
      return cast(e, scope);
    case 'case':
      return caseOf(e, scope);
    case 'collate':
      return collated(bindValue(e.operand, scope), e.collation.name, scope);
    case 'binary':
      return operation(e, scope);
    case 'unary':
      return negative(e.operator, bindValue(e.operand, scope));
    case 'call':
      return call(e, scope);
    case 'subquery': {
      const query = scope.world.query(e.query, scope);
      const [column, ...more] = query.columns;
      if (column === undefined || more.length > 0)
        throw new SqlError(
          116,
          'Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.',
        );
      const run: Bound['run'] = (env) => {
        const rows = query.rows(env);
        if (rows.length > 1) throw new SqlError(512, 'Subquery returned more than 1 value.');
        return rows[0]?.[0] ?? null;
      };
      return { type: column.type, canon: `query ${e.start}`, run };
    }
    case 'member':
      return bindXmlValue(e, scope, bindValue);
    default:
      throw new BeyondEngine(isPredicate(e) ? `${e.kind} as a value` : `expression ${e.kind}`);
  }
}

function constant(type: SqlType, value: Value, canon: string): Bound {
  return { type, canon, run: () => value };
}

function literal(e: Literal, { world }: Scope): Bound {
  const canon = `${e.type} ${e.value}`;
  switch (e.type) {
    case 'null':
      return constant(untypedNull, null, canon);
    case 'national':
    case 'string': {
      const base = e.type === 'national' ? 'nvarchar' : 'varchar';
      const whole = textType(base, 'max', world.collation);
      const value = conversion(whole, whole)(e.value);
      const length = Math.max(1, e.value.length);
      return constant(textType(base, length > longest(base) ? 'max' : length, world.collation), value, canon);
    }
    case 'number': {
      const match = /^(\d+)(?:\.(\d*))?$/.exec(e.value);
      if (match === null) throw new BeyondEngine(`number ${e.value}`);
      const [, whole = '', fraction] = match;
      if (fraction === undefined && BigInt(whole) <= 2_147_483_647n) return constant(int, BigInt(whole), canon);
      const digits = whole.replace(/^0+/, '').length + (fraction ?? '').length;
      return constant(decimal(Math.max(1, digits), (fraction ?? '').length), BigInt(whole + (fraction ?? '')), canon);
    }
    case 'binary': {
      const bytes = Buffer.from(e.value.slice(2), 'hex');
      return constant(varbinary(Math.max(1, bytes.length)), bytes, canon);
    }
    default:
      throw new BeyondEngine(`literal ${e.value}`);
  }
}

function variable(name: string, { world }: Scope): Bound {
  if (name.startsWith('@@')) return world.systemVariable(name);
  const slot = world.variable(name);
  return { type: slot.type, canon: name.toLowerCase(), run: () => slot.value };
}

function cast(e: Extract<Expression, { kind: 'cast' }>, scope: Scope): Bound {
  if (e.function !== 'CAST' && e.function !== 'CONVERT') throw new BeyondEngine(e.function);
  const operand = bindValue(e.operand, scope);
  const style = e.style === null ? null : bindValue(e.style, scope).run({ rows: [], outer: null });
  const written = readType(e.type, 30, scope.world.collation);
  // A text that is converted to text keeps its collation, and with it the code page.
  const type = isText(written) && isText(operand.type) ? { ...written, collation: operand.type.collation } : written;
  const convert = conversion(operand.type, type, 'cast', style === null ? null : Number(style));
  return {
    type,
    canon: `cast(${operand.canon},${e.type.text},${style})`,
    run: (env) => convert(operand.run(env)),
  };
}

function caseOf(e: Case, scope: Scope): Bound {
  const branches = e.branches.map((branch) => {
    const when = e.operand === null ? branch.when : equality(e.operand, branch.when);
    return { when: bindCondition(when, scope), result: bindValue(branch.then, scope) };
  });
  const otherwise = e.otherwise === null ? null : bindValue(e.otherwise, scope);
  const results = [...branches.map(({ result }) => result), ...(otherwise === null ? [] : [otherwise])];
  const type = commonType(results.map((result) => result.type));
  if (type.isNull === true)
    throw new SqlError(
      8133,
      'At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.',
    );
  const converted = results.map((result) => ({ result, convert: conversion(result.type, type) }));
  const run: Bound['run'] = (env) => {
    const hit = branches.findIndex(({ when }) => when.test(env) === true);
    const chosen = converted[hit < 0 ? branches.length : hit];
    return chosen === undefined ? null : chosen.convert(chosen.result.run(env));
  };
  const parts = branches.map(({ when, result }) => `${when.canon}:${result.canon}`);
  return { type, canon: `case(${parts.join(',')},${otherwise?.canon})`, run };
}

function equality(left: Expression, right: Expression): Binary {
  return { kind: 'binary', operator: '=', left, right, start: right.start, end: right.end };
}

/** COLLATE also brings text that is not Unicode into the code page of its collation, cut to the bytes that its type has. */
function collated(operand: Bound, name: string, { world }: Scope): Bound {
  const { type } = operand;
  if (!isText(type)) throw new SqlError(447, `Expression type ${type.base} is invalid for COLLATE clause.`);
  const collation = namedCollation(name, world.collation);
  const target = { ...type, collation };
  const convert = isUnicode(type) ? (value: Value) => value : conversion(type, target);
  return { type: target, canon: `collate(${operand.canon},${name})`, run: (env) => convert(operand.run(env)) };
}

function operation(e: Binary, scope: Scope): Bound {
  const [left, right] = [bindValue(e.left, scope), bindValue(e.right, scope)];
  const bothTexts = [left, right].every(({ type }) => isText(type) || type.isNull === true);
  if (e.operator === '+' && bothTexts && (isText(left.type) || isText(right.type))) return joined(left, right);
  return bindArithmetic(e.operator, left, right);
}

/** `+` of texts: the sum of the lengths, cut at 8,000 bytes where neither is `max`. */
function joined(left: Bound, right: Bound): Bound {
  const common = commonType([left.type, right.type]);
  const base = isUnicode(common) ? 'nvarchar' : 'varchar';
  const lengths = [left, right].map(({ type }) => (type.isNull === true ? 1 : type.length));
  const sum = lengths.includes('max') ? 'max' : lengths.reduce<number>((total, length) => total + Number(length), 0);
  const length = sum === 'max' ? sum : Math.min(sum, longest(base));
  const type: SqlType = { ...common, base, length };
  const open: SqlType = { ...type, length: 'max' };
  const [toLeft, toRight, fitted] = [conversion(left.type, open), conversion(right.type, open), conversion(open, type)];
  const run: Bound['run'] = (env) => {
    const [a, b] = [toLeft(left.run(env)), toRight(right.run(env))];
    return a === null || b === null ? null : fitted(String(a) + String(b));
  };
  return { type, canon: `join(${left.canon},${right.canon})`, run };
}

function negative(operator: string, operand: Bound): Bound {
  if (operator !== '-') throw new BeyondEngine(`operator ${operator}`);
  return bindArithmetic('-', { type: operand.type, canon: '0', run: () => 0n }, operand);
}

function call(e: Call, scope: Scope): Bound {
  const name = e.name.parts
    .map((part) => part?.name ?? '')
    .join('.')
    .toUpperCase();
  if (e.clauses.length > 0 || e.filter !== null || e.nulls !== null)
    throw new BeyondEngine(`call of ${name} with more clauses`);
  if (e.over !== null) {
    if (scope.windows === null)
      throw new SqlError(4108, 'Windowed functions can only appear in the SELECT or ORDER BY clauses.', 15);
    return bindWindow(name, e, scope, bindValue);
  }
  if (aggregateNames.has(name)) return bindAggregate(name, e, scope, bindValue);
  return bindCall(name, e.arguments, scope, bindValue);
}
