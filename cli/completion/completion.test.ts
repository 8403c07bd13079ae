import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { REQUIRABLE } from '../check/check-options.ts';
import { COMMAND, run } from '../testing/command.ts';
import { SHELLS } from './scripts.ts';

/** Tells what a shell offers at the end of each of the lines that it is given. */
const ASKED: Readonly<Record<string, string>> = {
  bash: `source <(petstore-harness completion bash)
for line; do
  COMP_WORDS=(petstore-harness $line) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  $(complete -p petstore-harness | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
  if ((\${#COMPREPLY[@]})); then echo "\${COMPREPLY[@]}"; else compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"; fi
done
complete -p petstore-harness | grep -o -- '-o default'`,
  zsh: `autoload -Uz compinit && compinit -D
source <(petstore-harness completion zsh)
compadd() { shift; echo "$@" }
_files() { echo \${words[CURRENT]}* }
for line; do
  words=(petstore-harness \${=line}) CURRENT=\${#words}
  $_comps[petstore-harness]
done`,
  fish: `petstore-harness completion fish | source
for line in $argv
  complete -C "petstore-harness $line" | string join ' '
end
true`,
};

for (const shell of SHELLS) {
  const there = await promisify(execFile)(shell, ['--version']).then(
    () => true,
    () => false,
  );
  t.test(`${shell} completes`, { skip: there ? false : `there is no ${shell} here` }, async (t) => {
    const folder = t.testdir({ bin: {}, work: { 'staging.yaml': '' } });
    const program = join(folder, 'bin', 'petstore-harness');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
    chmodSync(program, 0o755);
    const { NODE_OPTIONS: _runner, ...usual } = process.env;
    const env = { ...usual, HOME: folder, PATH: `${join(folder, 'bin')}${delimiter}${usual['PATH']}` };
    const lines = [
      'exp',
      'check --re',
      'check --permit writes,',
      'serve --variant larg',
      'check --profile sta',
    ];
    const args = ['-c', ASKED[shell] ?? '', ...(shell === 'fish' ? [] : [shell]), ...lines];
    const { stdout } = await promisify(execFile)(shell, args, { cwd: join(folder, 'work'), env });
    const [command, option, oneMore, name, file, rest] = stdout.split('\n');
    t.equal(command, 'explain');
    t.same(option?.split(' ').toSorted(), ['--rejudge', '--require', '--resume']);
    t.same(oneMore?.split(' ').toSorted(), ['writes,ban', 'writes,day', 'writes,exhaust']);
    t.equal(name, 'largest-ids');
    t.equal(file, 'staging.yaml');
    t.equal(rest, shell === 'bash' ? '-o default' : '', 'bash looks for files by itself');
  });
}

t.test('every option and argument that takes a name', async (t) => {
  const offers = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await run(t.testdir({}), ['completion', 'bash', '--', ...words]);
    t.match({ code, stderr }, { code: 0, stderr: '' });
    return stdout.split('\n').slice(0, -1);
  };
  t.match(await offers(''), ['check', 'serve', 'load', 'report', 'compare', 'merge', 'init', 'explain']);
  t.same(await offers('check', '--require', ''), REQUIRABLE);
  t.same(await offers('check', '--only', 'get-a'), ['get-answers-200', 'get-animal']);
  t.same(await offers('check', '--format', ''), ['human', 'tap']);
  t.same(await offers('serve', '--fault', 'filter-ignored-at'), ['filter-ignored-at-limit-100']);
  t.same(await offers('load', '--embedded-fault', 'filter-ignored-at'), ['filter-ignored-at-limit-100']);
  t.same(await offers('load', 'sm'), ['smoke']);
  t.same(await offers('load', 'smoke', ''), [], 'one scenario is enough');
  t.same(await offers('report', 'x', '--format', 'html,a'), ['html,allure']);
  t.same(await offers('explain', 'limit-out'), ['limit-out-of-range']);
  t.same(await offers('completion', ''), SHELLS);
  t.same(await offers('no-such-command', ''), []);
  t.match(await run(t.testdir({}), ['completion', 'tcsh']), { code: 2, stderr: /Allowed choices are bash/ });
});
