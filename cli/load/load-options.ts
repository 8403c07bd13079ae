import { InvalidArgumentError } from 'commander';
import type { TargetProfile } from '../../checks/profile/target-profile.ts';
import type { Mix } from '../../scenarios/lib/scenario.ts';

/** The options of `load` as the parser hands them over. */
export interface LoadOptions {
  readonly target?: string;
  readonly profile?: string;
  readonly header?: TargetProfile['headers'];
  readonly envFile?: string;
  readonly out: string;
  readonly rate?: number;
  readonly duration?: number;
  readonly slo?: string;
  readonly mix?: Mix;
  readonly validateEvery?: number;
  readonly shards: number;
  readonly productionHost?: string;
  readonly kubernetes?: true;
  readonly secret: string;
  readonly dryRun?: true;
  readonly list?: true;
}

const MIX_NAMES = { list: 'listPets', add: 'createPet', get: 'getPet' } as const;

/** The parts of a mix, such as list=80,add=5,get=15. */
export function parseMix(text: string): Mix {
  const mix = { listPets: 0, createPet: 0, getPet: 0 };
  const given = new Set<string>();
  for (const part of text.split(',')) {
    const { name, parts } = /^(?<name>list|add|get)=(?<parts>\d{1,4})$/.exec(part.trim())?.groups ?? {};
    if (name !== 'list' && name !== 'add' && name !== 'get') {
      throw new InvalidArgumentError('Write it like list=80,add=5,get=15.');
    }
    if (given.has(name)) throw new InvalidArgumentError(`It has ${name} twice.`);
    given.add(name);
    mix[MIX_NAMES[name]] = Number(parts);
  }
  if (mix.listPets + mix.createPet + mix.getPet === 0) throw new InvalidArgumentError('All parts are 0.');
  return mix;
}
