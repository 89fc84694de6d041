import { isTsql } from '../../../protocol/platform.ts';
import { type EmbeddedScript, EmbeddedText } from './embedded.ts';
import { bare, walk } from './inspect.ts';
import type { Execute, Expression, Literal, Node, NodeBase, Script, Unit } from './tree.ts';

/**
 * The SQL that a script builds in strings and executes: EXEC ('…'), sp_executesql, EXECUTE IMMEDIATE, with variables
 * followed through DECLARE, SET and SELECT of the same batch. Parts that come from elsewhere become holes. Control flow
 * is not followed: an assignment under IF or WHILE counts, and makes the text incomplete.
 */
export function dynamicScripts(script: Script): readonly EmbeddedScript[] {
  const found: EmbeddedScript[] = [];
  for (const batch of script.batches) {
    const reader = new DynamicReader(script);
    for (const unit of batch.units) found.push(...reader.read(unit));
  }
  return found;
}

class DynamicReader {
  private readonly script: Script;
  private readonly variables = new Map<string, EmbeddedText>();

  constructor(script: Script) {
    this.script = script;
  }

  read(unit: Unit): readonly EmbeddedScript[] {
    const found: EmbeddedScript[] = [];
    walk(unit.statement, (node, parents) => {
      const executed = this.visit(unit, node, parents.some(isConditional));
      if (executed !== null && !executed.isEmpty) found.push(executed.finish(this.script.platform));
      return !(node.kind === 'query' || node.kind === 'create-table');
    });
    return found;
  }

  /** Follows an assignment; returns the text that a statement executes. */
  private visit(unit: Unit, node: Node, conditional: boolean): EmbeddedText | null {
    switch (node.kind) {
      case 'declared-variable':
        if (node.value !== null) this.assign(unit, node.name, '=', node.value, conditional);
        return null;
      case 'set-variable':
        this.assign(unit, node.variable.name, node.operator, node.value, conditional);
        return null;
      case 'select-statement':
        if (node.query.body.kind === 'select') {
          for (const item of node.query.body.items) {
            if (item.assigns !== null) this.assign(unit, item.assigns.name, '=', item.expression, true);
          }
        }
        return null;
      case 'execute': {
        const sql = executedText(node);
        const text = sql === null ? null : this.textOf(unit, sql);
        // What a procedure gives back is not known.
        for (const { value, output } of node.arguments) {
          if (output && value.kind === 'variable') this.variables.delete(value.name.toLowerCase());
        }
        return text;
      }
      case 'opaque':
        if (node.name === 'FETCH') this.forgetFetched(unit, node);
        return null;
      default:
        return null;
    }
  }

  private assign(unit: Unit, name: string, operator: string, value: Expression, conditional: boolean): void {
    const key = name.toLowerCase();
    const text = new EmbeddedText();
    const before = this.variables.get(key);
    if (operator === '+=' && before !== undefined) text.append(before);
    text.append(this.textOf(unit, value));
    if (conditional) text.complete = false;
    this.variables.set(key, text);
  }

  /** FETCH … INTO fills its variables from a cursor. */
  private forgetFetched(unit: Unit, fetch: NodeBase): void {
    const text = this.script.text.slice(unit.offset + fetch.start, unit.offset + fetch.end);
    const [, into = ''] = /\bINTO\b(.*)/is.exec(text) ?? [];
    for (const [name] of into.matchAll(/@[\w@#$]+/g)) this.variables.delete(name.toLowerCase());
  }

  private textOf(unit: Unit, expression: Expression): EmbeddedText {
    const text = new EmbeddedText();
    // A long chain of + leans to the left: it is taken apart without recursion.
    const pending: Expression[] = [expression];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const inner = bare(next);
      if (inner.kind === 'binary' && (inner.operator === '+' || inner.operator === '||'))
        pending.push(inner.right, inner.left);
      else if (inner.kind === 'call' && isConcat(inner.name.parts[0]?.name))
        pending.push(...[...inner.arguments].reverse());
      else if (inner.kind === 'cast') pending.push(inner.operand);
      else this.addPiece(unit, inner, text);
    }
    return text;
  }

  private addPiece(unit: Unit, expression: Expression, text: EmbeddedText): void {
    if (expression.kind === 'literal' && (expression.type === 'string' || expression.type === 'national')) {
      this.addLiteral(unit, expression, text);
      return;
    }
    const known = expression.kind === 'variable' ? this.variables.get(expression.name.toLowerCase()) : undefined;
    if (known !== undefined) text.append(known);
    else text.addHole(unit.offset + expression.start, unit.offset + expression.end);
  }

  private addLiteral(unit: Unit, literal: Literal, text: EmbeddedText): void {
    const from = unit.offset + literal.start;
    const raw = this.script.text.slice(from, unit.offset + literal.end);
    const open = raw.search(/['"]/);
    const mark = raw.charAt(open);
    const tsql = isTsql(this.script.platform);
    const backslashes = this.script.platform !== 'duckdb' && mark === '"';
    const last = raw.endsWith(mark) ? raw.length - 1 : raw.length;
    for (let index = open + 1; index < last; index += 1) {
      const character = raw.charAt(index);
      const doubled = character === mark && raw.charAt(index + 1) === mark;
      const escaped = backslashes && character === '\\';
      // T-SQL leaves out a backslash at the end of a line, together with the line's end.
      const continued = tsql && character === '\\' ? /^\r?\n/.exec(raw.slice(index + 1, index + 3)) : null;
      if (continued !== null) {
        index += continued[0].length;
        continue;
      }
      if (doubled || escaped) {
        text.addCharacter(raw.charAt(index + 1), from + index, 2);
        index += 1;
      } else text.addCharacter(character, from + index, 1);
    }
  }
}

function isConditional(node: Node): boolean {
  return node.kind === 'if' || node.kind === 'while';
}

function isConcat(name: string | undefined): boolean {
  return name !== undefined && /^concat$/i.test(name);
}

/** The expression that EXEC (…), sp_executesql or EXECUTE IMMEDIATE runs here: another server may speak another SQL. */
function executedText(statement: Execute): Expression | null {
  if (statement.clauses.some((clause) => clause.name === 'AT')) return null;
  if (statement.sql !== null) return statement.sql;
  const { procedure } = statement;
  if (procedure === null || procedure.kind !== 'name') return null;
  const last = procedure.parts[procedure.parts.length - 1];
  if (!/^sp_executesql$/i.test(last?.name ?? '')) return null;
  const [first] = statement.arguments;
  const named = statement.arguments.find((argument) => /^@(?:stmt|statement)$/i.test(argument.name?.name ?? ''));
  return (named ?? first)?.value ?? null;
}
