/** `+ - * / %` over numbers, with the server's types, rounding and overflow. */
import { conversion, overflow, rescaled } from './convert.ts';
import { BeyondEngine, SqlError } from './errors.ts';
import type { Bound } from './scope.ts';
import { asDecimal, commonType, decimal, integerBounds, isInteger, type SqlType } from './types.ts';

export function bindArithmetic(operator: string, left: Bound, right: Bound): Bound {
  const common = commonType([left.type, right.type]);
  const canon = `${operator}(${left.canon},${right.canon})`;
  if (isInteger(common)) {
    if (common.base === 'bit')
      throw new SqlError(402, `The data types bit and bit are incompatible in the ${operator} operator.`);
    return { type: common, canon, run: twoOf(left, right, common, common, integerOperation(operator, common)) };
  }
  if (common.base !== 'decimal') throw new BeyondEngine(`${operator} over ${common.base}`);
  const [a, b] = [asDecimal(left.type), asDecimal(right.type)];
  const type = decimalResult(operator, a, b);
  return { type, canon, run: twoOf(left, right, a, b, decimalOperation(operator, a, b, type)) };
}

function twoOf(
  left: Bound,
  right: Bound,
  leftType: SqlType,
  rightType: SqlType,
  operate: (a: bigint, b: bigint) => bigint,
): Bound['run'] {
  const [toLeft, toRight] = [conversion(left.type, leftType), conversion(right.type, rightType)];
  return (env) => {
    const [a, b] = [toLeft(left.run(env)), toRight(right.run(env))];
    return a === null || b === null ? null : operate(BigInt(String(a)), BigInt(String(b)));
  };
}

function integerOperation(operator: string, type: SqlType): (a: bigint, b: bigint) => bigint {
  const [low, high] = integerBounds[type.base] ?? [0n, 0n];
  const operate = plainOperation(operator);
  return (a, b) => {
    const result = operate(a, b);
    if (result < low || result > high) throw overflow(type);
    return result;
  };
}

/** Integer division cuts toward zero. */
function plainOperation(operator: string): (a: bigint, b: bigint) => bigint {
  switch (operator) {
    case '+':
      return (a, b) => a + b;
    case '-':
      return (a, b) => a - b;
    case '*':
      return (a, b) => a * b;
    case '/':
      return (a, b) => a / divisor(b);
    case '%':
      return (a, b) => a % divisor(b);
    default:
      throw new BeyondEngine(`operator ${operator}`);
  }
}

function divisor(value: bigint): bigint {
  if (value === 0n) throw new SqlError(8134, 'Divide by zero error encountered.');
  return value;
}

function decimalResult(operator: string, a: SqlType, b: SqlType): SqlType {
  const [p1, s1, p2, s2] = [a.precision, a.scale, b.precision, b.scale];
  switch (operator) {
    case '+':
    case '-': {
      const scale = Math.max(s1, s2);
      const whole = Math.max(p1 - s1, p2 - s2) + 1;
      return whole + scale <= 38 ? decimal(whole + scale, scale) : decimal(38, Math.max(0, 38 - Math.min(whole, 38)));
    }
    case '*':
      return fitted(p1 + p2 + 1, s1 + s2);
    case '/': {
      const scale = Math.max(6, s1 + p2 + 1);
      return fitted(p1 - s1 + s2 + scale, scale);
    }
    default:
      throw new BeyondEngine(`${operator} over decimals`);
  }
}

/** Beyond 38 digits decimal places go first, but not below six. */
function fitted(precision: number, scale: number): SqlType {
  return precision <= 38
    ? decimal(precision, scale)
    : decimal(38, Math.max(Math.min(scale, 6), 38 - (precision - scale)));
}

function decimalOperation(operator: string, a: SqlType, b: SqlType, type: SqlType): (a: bigint, b: bigint) => bigint {
  const limit = 10n ** BigInt(type.precision);
  const exact = (x: bigint, y: bigint): bigint => {
    const scale = Math.max(a.scale, b.scale);
    if (operator === '*') return rescaled(x * y, a.scale + b.scale, type.scale);
    // The server cuts quotients.
    if (operator === '/') return (x * 10n ** BigInt(type.scale + b.scale)) / (divisor(y) * 10n ** BigInt(a.scale));
    const [left, right] = [rescaled(x, a.scale, scale), rescaled(y, b.scale, scale)];
    return rescaled(operator === '+' ? left + right : left - right, scale, type.scale);
  };
  return (x, y) => {
    const result = exact(x, y);
    if (result >= limit || result <= -limit) throw overflow({ ...type, base: 'decimal' });
    return result;
  };
}
