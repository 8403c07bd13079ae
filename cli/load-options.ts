import { InvalidArgumentError } from 'commander';
import type { Mix } from '../scenarios/lib/scenario.ts';

/** The options of `load` as the parser hands them over. */
export interface LoadOptions {
  readonly target?: string;
  readonly profile?: string;
  readonly out: string;
  readonly rate?: number;
  readonly duration?: number;
  readonly slo?: string;
  readonly mix?: Mix;
  readonly validateEvery?: number;
  readonly shards: number;
  readonly productionHost?: string;
  readonly embeddedFault?: string;
  readonly embeddedClockSpeed?: number;
  readonly kubernetes?: true;
  readonly secret: string;
  readonly prometheusUrl?: string;
  readonly dryRun?: true;
  readonly list?: true;
}

/** The parser of an option that is a number above 0. */
export function positive(most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && value > 0 && value <= most) return value;
    throw new InvalidArgumentError(`It is to be a number above 0, at most ${most}.`);
  };
}

/** The parser of an option that is a whole number. */
export function wholeNumber(from: number, to: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It is to be a whole number from ${from} to ${to}.`);
  };
}

/** An http(s) address: the value of an option. */
export function httpAddress(text: string): string {
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isHttp) return text;
  throw new InvalidArgumentError('Write it like http://127.0.0.1:9090/api/v1/write.');
}

const MIX_NAMES = { list: 'listPets', add: 'createPet', get: 'getPet' } as const;

/** The parts of a mix, such as list=80,add=5,get=15. */
export function parseMix(text: string): Mix {
  const mix = { listPets: 0, createPet: 0, getPet: 0 };
  for (const part of text.split(',')) {
    const { name, parts } = /^(?<name>list|add|get)=(?<parts>\d{1,4})$/.exec(part.trim())?.groups ?? {};
    if (name !== 'list' && name !== 'add' && name !== 'get') {
      throw new InvalidArgumentError('Write it like list=80,add=5,get=15.');
    }
    mix[MIX_NAMES[name]] = Number(parts);
  }
  if (mix.listPets + mix.createPet + mix.getPet === 0) throw new InvalidArgumentError('All parts are 0.');
  return mix;
}
