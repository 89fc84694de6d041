import type { PlatformName } from '../../../protocol/platform.ts';
import { parse } from './parse.ts';
import type { Script } from './tree.ts';

/** SQL that stands inside a string or cell of another file, with its positions mapped back. */
export interface EmbeddedScript {
  readonly text: string;
  /** The text parsed; done when it is first asked for. */
  readonly script: Script;
  /** False where parts come from variables or functions: a word stands for each of them, and nothing is a problem. */
  readonly complete: boolean;
  /** Offset in the host file of a character of `text`; its length is mapped to the end of the last piece. */
  readonly hostOffset: (offset: number) => number;
}

/** Stands in an embedded text for a part that only running the host would tell. */
const hole = 'unknown_part';

/** Gathers an embedded text piece by piece together with the place of each character in the host. */
export class EmbeddedText {
  complete = true;
  private readonly pieces: string[] = [];
  private readonly offsets: number[] = [];
  private end = 0;

  /** Adds characters that stand in the host as they are, from an offset on. */
  addPlain(text: string, hostStart: number): void {
    this.pieces.push(text);
    for (let index = 0; index < text.length; index += 1) this.offsets.push(hostStart + index);
    this.end = hostStart + text.length;
  }

  /** Adds one character that takes `width` characters in the host, such as a doubled quote. */
  addCharacter(character: string, hostStart: number, width: number): void {
    this.pieces.push(character);
    this.offsets.push(hostStart);
    this.end = hostStart + width;
  }

  /** Adds a part that is not known. */
  addHole(hostStart: number, hostEnd: number): void {
    this.complete = false;
    this.pieces.push(hole);
    for (let index = 0; index < hole.length; index += 1) this.offsets.push(hostStart);
    this.end = hostEnd;
  }

  append(other: EmbeddedText): void {
    for (const piece of other.pieces) this.pieces.push(piece);
    for (const offset of other.offsets) this.offsets.push(offset);
    if (other.offsets.length > 0) this.end = other.end;
    this.complete = this.complete && other.complete;
  }

  get isEmpty(): boolean {
    return this.offsets.length === 0;
  }

  finish(platform: PlatformName): EmbeddedScript {
    const { offsets, end, complete } = this;
    const text = this.pieces.join('');
    let script: Script | null = null;
    return {
      text,
      get script() {
        script ??= complete ? parse(text, { platform }) : withoutProblems(parse(text, { platform }));
        return script;
      },
      complete,
      hostOffset: (offset) => offsets[offset] ?? end,
    };
  }
}

function withoutProblems(script: Script): Script {
  const batches = script.batches.map((batch) => ({
    ...batch,
    units: batch.units.map((unit) => (unit.problems.length === 0 ? unit : { ...unit, problems: [] })),
  }));
  return { ...script, batches };
}
