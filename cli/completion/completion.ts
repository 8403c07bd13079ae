import { Argument, Command } from 'commander';
import { print } from '../shared/standard-output.ts';
import { SCRIPTS, SHELLS } from './scripts.ts';

const EXAMPLES = `
Where petstore-harness is a dependency, put it on the path first: PATH=$PWD/node_modules/.bin:$PATH

Examples:
  $ source <(petstore-harness completion bash)         in ~/.bashrc
  $ source <(petstore-harness completion zsh)          in ~/.zshrc, after compinit
  $ petstore-harness completion fish | source          in ~/.config/fish/config.fish`;

type Names = readonly string[];
const namesOf = (rows: readonly { readonly name: string }[]): Names => rows.map(({ name }) => name);

const permissions = async (): Promise<Names> =>
  (await import('../../checks/profile/permissions.ts')).PERMISSIONS;
const faults = async () =>
  namesOf((await import('../../reference-server/deviations/faults/index.ts')).FAULTS);
const contract = async () => await import('../../spec/contract.ts');

/** The values of options and arguments that the parser does not know. */
export const VALUES: Readonly<Record<string, () => Promise<Names>>> = {
  'check --permit': permissions,
  'check --only': async () => {
    const { requirements } = await contract();
    const { checksByPart, allChecks } = await import('../../checks/sections/all-checks.ts');
    const sections = requirements.map(({ section }) => section);
    return [...allChecks.map(({ id }) => id), ...Object.keys(checksByPart), ...new Set(sections)];
  },
  'check --require': async () => (await import('../check/check-options.ts')).REQUIRABLE,
  'serve --fault': faults,
  'serve --variant': async () =>
    namesOf((await import('../../reference-server/deviations/variants/index.ts')).VARIANTS),
  'load scenario': async () => (await import('../load/load.ts')).SCENARIO_NAMES,
  'load --embedded-fault': faults,
  'report --format': async () => (await import('../report/report.ts')).KNOWN_FORMATS,
  'explain id': async () => {
    const { gaps, requirements } = await contract();
    return [...requirements, ...gaps].map(({ id }) => id);
  },
};

/** What may replace the last word of a command line; nothing if it may be a file or any text. */
async function candidates(
  program: Command,
  load: (name: string) => Promise<Command> | undefined,
  [name = '', ...words]: Names,
): Promise<Names> {
  const typed = words.at(-1);
  if (typed === undefined)
    return [...namesOf(program.commands.map((one) => ({ name: one.name() }))), '--version', '--help'];
  const command = await load(name);
  if (command === undefined) return [];
  const option = command.options.find((one) => one.long === words.at(-2) && (one.required || one.optional));
  if (option !== undefined) {
    const known = option.argChoices ?? (await VALUES[`${name} ${option.long}`]?.()) ?? [];
    const [before = ''] = /<names>/.test(option.flags) ? (/^.*,/.exec(typed) ?? []) : [];
    const given = before.split(',');
    return known.flatMap((value) => (given.includes(value) ? [] : [before + value]));
  }
  if (typed.startsWith('-'))
    return [...command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])), '--help'];
  const [argument] = command.registeredArguments;
  const known = argument?.argChoices ?? (await VALUES[`${name} ${argument?.name()}`]?.()) ?? [];
  return known.some((value) => words.slice(0, -1).includes(value)) ? [] : known;
}

/**
 * `completion`: the script with which a shell completes commands, options and their values. With words, it prints what may
 * replace the last one. If it prints nothing, shells complete names of files.
 *
 * @param load loads a command by its name
 */
export const completionCommand = (load: (name: string) => Promise<Command> | undefined): Command =>
  new Command('completion')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .argument('[words...]', 'after --: a command line whose last word is to be completed')
    .addHelpText('after', EXAMPLES)
    .action(async (shell: keyof typeof SCRIPTS, words: Names, _options, command: Command) => {
      if (words.length === 0 || command.parent === null) return print(SCRIPTS[shell]);
      const found = await candidates(command.parent, load, words);
      return print(found.flatMap((one) => (one.startsWith(words.at(-1) ?? '') ? [`${one}\n`] : [])).join(''));
    });
